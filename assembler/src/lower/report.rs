//! Collects what is wrong while lowering: names the macro uses that led there, says everything
//! once, and stays small however broken the text is. Knows no instruction.

use std::collections::HashSet;

use compact_str::CompactString;

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest::{did_you_mean, nearest};

/// Diagnostics beyond this many are only counted.
const MOST: usize = 500;
/// Names for which a likely spelling is searched: each search visits every visible name.
const SEARCHES: u32 = 20;
/// Macro uses named with one diagnostic, innermost first.
const USES_NAMED: usize = 8;

/// The diagnostics of a run so far, and the macro uses that are open.
#[derive(Default)]
pub(super) struct Report {
    diagnostics: Vec<Diagnostic>,
    /// Copies of one body (of a macro, or backward) repeat its errors.
    seen: HashSet<(Span, String)>,
    uses: Vec<(CompactString, Span)>,
    searches: u32,
    left_out: usize,
}

impl Report {
    /// Records a diagnostic.
    pub(super) fn add(&mut self, mut diagnostic: Diagnostic) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        if !self.seen.insert((diagnostic.primary.span, diagnostic.message.clone())) {
            return;
        }
        for (name, span) in self.uses.iter().rev().take(USES_NAMED) {
            diagnostic = diagnostic.with(*span, format!("in this use of `{name}`"));
        }
        self.diagnostics.push(diagnostic);
    }

    /// Records a diagnostic on the way to giving up on a statement.
    pub(super) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.add(diagnostic);
        None
    }

    /// Whether more diagnostics are only counted: it is not worth while to make them good.
    pub(super) fn is_full(&self) -> bool {
        self.diagnostics.len() >= MOST
    }

    /// Number of diagnostics so far, those left out included.
    pub(super) fn count(&self) -> usize {
        self.diagnostics.len() + self.left_out
    }

    pub(super) fn enter_use(&mut self, name: CompactString, span: Span) {
        self.uses.push((name, span));
    }

    pub(super) fn leave_use(&mut self) {
        self.uses.pop();
    }

    /// `did you mean …`, where a candidate is near enough to be meant.
    pub(super) fn suggest<'n>(
        &mut self,
        name: &str,
        candidates: impl Iterator<Item = &'n str>,
    ) -> Option<String> {
        if self.searches >= SEARCHES {
            return None;
        }
        self.searches += 1;
        nearest(name, candidates).map(did_you_mean)
    }

    /// Everything recorded, with a last word on what was left out.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        if self.left_out > 0
            && let Some(last) = self.diagnostics.last()
        {
            let text = format!("{} more problems are not listed", self.left_out);
            let place = last.primary.span;
            self.diagnostics.push(Diagnostic::error(text, place, "the last one listed"));
        }
        self.diagnostics
    }
}
