//! Unanswered questions about the past, as data: what is searched for, from which time point, and in which
//! direction. The holder of an answer can ask them later.

use reviver_isa::instruction::Class;
use reviver_vm::Travel;

use crate::cell_set::CellSet;
use crate::timeline::TimePoint;

/// A store for values outside cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueStore {
    /// The stack for values of one class, used by `push` and `pop`.
    Stack(Class),
    /// The tape with the program's input.
    InputTape,
    /// The tape with the program's output.
    OutputTape,
}

impl ValueStore {
    /// Returns the name with its article, for sentences.
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
    /// The stack or tape that holds the entry.
    pub store: ValueStore,
    /// Number of entries before this one in the stack or tape.
    pub index: usize,
}

/// A location that holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Cells by their addresses.
    Cells(CellSet),
    /// An entry of a stack or a tape, or the adjoint of the entry, which moves with it.
    Entry {
        /// The entry that holds the value.
        entry: StoreEntry,
        /// True for the adjoint of the entry, false for its value.
        adjoint: bool,
    },
}

/// The direction in which the past of a value is found, and the step at which that past begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastOfCell {
    /// Direction of travel into the past: backward for values, either one for adjoints.
    pub direction: Travel,
    /// The step at which the past begins; `i64::MIN` if there is no bound.
    pub bound: i64,
}

impl PastOfCell {
    /// Returns the number of steps between a step and the beginning of the past.
    pub fn steps_from(self, step: i64) -> u64 {
        match self.direction {
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
    /// The location that is written.
    pub holder: Holder,
    /// The steps that belong to the location's past.
    pub past: PastOfCell,
    /// The time point at which the value is known.
    pub at: TimePoint,
}
