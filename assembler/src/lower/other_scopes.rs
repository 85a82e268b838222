//! Searches for another declaration of an unknown name: in another procedure, or in a block that has ended.
//! The search works on trees, and only improves error messages.

use crate::source::Span;
use crate::tree::{self, Body, DeclarationNode, Directive, Statement};

use super::declare::Declared;

/// A declaration that isn't visible at the use of its name.
pub(super) struct OtherDeclaration {
    pub(super) span: Span,
    pub(super) what: String,
    pub(super) cure: String,
}

/// The kind of a declaration in a body or a head.
#[derive(Clone, Copy)]
enum DeclaredKind {
    Ancilla,
    Local,
    Counter,
    Parameter,
}

impl DeclaredKind {
    /// Returns the kind with an article, for messages.
    fn described(self) -> &'static str {
        match self {
            DeclaredKind::Ancilla => "an `.ancilla`",
            DeclaredKind::Local => "a `local`",
            DeclaredKind::Counter => "a counter",
            DeclaredKind::Parameter => "a parameter",
        }
    }
}

impl Declared<'_> {
    /// Returns a declaration of a name that is unknown in a procedure. `procedure` is `None` for the text of
    /// macros.
    pub(super) fn elsewhere(&self, name: &str, procedure: Option<u32>) -> Option<OtherDeclaration> {
        self.in_own_text(name, procedure)
            .or_else(|| self.in_main(name).filter(|_| procedure != Some(0)))
            .or_else(|| self.in_procedures(name, procedure))
            .or_else(|| self.in_macros(name))
            .or_else(|| self.as_another_thing(name))
    }

    fn in_own_text(&self, name: &str, procedure: Option<u32>) -> Option<OtherDeclaration> {
        let number = procedure? as usize;
        let body = match number.checked_sub(1) {
            None => self.main_body(),
            Some(n) => &self.bodies().nth(n)?.body,
        };
        let (kind, span) = declared_in(body, name)?;
        let (what, cure) = match kind {
            DeclaredKind::Counter => {
                ("the counter is declared here", "use the counter only inside its `for`")
            }
            DeclaredKind::Ancilla => ("declared here, further down", "declare it above its first use"),
            DeclaredKind::Local | DeclaredKind::Parameter => (
                "a `local` of that name is declared here",
                "use the local only between its `local` and its `delocal`",
            ),
        };
        Some(OtherDeclaration { span, what: what.into(), cure: cure.into() })
    }

    fn in_main(&self, name: &str) -> Option<OtherDeclaration> {
        let (kind, span) = declared_in(self.main_body(), name)?;
        let what = format!("main has {} of that name", kind.described());
        let cure = format!("declare `.var {name}` outside of procedures, or pass `{name}` to the procedure");
        Some(OtherDeclaration { span, what, cure })
    }

    fn in_procedures(&self, name: &str, own: Option<u32>) -> Option<OtherDeclaration> {
        let others = (1..).zip(self.bodies()).filter(|(number, _)| Some(*number) != own);
        others.map(|(_, tree)| tree).find_map(|tree| {
            let (kind, span) = of_procedure(tree, name)?;
            let what = format!("the procedure `{}` has {} of that name", tree.name.text, kind.described());
            let cure =
                "pass the value through a parameter: names of a procedure are visible only in that procedure";
            Some(OtherDeclaration { span, what, cure: cure.into() })
        })
    }

    fn in_macros(&self, name: &str) -> Option<OtherDeclaration> {
        self.macro_trees().iter().find_map(|tree| {
            let parameter = tree.parameters.iter().find(|parameter| parameter.text == name);
            let (kind, span) = match parameter {
                Some(parameter) => (DeclaredKind::Parameter, parameter.span),
                None => declared_in(&tree.body, name)?,
            };
            let what = format!("the macro `{}` has {} of that name", tree.name.text, kind.described());
            Some(OtherDeclaration {
                span,
                what,
                cure: "use the name only in that macro, or declare another variable".into(),
            })
        })
    }

    /// Returns the procedure or the macro with this name.
    fn as_another_thing(&self, name: &str) -> Option<OtherDeclaration> {
        let (what, place, cure) = if let Some(tree) = self.bodies().find(|tree| tree.name.text == name) {
            let cure = format!("write `call {name}(…)`; the procedure returns results in `inout` parameters");
            ("a procedure, not a cell", tree.name.span, cure)
        } else {
            let tree = self.macro_trees().iter().find(|tree| tree.name.text == name)?;
            ("a macro, not a cell", tree.name.span, format!("write it as a statement: `{name} …`"))
        };
        Some(OtherDeclaration { span: place, what: what.into(), cure })
    }
}

fn of_procedure(tree: &tree::ProcedureNode, name: &str) -> Option<(DeclaredKind, Span)> {
    let parameter = tree.parameters.iter().find(|parameter| parameter.name.text == name);
    match parameter {
        Some(parameter) => Some((DeclaredKind::Parameter, parameter.name.span)),
        None => declared_in(&tree.body, name),
    }
}

/// Returns the first declaration of a name in a body and its nested blocks.
fn declared_in(body: &Body, name: &str) -> Option<(DeclaredKind, Span)> {
    let named = |list: &[DeclarationNode]| list.iter().find(|d| d.name.text == name).map(|d| d.name.span);
    body.iter().find_map(|node| match &node.statement {
        Statement::Directive(Directive::Ancillas(list)) => {
            named(list).map(|span| (DeclaredKind::Ancilla, span))
        }
        Statement::Local(local) if local.name.text == name => Some((DeclaredKind::Local, local.name.span)),
        Statement::For(tree) if tree.counter.text == name => Some((DeclaredKind::Counter, tree.counter.span)),
        // Their bodies don't belong to the enclosing body.
        Statement::Procedure(_) | Statement::Macro(_) => None,
        statement => statement.bodies().into_iter().find_map(|body| declared_in(body, name)),
    })
}
