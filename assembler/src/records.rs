//! Records: groups of cells with one name. A declaration of a record declares a cell or an array for each field, so an
//! array of records is a structure of arrays.
//!
//! ```text
//! .record Particle: x: real, v: real
//! .inout p[10]: Particle         →    .inout p.x[10]: real, p.v[10]: real
//! add  p[i].x, p[i].v            →    the elements i of p.x and p.v
//! call move(p[i])                →    call move(p[i].x, p[i].v)
//! swap p[i], p[j]                →    a swap for each field
//! ```
//!
//! Records are replaced when a program is loaded, so later parts know only cells. A name such as `p.x` is a cell's name.

mod classes;
mod complex;
mod declarations;
mod fields;
mod kinds;
mod logarithmic;
mod numbers;
mod operands;
mod separation;
mod tropical;
mod values;

use std::collections::HashMap;
use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;
use reviver_isa::module::Rank;

use self::classes::NumberClass;
use crate::arrays::append;
use crate::diagnostic::Diagnostic;
use crate::suggest::{did_you_mean, nearest};
use crate::tree::{
    Body, DeclarationNode, Directive, FieldNode, For, Name, ProcedureNode, Statement, StatementNode, TaskKind,
};
use crate::visit;

/// Replaces the records in the trees of a program. Returns the indices of the trees that had records, and the errors.
pub(crate) fn expand(trees: &mut [Body]) -> (Vec<usize>, Vec<Diagnostic>) {
    let with_records = |(n, body): (usize, &Body)| has_record(body).then_some(n);
    let changed: Vec<usize> = trees.iter().enumerate().filter_map(with_records).collect();
    if changed.is_empty() {
        return (changed, Vec::new());
    }
    let mut records = Records::of(trees);
    for body in trees {
        *body = records.program(std::mem::take(body));
    }
    (changed, records.diagnostics)
}

/// Returns true if a body declares a record, or cells with a record as their class.
fn has_record(body: &Body) -> bool {
    let mut found = false;
    visit::statements(body, &mut |statement| {
        found |= match statement {
            Statement::Directive(Directive::Record { .. }) => true,
            Statement::Directive(
                Directive::Globals { declarations, .. } | Directive::Ancillas(declarations),
            ) => declarations.iter().any(|it| it.record.is_some()),
            Statement::Procedure(tree) => tree.parameters.iter().any(|it| it.record.is_some()),
            Statement::Local(local) | Statement::Delocal(local) => local.record.is_some(),
            _ => false,
        };
    });
    found
}

/// The state of the replacement.
struct Records {
    /// The fields of each record.
    fields: HashMap<CompactString, Rc<[FieldNode]>>,
    /// The record of each parameter of each procedure; `None` for a cell or an array.
    parameters: HashMap<CompactString, Rc<[Option<CompactString>]>>,
    globals: Visible,
    /// The names that are visible at the current statement, with their records.
    visible: Visible,
    diagnostics: Vec<Diagnostic>,
}

/// Visible names, innermost last.
type Visible = Vec<VisibleName>;

/// A visible name of cells.
#[derive(Clone)]
struct VisibleName {
    name: CompactString,
    /// The record; a name without a record hides an outer one.
    record: Option<CompactString>,
    is_array: bool,
}

impl Records {
    /// Reads the definitions of all files.
    fn of(trees: &[Body]) -> Records {
        let mut records = Records {
            fields: NumberClass::ALL.map(|class| (class.name().into(), class.fields())).into(),
            parameters: HashMap::new(),
            globals: Visible::new(),
            visible: Visible::new(),
            diagnostics: Vec::new(),
        };
        let mut first: HashMap<CompactString, Name> = HashMap::new();
        for node in trees.iter().flatten() {
            match &node.statement {
                Statement::Directive(Directive::Record { name, fields }) => {
                    if let Some(first) = first.get(&name.text) {
                        records.report_twice("record", name, first);
                    }
                    if NumberClass::of(&name.text).is_some() {
                        records.refuse_class_name(name);
                        continue;
                    }
                    records.check_fields(fields);
                    first.insert(name.text.clone(), (**name).clone());
                    records.fields.insert(name.text.clone(), (**fields).into());
                }
                Statement::Directive(Directive::Globals { declarations, .. }) => {
                    records.globals.extend(declarations.iter().map(named));
                }
                Statement::Procedure(tree) => {
                    let own = tree.parameters.iter().map(|it| text_of(it.record.as_deref()));
                    records.parameters.insert(tree.name.text.clone(), own.collect());
                }
                _ => {}
            }
        }
        records
    }

    fn check_fields(&mut self, fields: &[FieldNode]) {
        let mut known: HashMap<&CompactString, &Name> = HashMap::new();
        for field in fields {
            if let Some(first) = known.insert(&field.name.text, &field.name) {
                self.report_twice("field", &field.name, first);
            }
        }
    }

    fn refuse_class_name(&mut self, name: &Name) {
        let message = format!("`{}` is a class of the language", name.text);
        let problem = Diagnostic::error(ProblemCode::ReservedName, message, name.span, "can't be a record");
        self.diagnostics.push(problem.help("choose another name"));
    }

