//! The traversal that replaces statements, with the names that are visible at each.

use reviver_isa::instruction::Class;

use crate::build;
use crate::scopes::{Bound, Names, parameters};
use crate::source::Span;
use crate::tree::{Body, Directive, Statement, StatementNode};

/// The replacement of statements and bodies.
pub(crate) trait Rewriter {
    /// Appends the statements that replace a statement, whose inner statements are rewritten already.
    fn statement(&mut self, names: &Names, node: StatementNode, made: &mut Body);

    /// Returns the body that replaces a body, whose statements are rewritten already.
    fn body(&mut self, _names: &Names, body: Body) -> Body {
        body
    }
}

impl<F: FnMut(&Names, StatementNode, &mut Body)> Rewriter for F {
    fn statement(&mut self, names: &Names, node: StatementNode, made: &mut Body) {
        self(names, node, made);
    }
}

/// Returns the rewritten body. If all statements below a comment are removed, up to the next comment or blank line, then
/// the comment is removed, too. Bodies of macros stay, because their names depend on the place of use. So do the bodies of
/// parallel loops, which must remain one call.
pub(crate) fn rewrite(names: &mut Names, body: Body, rewriter: &mut impl Rewriter) -> Body {
    let mut made = Paragraphs { lines: Body::with_capacity(body.len()), open: None };
    for mut node in body {
        if is_text(&node) {
            made.text(node);
            continue;
        }
        rewrite_inner(names, &mut node.statement, rewriter);
        let closed = match &node.statement {
            Statement::Delocal(local) => Some(local.name.text.clone()),
            _ => None,
        };
        rewriter.statement(names, node, made.statements());
        closed.iter().for_each(|name| names.unbind(name));
    }
    let made = made.finish();
    rewriter.body(names, made)
}

/// Returns a body without the statements at some indices, in ascending order, and without the comments above them.
pub(crate) fn without(body: Body, removed: &[usize]) -> Body {
    let mut made = Paragraphs { lines: Body::with_capacity(body.len()), open: None };
    for (n, node) in body.into_iter().enumerate() {
        if is_text(&node) {
            made.text(node);
        } else if removed.binary_search(&n).is_ok() {
            made.statements();
        } else {
            made.statements().push(node);
        }
    }
    made.finish()
}

/// Gives statements without a place the place of the statement that they replace.
pub(crate) fn at_place(made: &mut [StatementNode], place: Span) {
    for node in made {
        if node.span == Span::default() || node.span == build::NOWHERE {
            node.span = place;
        }
        if let Statement::Instruction(instruction) = &mut node.statement
            && instruction.mnemonic == Span::default()
        {
            instruction.mnemonic = place;
        }
        node.statement.bodies_mut().into_iter().for_each(|body| at_place(body, place));
    }
}

/// Returns true for a comment or a blank line.
fn is_text(node: &StatementNode) -> bool {
    matches!(node.statement, Statement::Empty) && node.label.is_none()
}

/// Rewrites the bodies of a statement, and declares the names that the statement declares.
fn rewrite_inner(names: &mut Names, statement: &mut Statement, rewriter: &mut impl Rewriter) {
    match statement {
        Statement::Directive(Directive::Ancillas(declarations)) => names.bind_ancillas(declarations),
        Statement::Local(local) => names.bind_local(local),
        Statement::For(tree) => {
            names.enter();
            names.bind(&tree.counter.text, Bound::cell(Class::Int, true));
            tree.body = rewrite(names, std::mem::take(&mut tree.body), rewriter);
            names.leave();
        }
        // The locals of the first body stay open up to the end of the block.
        Statement::Compute(tree) => {
            names.enter();
            tree.body = rewrite(names, std::mem::take(&mut tree.body), rewriter);
            tree.apply = rewrite(names, std::mem::take(&mut tree.apply), rewriter);
            names.leave();
        }
        Statement::Procedure(tree) => {
            let main = names.exchange(&tree.name.text, parameters(&tree.parameters));
            tree.body = rewrite(names, std::mem::take(&mut tree.body), rewriter);
            names.restore(main);
        }
        Statement::Macro(_) | Statement::Tasks(_) => {}
        other => {
            for inner in other.bodies_mut() {
                names.enter();
                *inner = rewrite(names, std::mem::take(inner), rewriter);
                names.leave();
            }
        }
    }
}

/// The lines of a body, in which comments precede the statements that they describe.
struct Paragraphs {
    lines: Body,
    open: Option<Paragraph>,
}

/// Comments, and the statements below them.
struct Paragraph {
    /// The index of the first comment.
    start: usize,
    /// The index after the last comment.
    end: usize,
    /// True if there were statements below the comments, before they were rewritten.
    has_statements: bool,
}

impl Paragraphs {
    /// Appends a comment or a blank line.
    fn text(&mut self, node: StatementNode) {
        let is_comment = node.comment.is_some();
        if !is_comment || self.open.as_ref().is_some_and(|open| open.has_statements) {
            self.close();
        }
        let start = self.open.take().map_or(self.lines.len(), |open| open.start);
        self.lines.push(node);
        self.open = is_comment.then_some(Paragraph { start, end: self.lines.len(), has_statements: false });
    }

    /// Returns the lines, to which the statements that replace a statement are appended.
    fn statements(&mut self) -> &mut Body {
        if let Some(open) = &mut self.open {
            open.has_statements = true;
        }
        &mut self.lines
    }

    /// Ends the paragraph. Removes its comments if all its statements were removed.
    fn close(&mut self) {
        if let Some(open) = self.open.take()
            && open.has_statements
            && open.end == self.lines.len()
        {
            self.lines.truncate(open.start);
        }
    }

    fn finish(mut self) -> Body {
        self.close();
        self.lines
    }
}
