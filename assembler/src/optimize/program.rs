//! The program that the passes rewrite.

use std::collections::HashSet;

use compact_str::CompactString;
use reviver_isa::update::Action;

use crate::definitions::ProgramNames;
use crate::fresh::FreshNames;
use crate::include::Loaded;
use crate::invert::program::{is_mark, is_record};
use crate::scopes::Names;
use crate::source::FileId;
use crate::tree::{Body, Expression, ExpressionKind, Statement};
use crate::visit;

use crate::rewrite::{Rewriter, rewrite};

/// A program during optimization.
pub(super) struct ProgramInPasses {
    /// The statements of the program's own file, and of included files that contain more than definitions.
    body: Body,
    /// The trees of the other files. They aren't changed.
    included: Vec<Body>,
    /// Names that the program doesn't use.
    pub fresh: FreshNames,
}

impl ProgramInPasses {
    /// Takes the trees of a loaded program. The includes of the files in `stay` are preserved.
    pub fn new(loaded: &mut Loaded, stay: &HashSet<FileId>) -> ProgramInPasses {
        let texts = loaded.sources.files().map(|file| loaded.sources.file_text(file));
        let fresh = FreshNames::of(texts, "_bar");
        let mut body = loaded.splice(stay);
        // The records of a disassembly refer to instructions by their numbers.
        body.retain(|node| !is_record(node));
        for node in &mut body {
            node.statement.bodies_mut().into_iter().for_each(|body| body.retain(|node| !is_record(node)));
        }
        let included = loaded.trees().filter(|(file, _)| stay.contains(file)).map(|(_, tree)| tree.clone());
        ProgramInPasses { body, included: included.collect(), fresh }
    }

    pub fn into_body(self) -> Body {
        self.body
    }

    /// Returns true if the program is marked as the inverse of another one.
    pub fn is_inverse(&self) -> bool {
        self.body.iter().any(is_mark)
    }

    pub fn body(&self) -> &Body {
        &self.body
    }

    pub fn included(&self) -> &[Body] {
        &self.included
    }

    /// Returns the declarations and definitions of all files.
    pub fn definitions(&self) -> ProgramNames {
        ProgramNames::of(std::iter::once(&self.body).chain(&self.included))
    }

    /// Visits the statements of all files that are executed, each with the names that are visible at it.
    pub fn visit<'t>(&'t self, names: &Names, each: &mut impl FnMut(&Names, &'t Statement)) {
        for body in std::iter::once(&self.body).chain(&self.included) {
            names.clone().visit(body, each);
        }
    }

    /// Rewrites the program's own statements. `names` are those of main.
    pub fn rewrite(&mut self, names: &Names, rewriter: &mut impl Rewriter) {
        let body = std::mem::take(&mut self.body);
        self.body = rewrite(&mut names.clone(), body, rewriter);
    }

    /// Returns the reason for which the program can't be optimized, if there is one.
    pub fn obstacle(&self) -> Option<&'static str> {
        if self.switches_mode() {
            return Some("it switches gradient mode itself");
        }
        self.has_labels().then_some("it has labels")
    }

    /// Returns true if a statement has a label. Jumps order the statements in other ways than the text does.
    fn has_labels(&self) -> bool {
        let mut found = self.body.iter().any(|node| node.label.is_some());
        visit::statements(&self.body, &mut |statement| {
            found |= statement.bodies().iter().any(|body| body.iter().any(|node| node.label.is_some()));
        });
        found
    }

    /// Returns true if a statement switches gradient mode, or reads it.
    fn switches_mode(&self) -> bool {
        let mut found = false;
        for body in std::iter::once(&self.body).chain(&self.included) {
            visit::statements(body, &mut |statement| {
                if let Statement::Instruction(instruction) = statement {
                    found |= matches!(instruction.update.action(), Action::Switch(_));
                }
                visit::expressions(statement, &mut |expression| found |= is_mode(expression));
            });
        }
        found
    }
}

fn is_mode(expression: &Expression) -> bool {
    matches!(&expression.kind, ExpressionKind::Name { name, adjoint: false } if name.as_str() == "mode")
}

/// Returns the name of a cell or an array.
pub(super) fn cell_name(expression: &Expression) -> Option<&CompactString> {
    match &expression.kind {
        ExpressionKind::Name { name, .. } => Some(name),
        ExpressionKind::Element(element) => Some(&element.name),
        ExpressionKind::Length(length) => Some(&length.name),
        _ => None,
    }
}
