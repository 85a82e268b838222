//! The formatter: a tree in its canonical layout. Labels begin in column 0 and statements in column 8; each
//! block indents by 4 columns. Comments, literals and blank lines are preserved.
//!
//! The formatter doesn't reorder or check anything. Formatting is idempotent, and the module stays the same
//! except for line numbers.

mod page;
pub(crate) mod text;
mod value;

use self::page::{Indent, LayoutPage};
use self::text::StatementText;
use crate::diagnostic::Diagnostic;
use crate::parser::parse;
use crate::source::{FileId, Sources, Span};
use crate::tree::{Body, Compute, Expression, For, If, Loop, Macro, ProcedureNode, Statement, StatementNode};

/// Returns the canonical text of a file, or its syntax errors.
pub fn format(sources: &Sources, file: FileId) -> Result<String, Vec<Diagnostic>> {
    match parse(sources, file) {
        (body, diagnostics) if diagnostics.is_empty() => Ok(print_with(sources, &body)),
        (_, diagnostics) => Err(diagnostics),
    }
}

/// Returns the canonical text of a tree without source text. The spans of the tree must be empty.
pub fn print(body: &Body) -> String {
    TreePrinter { sources: None, page: LayoutPage::default() }.finish(body)
}

/// Returns the canonical text of a tree that was made from these sources, possibly by inversion. Literals keep their
/// spelling, and comments in column 0 stay in column 0.
pub fn print_with(sources: &Sources, body: &Body) -> String {
    TreePrinter { sources: Some(sources), page: LayoutPage::default() }.finish(body)
}

/// Returns an expression as text. Literals are in base 10 because no source text is available.
pub(crate) fn spelled(expression: &Expression) -> String {
    let mut text = StatementText::new(None);
    text.expression(expression);
    text.finish()
}

struct TreePrinter<'s> {
    sources: Option<&'s Sources>,
    page: LayoutPage,
}

impl<'s> TreePrinter<'s> {
    fn finish(mut self, body: &Body) -> String {
        self.body(body, 0);
        self.page.finish()
    }

    fn body(&mut self, body: &[StatementNode], depth: usize) {
        let mut rest = body;
        while let Some((node, after)) = rest.split_first() {
            self.node(node, after, depth);
            rest = after;
        }
    }

    fn node(&mut self, node: &StatementNode, after: &[StatementNode], depth: usize) {
        let at = Indent::Depth(depth);
        match &node.statement {
            Statement::Empty => self.empty(node, after, depth),
            Statement::Directive(directive) => {
                self.first(node, Indent::Margin, |text| text.directive(directive));
            }
            Statement::Instruction(instruction) => self.first(node, at, |text| text.instruction(instruction)),
            Statement::MacroUse { name, arguments, undo } => {
                self.first(node, at, |text| text.macro_use(&name.text, arguments, *undo));
            }
            Statement::Local(local) => self.first(node, at, |text| text.local("local", local)),
            Statement::Delocal(local) => self.first(node, at, |text| text.local("delocal", local)),
            Statement::If(tree) => self.branching(node, tree, depth),
            Statement::Loop(tree) => self.repetition(node, tree, depth),
            Statement::For(tree) => self.counted(node, tree, depth),
            Statement::Compute(tree) => self.compute(node, tree, depth),
            Statement::Tasks(tree) => self.first(node, at, |text| text.tasks(tree)),
            Statement::CallVia(tree) => self.first(node, at, |text| text.call_via(tree)),
            Statement::Procedure(tree) => self.procedure(node, tree),
            Statement::Macro(tree) => self.macro_definition(node, tree),
        }
    }

    /// Writes a blank line, a comment, or a label without a statement.
    fn empty(&mut self, node: &StatementNode, after: &[StatementNode], depth: usize) {
        let comment = node.comment.as_deref();
        match (&node.label, comment) {
            (Some(label), _) => self.page.line(Some(&label.text), Indent::Margin, "", comment),
            (None, Some(comment)) => {
                let indent =
                    if self.is_at_margin(node.span) { Indent::Margin } else { indent_of(after, depth) };
                self.page.comment(indent, comment);
            }
            (None, None) => self.page.blank(),
        }
    }

