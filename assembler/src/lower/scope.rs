//! The visible names and the things that they denote. This module emits no code.

use std::collections::HashMap;

use compact_str::CompactString;
use reviver_isa::instruction::{Base, Place, Slice};

use super::applied::AppliedFunction;
use super::constant::Number;
use crate::source::Span;

/// The thing that a name or an expression denotes.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Constant(Number),
    /// The gradient mode bit.
    Mode,
    /// A scalar, or an array as a whole.
    Variable {
        base: Base,
        adjoint: bool,
    },
    Element(Place),
    /// An integer scalar plus a constant offset. An index contains both; for any other operand, the sum is
    /// computed at run time. If `wraps` is true, every constant in the sum fits into a word, and the sum wraps
    /// like an addition of the machine.
    Sum {
        base: Base,
        offset: i128,
        wraps: bool,
    },
    Slice(Slice),
    /// An expression that is computed from cells at run time.
    Computed(Box<AppliedFunction>),
    /// Something invalid that has been reported. The uses of the name are invalid, too, but aren't reported.
    Broken,
}

/// A name in a procedure's body.
#[derive(Clone, Debug)]
pub(super) struct ScopedName {
    pub(super) meaning: Meaning,
    pub(super) span: Span,
    /// The frame variable that a `delocal` must release. `None` for names that end with their block.
    pub(super) open: Option<u32>,
}

impl ScopedName {
    /// Returns true if the name denotes something invalid that has been reported.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self.meaning, Meaning::Broken)
    }
}

/// The kind of a scope, which determines the visible names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    /// A block: the names of the surrounding scopes stay visible.
    Block,
    /// The body of a macro: the macro's own names and the globals are visible. Other names that are visible at
    /// the use of the macro aren't.
    Macro,
}

struct OpenScope {
    kind: ScopeKind,
    names: HashMap<CompactString, ScopedName>,
}

/// The open scopes of the current procedure, outermost first.
#[derive(Default)]
pub(super) struct Scopes(Vec<OpenScope>);

impl Scopes {
    pub(super) fn enter(&mut self, kind: ScopeKind) {
        self.0.push(OpenScope { kind, names: HashMap::new() });
    }

    /// Closes the innermost scope, and returns the locals that are still open, in order of the text.
    pub(super) fn leave(&mut self) -> Vec<(CompactString, ScopedName)> {
        let names = self.0.pop().map(|scope| scope.names).unwrap_or_default();
        let mut open: Vec<_> = names.into_iter().filter(|(_, local)| local.open.is_some()).collect();
        open.sort_by_key(|(_, local)| (local.span.file.0, local.span.start));
        open
    }

    /// Returns the visible scopes, innermost first.
    fn visible(&self) -> impl Iterator<Item = &OpenScope> {
        let barrier = self.0.iter().rposition(|scope| scope.kind == ScopeKind::Macro).unwrap_or(0);
        self.0.get(barrier..).unwrap_or_default().iter().rev()
    }

    pub(super) fn find(&self, name: &str) -> Option<&ScopedName> {
        self.visible().find_map(|scope| scope.names.get(name))
    }

    /// Returns a name that isn't visible in the body of a macro, but is visible where the macro is used.
    pub(super) fn find_hidden(&self, name: &str) -> Option<&ScopedName> {
        self.0.iter().rev().find_map(|scope| scope.names.get(name))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.visible().flat_map(|scope| scope.names.keys().map(CompactString::as_str))
    }

    /// Returns true while the body of a macro is lowered.
    pub(super) fn in_macro(&self) -> bool {
        self.0.iter().any(|scope| scope.kind == ScopeKind::Macro)
    }

    pub(super) fn insert(&mut self, name: CompactString, local: ScopedName) {
        if let Some(scope) = self.0.last_mut() {
            scope.names.insert(name, local);
        }
    }

    /// Ends a local of the innermost scope.
    pub(super) fn remove(&mut self, name: &str) {
        if let Some(scope) = self.0.last_mut() {
            scope.names.remove(name);
        }
    }

    /// Marks a local as ended after an error, so that a missing `delocal` isn't reported.
    pub(super) fn give_up(&mut self, name: &str) {
        for scope in self.0.iter_mut().rev() {
            if let Some(local) = scope.names.get_mut(name) {
                local.open = None;
                return;
            }
        }
    }

    /// Marks a name in the innermost scope as invalid, so that its uses aren't reported.
    pub(super) fn give_up_meaning(&mut self, name: &str) {
        if let Some(local) = self.0.last_mut().and_then(|scope| scope.names.get_mut(name)) {
            local.meaning = Meaning::Broken;
        }
    }

    /// Looks up a name in the innermost scope only.
    pub(super) fn innermost(&self, name: &str) -> Option<&ScopedName> {
        self.0.last().and_then(|scope| scope.names.get(name))
    }
}
