//! The correspondence between the lines of a program and those of its inverse. The inverse tree still has the
//! spans of the original text. The text of the inverse is parsed into a second tree of the same shape, which
//! has the new lines.

use std::collections::BTreeMap;

use crate::parser::parse;
use crate::source::{SourceLine, Sources, Span};
use crate::tree::{Body, Directive, Statement, StatementNode};

/// Returns, for each line of the program, the line of the inverse text that undoes it. `inverse` is the tree
/// that was printed as `text`.
pub(super) fn counterparts(sources: &Sources, inverse: &Body, text: &str) -> BTreeMap<SourceLine, u32> {
    let mut printed = Sources::new();
    let file = printed.add("", text);
    let (tree, _) = parse(&printed, file);
    let mut walk = LinePairing { sources, printed: &printed, lines: BTreeMap::new() };
    walk.bodies(inverse, &tree, true);
    walk.lines
}

struct LinePairing<'s> {
    sources: &'s Sources,
    printed: &'s Sources,
    lines: BTreeMap<SourceLine, u32>,
}

impl LinePairing<'_> {
    /// Pairs the lines of two bodies. `turned` is true if the body is inverted. The bodies of procedures and
    /// the first bodies of `compute` blocks aren't inverted.
    fn bodies(&mut self, inverse: &[StatementNode], printed: &[StatementNode], turned: bool) {
        // The line with `.inverse` exists in only one of the two texts, so it is skipped.
        let is_mark =
            |node: &StatementNode| matches!(node.statement, Statement::Directive(Directive::Inverse));
        let says = |node: &&StatementNode| !matches!(node.statement, Statement::Empty) && !is_mark(node);
        let nodes = inverse.iter().filter(says).zip(printed.iter().filter(says));
        nodes.for_each(|(inverse, printed)| self.node(inverse, printed, turned));
    }

    fn node(&mut self, inverse: &StatementNode, printed: &StatementNode, turned: bool) {
        match (&inverse.statement, &printed.statement) {
            (Statement::If(a), Statement::If(b)) => {
                self.line(a.entry.span, b.entry.span);
                if a.otherwise.is_some() {
                    self.line(a.middle, b.middle);
                }
                self.line(a.exit.span, b.exit.span);
            }
            (Statement::Loop(a), Statement::Loop(b)) => {
                self.line(a.entry.span, b.entry.span);
                if a.again.is_some() {
                    self.line(a.middle, b.middle);
                }
                self.line(a.exit.span, b.exit.span);
            }
            // The head of a `for` is the first line in both texts. But the end of the inverse loop undoes the beginning
            // of the original loop, so the last line of each text corresponds to the head of the other.
            (Statement::For(a), Statement::For(b)) if turned => {
                self.line(a.counter.span, b.end);
                self.line(a.end, b.counter.span);
            }
            (Statement::For(a), Statement::For(b)) => {
                self.line(a.counter.span, b.counter.span);
                self.line(a.end, b.end);
            }
            _ => self.line(inverse.span, printed.span),
        }
        let is_definition = matches!(inverse.statement, Statement::Procedure(_) | Statement::Macro(_));
        let is_compute = matches!(inverse.statement, Statement::Compute(_));
        let bodies = inverse.statement.bodies().into_iter().zip(printed.statement.bodies());
        for (n, (inverse, printed)) in bodies.enumerate() {
            let stays = is_definition || is_compute && n == 0;
            self.bodies(inverse, printed, turned && !stays);
        }
    }

    fn line(&mut self, own: Span, printed: Span) {
        let line = SourceLine { file: own.file, line: self.sources.line(own.file, own.start) as u32 };
        let counterpart = self.printed.line(printed.file, printed.start) as u32;
        self.lines.insert(line, counterpart);
    }
}
