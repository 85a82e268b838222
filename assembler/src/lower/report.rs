//! Collects what is wrong while lowering: names the macro uses that led there, says everything
//! once, and stays small however broken the text is. Knows no instruction.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;

use crate::diagnostic::{Collection, Diagnostic};
use crate::source::Span;
use crate::suggest::{did_you_mean, nearest};
use crate::tree::Name;

/// Diagnostics beyond this many are only counted.
const MOST: usize = 500;
/// Searches for what an unknown name may mean: each visits every visible name, or the whole text.
const SEARCHES: u32 = 40;
/// Macro uses named with one diagnostic, innermost first.
const USES_NAMED: usize = 8;

/// The diagnostics of a run so far, and the macro uses that are open.
pub(super) struct Reporter {
    diagnostics: Collection,
    /// Copies of one body (of a macro, or backward) repeat its errors.
    seen: HashSet<(Span, String)>,
    uses: Vec<(CompactString, Span)>,
    searches: u32,
    /// Names that nothing is known by: the number of the diagnostic that says so, and the places.
    unknown: HashMap<(Unknown, CompactString), (usize, HashSet<Span>)>,
}

/// What a name that is unknown was used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unknown {
    /// A cell or a constant, in the procedure with this number; none in the text of macros.
    Cell(Option<u32>),
    /// A constant where only constants are visible.
    Constant,
    Procedure,
    Instruction,
}

impl Reporter {
    pub(super) fn new() -> Reporter {
        Reporter {
            diagnostics: Collection::up_to(MOST),
            seen: HashSet::new(),
            uses: Vec::new(),
            searches: 0,
            unknown: HashMap::new(),
        }
    }

    /// Records a diagnostic.
    pub(super) fn add(&mut self, mut diagnostic: Diagnostic) {
        if self.is_full() {
            self.diagnostics.add(diagnostic);
            return;
        }
        if !self.seen.insert((diagnostic.primary.span, diagnostic.message.clone())) {
            return;
        }
        for (name, span) in self.uses.iter().rev().take(USES_NAMED) {
            diagnostic = diagnostic.with(*span, format!("in this use of `{name}`"));
        }
        self.diagnostics.add(diagnostic);
    }

    /// Reports an unknown name at its first use. One name is one error, however often it is used.
    pub(super) fn unknown<T>(
        &mut self,
        what: Unknown,
        name: &Name,
        diagnostic: impl FnOnce(&mut Reporter) -> Diagnostic,
    ) -> Option<T> {
        let key = (what, name.text.clone());
        if let Some((_, places)) = self.unknown.get_mut(&key) {
            places.insert(name.span);
            return None;
        }
        let diagnostic = diagnostic(self);
        self.unknown.insert(key, (self.diagnostics.count(), HashSet::from([name.span])));
        self.fail(diagnostic)
    }

    /// Records a diagnostic on the way to giving up on a statement.
    pub(super) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.add(diagnostic);
        None
    }

    /// Whether more diagnostics are only counted: it is not worth while to make them good.
    pub(super) fn is_full(&self) -> bool {
        self.diagnostics.is_full()
    }

    /// Number of diagnostics so far, those left out included.
    pub(super) fn count(&self) -> usize {
        self.diagnostics.count()
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
        if !self.may_search() {
            return None;
        }
        nearest(name, candidates).map(did_you_mean)
    }

    /// Whether one more search for what a name may mean is worth its time.
    pub(super) fn may_search(&mut self) -> bool {
        self.searches += 1;
        self.searches <= SEARCHES
    }

    /// Everything recorded.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        for (number, places) in self.unknown.into_values().filter(|(_, places)| places.len() > 1) {
            if let Some(diagnostic) = self.diagnostics.get_mut(number) {
                let others = places.len() - 1;
                let times = if others == 1 { "time" } else { "times" };
                diagnostic.primary.text += &format!(", used {others} more {times}");
            }
        }
        self.diagnostics.finish()
    }
}