    fn is_at_margin(&self, span: Span) -> bool {
        // A comment that a transformation made is in no file. It is indented like the statement below it.
        self.sources.is_some_and(|sources| sources.has(span.file) && sources.position(span).column == 1)
    }

    /// Writes the first line of a statement, with its label and comment.
    fn first(&mut self, node: &StatementNode, indent: Indent, write: impl FnOnce(&mut StatementText<'s>)) {
        let mut text = StatementText::new(self.sources);
        write(&mut text);
        self.page.line(label(node), indent, &text.finish(), node.comment.as_deref());
    }

    /// Writes a line in the middle or at the end of a block.
    fn further(&mut self, indent: Indent, comment: Option<&str>, write: impl FnOnce(&mut StatementText<'s>)) {
        let mut text = StatementText::new(self.sources);
        write(&mut text);
        self.page.line(None, indent, &text.finish(), comment);
    }

    fn word(&mut self, indent: Indent, word: &str, comment: Option<&str>) {
        self.page.line(None, indent, word, comment);
    }

    fn branching(&mut self, node: &StatementNode, tree: &If, depth: usize) {
        self.branches("if", node, tree, depth);
    }

    /// Writes an `if`. The `if` of an `else if` is written at the depth of the outer `if`, and has its own
    /// `fi`.
    fn branches(&mut self, word: &'static str, node: &StatementNode, tree: &If, depth: usize) {
        let at = Indent::Depth(depth);
        self.first(node, at, |text| text.guarded(word, &tree.entry));
        self.body(&tree.then, depth + 1);
        match (tree.chain(), &tree.otherwise) {
            (Some((node, inner, rest)), _) => {
                self.branches("else if", node, inner, depth);
                self.body(rest, depth);
            }
            (None, Some(otherwise)) => {
                self.word(at, "else", tree.else_comment.as_deref());
                self.body(otherwise, depth + 1);
            }
            (None, None) => {}
        }
        self.further(at, tree.end_comment.as_deref(), |text| text.guarded("fi", &tree.exit));
    }

    fn repetition(&mut self, node: &StatementNode, tree: &Loop, depth: usize) {
        let at = Indent::Depth(depth);
        self.first(node, at, |text| text.guarded("from", &tree.entry));
        self.body(&tree.first, depth + 1);
        if let Some(again) = &tree.again {
            self.word(at, "loop", tree.loop_comment.as_deref());
            self.body(again, depth + 1);
        }
        self.further(at, tree.end_comment.as_deref(), |text| text.guarded("until", &tree.exit));
    }

    fn counted(&mut self, node: &StatementNode, tree: &For, depth: usize) {
        let at = Indent::Depth(depth);
        self.first(node, at, |text| text.for_head(tree));
        self.body(&tree.body, depth + 1);
        self.word(at, "rof", tree.end_comment.as_deref());
    }

    fn compute(&mut self, node: &StatementNode, tree: &Compute, depth: usize) {
        let at = Indent::Depth(depth);
        self.page.line(label(node), at, "compute", node.comment.as_deref());
        self.body(&tree.body, depth + 1);
        self.word(at, "apply", tree.apply_comment.as_deref());
        self.body(&tree.apply, depth + 1);
        self.word(at, "uncompute", tree.end_comment.as_deref());
    }

    fn procedure(&mut self, node: &StatementNode, tree: &ProcedureNode) {
        self.first(node, Indent::Margin, |text| text.procedure_head(tree));
        self.body(&tree.body, 0);
        self.word(Indent::Margin, ".end", tree.end_comment.as_deref());
    }

    fn macro_definition(&mut self, node: &StatementNode, tree: &Macro) {
        self.first(node, Indent::Margin, |text| text.macro_head(&tree.name.text, &tree.parameters));
        self.body(&tree.body, 0);
        self.word(Indent::Margin, ".endm", tree.end_comment.as_deref());
    }
}

fn label(node: &StatementNode) -> Option<&str> {
    node.label.as_ref().map(|label| label.text.as_str())
}

/// Returns the indentation of the next statement, for a comment before it.
fn indent_of(after: &[StatementNode], depth: usize) -> Indent {
    let next = after.iter().find(|node| !matches!(node.statement, Statement::Empty));
    match next.map(|node| &node.statement) {
        Some(Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_)) => Indent::Margin,
        _ => Indent::Depth(depth),
    }
}
