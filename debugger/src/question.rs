//! Unanswered questions about the past, as data: what is searched for, from which time point, and in which
//! direction. The holder of an answer can ask them later.

use reviver_isa::instruction::Class;
use reviver_vm::Travel;

use crate::cell_set::CellSet;
use crate::timeline::Moment;

/// A store for values outside cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueStore {
    Stack(Class),
    InputTape,
    OutputTape,
}

impl ValueStore {
    pub fn name(self) -> &'static str {
        match self {
            ValueStore::Stack(Class::Int) => "the integer stack",
            ValueStore::Stack(Class::Real) => "the real stack",
            ValueStore::InputTape => "the input tape",
            ValueStore::OutputTape => "the output tape",
        }
    }
}

/// An entry of a stack or a tape. `index` is the number of entries before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreEntry {
    pub store: ValueStore,
    pub index: usize,
}

/// A location that holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Cells(CellSet),
    /// An entry of a stack or a tape, or the adjoint of the entry, which moves with it.
    Entry {
        entry: StoreEntry,
        adjoint: bool,
    },
}

/// The direction in which the past of a value is found, and the step at which that past begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastOfCell {
    pub way: Travel,
    pub bound: i64,
}

impl PastOfCell {
    /// Returns the number of steps between a step and the beginning of the past.
    pub fn steps_from(self, step: i64) -> u64 {
        match self.way {
            Travel::Forward => self.bound.saturating_sub(step),
            Travel::Backward => step.saturating_sub(self.bound),
        }
        .max(0)
        .unsigned_abs()
    }
}

/// The question for the last writes to a location before a time point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastQuestion {
    pub holder: Holder,
    pub past: PastOfCell,
    pub at: Moment,
}
