//! Which names are visible where, and what they stand for. Knows no spelling of literals and
//! emits nothing.

use std::collections::HashMap;

use compact_str::CompactString;
use reviver_isa::instruction::{Base, Place, Slice};

use super::applied::AppliedFunction;
use super::constant::Number;
use crate::source::Span;

/// What a name or an expression stands for.
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
    /// An integer scalar plus constants: an index as it is, else an expression. Each of the constants is a word if
    /// their sum `wraps`.
    Sum {
        base: Base,
        offset: i128,
        wraps: bool,
    },
    Slice(Slice),
    /// An expression of cells.
    Computed(Box<AppliedFunction>),
    /// Something in error, which was reported: what uses it is in error too, and not worth a word.
    Broken,
}

/// A name of a procedure's body.
#[derive(Clone, Debug)]
pub(super) struct ScopedName {
    pub(super) meaning: Meaning,
    pub(super) span: Span,
    /// The frame variable that a `delocal` gives back; `None` for names that end with their block.
    pub(super) open: Option<u32>,
}

impl ScopedName {
    /// Whether what it stands for is in error.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self.meaning, Meaning::Broken)
    }
}

/// Why a scope begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    /// The names of the surrounding scopes stay visible.
    Block,
    /// The body of a macro sees its own names and the globals, nothing of its use.
    Macro,
}

struct OpenScope {
    kind: ScopeKind,
    names: HashMap<CompactString, ScopedName>,
}

/// The open scopes of the procedure being lowered, outermost first.
#[derive(Default)]
pub(super) struct Scopes(Vec<OpenScope>);

impl Scopes {
    pub(super) fn enter(&mut self, kind: ScopeKind) {
        self.0.push(OpenScope { kind, names: HashMap::new() });
    }

    /// Closes the innermost scope; the locals that are still open come back, in order of the text.
    pub(super) fn leave(&mut self) -> Vec<(CompactString, ScopedName)> {
        let names = self.0.pop().map(|scope| scope.names).unwrap_or_default();
        let mut open: Vec<_> = names.into_iter().filter(|(_, local)| local.open.is_some()).collect();
        open.sort_by_key(|(_, local)| (local.span.file.0, local.span.start));
        open
    }

    /// The scopes that can be seen from the innermost one, innermost first.
    fn visible(&self) -> impl Iterator<Item = &OpenScope> {
        let barrier = self.0.iter().rposition(|scope| scope.kind == ScopeKind::Macro).unwrap_or(0);
        self.0.get(barrier..).unwrap_or_default().iter().rev()
    }

    pub(super) fn find(&self, name: &str) -> Option<&ScopedName> {
        self.visible().find_map(|scope| scope.names.get(name))
    }

    /// A name that the use of a macro sees and its body does not.
    pub(super) fn find_hidden(&self, name: &str) -> Option<&ScopedName> {
        self.0.iter().rev().find_map(|scope| scope.names.get(name))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.visible().flat_map(|scope| scope.names.keys().map(CompactString::as_str))
    }

    /// Whether the body of a macro is being lowered.
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

    /// Expects no `delocal` for a visible local any more: it was reported.
    pub(super) fn give_up(&mut self, name: &str) {
        for scope in self.0.iter_mut().rev() {
            if let Some(local) = scope.names.get_mut(name) {
                local.open = None;
                return;
            }
        }
    }

    /// Says of a name of the innermost scope that what it stands for is in error.
    pub(super) fn give_up_meaning(&mut self, name: &str) {
        if let Some(local) = self.0.last_mut().and_then(|scope| scope.names.get_mut(name)) {
            local.meaning = Meaning::Broken;
        }
    }

    /// A name of the innermost scope.
    pub(super) fn innermost(&self, name: &str) -> Option<&ScopedName> {
        self.0.last().and_then(|scope| scope.names.get(name))
    }
}
