//! Open questions about the past of a value, as data: the location, the time point at which the search starts, and
//! the direction of the search. An answer contains such questions, so that they can be asked later.

use reviver_isa::instruction::Class;
use reviver_vm::Travel;

use crate::cell_set::CellSet;
use crate::timeline::TimePoint;

/// A stack or a tape, which stores values outside cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueStore {
    /// The stack for the values of one class. The instructions `push` and `pop` access it.
    Stack(Class),
    /// The tape with the program's input.
    InputTape,
    /// The tape with the program's output.
    OutputTape,
}

impl ValueStore {
    /// Returns the name of the stack or tape with its article, for sentences.
    pub fn name(self) -> &'static str {
        match self {
            ValueStore::Stack(Class::Int) => "the integer stack",
            ValueStore::Stack(Class::Real) => "the real stack",
            ValueStore::InputTape => "the input tape",
            ValueStore::OutputTape => "the output tape",
        }
    }
}

/// An entry of a stack or a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreEntry {
    /// The stack or tape that holds the entry.
    pub store: ValueStore,
    /// Index of the entry, counted from 0 at the bottom of the stack or at the beginning of the tape.
    pub index: usize,
}

/// A location that holds a value: cells, or an entry of a stack or a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Cells, identified without a state.
    Cells(CellSet),
    /// An entry of a stack or a tape, or the adjoint of such an entry. Instructions move the adjoint together with
    /// the entry.
    Entry {
        /// The entry that holds the value.
        entry: StoreEntry,
        /// True for the adjoint of the entry, false for its value.
        adjoint: bool,
    },
}

/// The past of a cell's content: the steps between the time point of a question and the step `bound`. For a value,
/// these steps are earlier in time. For an adjoint, they are the steps between the time point and the origin of the
/// branch, because the adjoint was propagated from the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastOfCell {
    /// Direction of travel from a time point into the past: backward for values, either direction for
    /// adjoints.
    pub direction: Travel,
    /// The step at which the past begins; `i64::MIN` if the whole branch belongs to it.
    pub bound: i64,
}

impl PastOfCell {
    /// Returns the number of steps between `step` and the beginning of the past.
    pub fn steps_from(self, step: i64) -> u64 {
        match self.direction {
            Travel::Forward => self.bound.saturating_sub(step),
            Travel::Backward => step.saturating_sub(self.bound),
        }
        .max(0)
        .unsigned_abs()
    }
}

/// The question for the last writes to a location, within the location's past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastQuestion {
    /// The location whose writes are searched for.
    pub holder: Holder,
    /// The direction and the bound of the search.
    pub past: PastOfCell,
    /// The time point at which the location holds the value in question.
    pub at: TimePoint,
}
