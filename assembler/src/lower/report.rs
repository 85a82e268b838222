//! Collects the diagnostics of lowering. Each diagnostic names the macro uses around its place and occurs
//! only once, and the number of diagnostics is limited.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;

use crate::diagnostic::{Collection, Diagnostic};
use crate::source::Span;
use crate::suggest::{did_you_mean, nearest};
use crate::tree::Name;

/// The maximum number of diagnostics listed; further ones are only counted.
const MOST: usize = 500;
/// The maximum number of searches for suggestions. A search visits every visible name, or the whole text.
const SEARCHES: u32 = 40;
/// The maximum number of macro uses that one diagnostic names. The innermost ones are named first.
const USES_NAMED: usize = 8;

/// The diagnostics so far, and the open macro uses.
pub(super) struct Reporter {
    diagnostics: Collection,
    /// The place and message of each diagnostic so far. A copy of a body (in a macro or `uncompute`) has the
    /// same errors as the body, which aren't added again.
    seen: HashSet<(Span, String)>,
    uses: Vec<(CompactString, Span)>,
    searches: u32,
    /// The unknown names, each with the index of its diagnostic and the places at which it is used.
    unknown: HashMap<(Unknown, CompactString), (usize, HashSet<Span>)>,
}

/// The kind of use of an unknown name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unknown {
    /// A cell or a constant in the procedure with this number; `None` if it is used in a macro.
    Cell(Option<u32>),
    /// A constant at a place where only constants are visible.
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

    /// Records a diagnostic unless it is a duplicate.
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

    /// Reports an unknown name at its first use. Later uses are only counted. Returns `None`.
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

    /// Records a diagnostic, and returns `None` as the result for an invalid statement.
    pub(super) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.add(diagnostic);
        None
    }

    /// Returns true at the limit: later diagnostics are counted, not built.
    pub(super) fn is_full(&self) -> bool {
        self.diagnostics.is_full()
    }

    /// Returns the number of diagnostics, including those that were only counted.
    pub(super) fn count(&self) -> usize {
        self.diagnostics.count()
    }

    pub(super) fn enter_use(&mut self, name: CompactString, span: Span) {
        self.uses.push((name, span));
    }

    pub(super) fn leave_use(&mut self) {
        self.uses.pop();
    }

    /// Returns the suggestion "did you mean" with the candidate nearest to the name, if one is near enough.
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

    /// Returns true if another search for suggestions is allowed, and counts it.
    pub(super) fn may_search(&mut self) -> bool {
        self.searches += 1;
        self.searches <= SEARCHES
    }

    /// Returns all diagnostics. A diagnostic about an unknown name says how often the name is used again.
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