    fn report_twice(&mut self, what: &str, name: &Name, first: &Name) {
        let message = format!("the {what} `{}` is declared twice", name.text);
        let problem = Diagnostic::error(ProblemCode::DeclaredTwice, message, name.span, "declared again");
        self.diagnostics.push(problem.with(first.span, "first declared here"));
    }

    /// Returns the fields of a record. Reports a name that no record has.
    fn fields_of(&mut self, record: &Name) -> Option<Rc<[FieldNode]>> {
        if let Some(fields) = self.fields.get(&record.text) {
            return Some(fields.clone());
        }
        let message = format!("there is no class or record `{}`", record.text);
        let known = self.fields.keys().map(CompactString::as_str).chain(["int", "real"]);
        let meant = nearest(&record.text, known).map(did_you_mean);
        let help = meant.unwrap_or_else(|| {
            "the classes are `int`, `real`, `complex`, `log` and `tropical`; declare a record by `.record NAME: field, …`"
                .to_owned()
        });
        let problem = Diagnostic::error(ProblemCode::UnknownName, message, record.span, "not declared");
        self.diagnostics.push(problem.help(help));
        None
    }

    /// Returns true if a name denotes a cell here.
    fn is_visible(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&VisibleName> {
        self.visible.iter().rev().find(|other| other.name == name)
    }

    /// Returns the record of a visible name.
    fn record(&self, name: &str) -> Option<&CompactString> {
        self.find(name).and_then(|found| found.record.as_ref())
    }

    fn program(&mut self, body: Body) -> Body {
        self.visible = self.globals.clone();
        self.body(body)
    }

    fn body(&mut self, body: Body) -> Body {
        let mut made = Body::with_capacity(body.len());
        for node in body {
            self.statement(node, &mut made);
        }
        made
    }

    /// Replaces a body whose variables are closed at its end.
    fn block(&mut self, body: &mut Body) {
        let open = self.visible.len();
        *body = self.body(std::mem::take(body));
        self.visible.truncate(open);
    }

    fn statement(&mut self, mut node: StatementNode, made: &mut Body) {
        match &mut node.statement {
            Statement::Directive(Directive::Record { .. }) => {
                node.statement = Statement::Empty;
                if node.comment.is_some() {
                    made.push(node);
                }
                return;
            }
            Statement::Directive(
                Directive::Globals { declarations, .. } | Directive::Ancillas(declarations),
            ) => {
                self.visible.extend(declarations.iter().map(named));
                *declarations = self.declarations(std::mem::take(declarations));
            }
            Statement::Procedure(tree) => self.procedure(tree),
            Statement::Local(_) | Statement::Delocal(_) => return self.variable(node, made),
            Statement::Compute(tree) => {
                let open = self.visible.len();
                tree.body = self.body(std::mem::take(&mut tree.body));
                tree.apply = self.body(std::mem::take(&mut tree.apply));
                self.visible.truncate(open);
            }
            Statement::For(tree) => self.iterations(tree),
            Statement::Tasks(tree) => match &mut tree.kind {
                TaskKind::Rounds(rounds) => self.iterations(rounds),
                TaskKind::Calls(calls) => calls.iter_mut().for_each(|call| self.call(call)),
            },
            Statement::Instruction(instruction) => {
                if let Some(body) = self.numbers(instruction, node.span) {
                    return append(node, body, made);
                }
                if let Some(swaps) = self.swapped(instruction) {
                    return made.extend(with_first(node, swaps));
                }
                self.called(instruction);
            }
            // The names in a macro depend on the place of its use.
            Statement::Macro(_) => return made.push(node),
            other => other.bodies_mut().into_iter().for_each(|body| self.block(body)),
        }
        self.replace_functions(&mut node.statement);
        self.check(&mut node.statement);
        made.push(node);
    }

    fn iterations(&mut self, tree: &mut For) {
        let open = self.visible.len();
        let name = tree.counter.text.clone();
        self.visible.push(VisibleName { name, record: None, is_array: false });
        self.block(&mut tree.body);
        self.visible.truncate(open);
    }

    fn procedure(&mut self, tree: &mut ProcedureNode) {
        let outer = std::mem::replace(&mut self.visible, self.globals.clone());
        let own = tree.parameters.iter().map(|it| VisibleName {
            name: it.name.text.clone(),
            record: text_of(it.record.as_deref()),
            is_array: it.rank != Rank::Scalar,
        });
        self.visible.extend(own);
        tree.parameters = self.parameters(std::mem::take(&mut tree.parameters));
        tree.body = self.body(std::mem::take(&mut tree.body));
        self.visible = outer;
    }
}

fn text_of(record: Option<&Name>) -> Option<CompactString> {
    record.map(|record| record.text.clone())
}

fn named(declaration: &DeclarationNode) -> VisibleName {
    VisibleName {
        name: declaration.name.text.clone(),
        record: text_of(declaration.record.as_deref()),
        is_array: !declaration.shape.lengths().is_empty(),
    }
}

/// Returns statements in the place of a node: the first has its label and its comment.
fn with_first(node: StatementNode, statements: Vec<Statement>) -> Body {
    let StatementNode { mut label, mut comment, span, .. } = node;
    let placed = |statement| StatementNode { label: label.take(), statement, comment: comment.take(), span };
    statements.into_iter().map(placed).collect()
}
