//! Questions about the past that an answer leaves open, as data: what is sought, from which moment on, and which
//! way. Whoever has an answer can have them asked on.

use reviver_isa::instruction::Class;
use reviver_vm::Travel;

use crate::cell_set::CellSet;
use crate::timeline::Moment;

/// Where values are that have no cell.
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

/// An entry of a stack or a tape: how many lie before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreEntry {
    pub store: ValueStore,
    pub index: usize,
}

/// What holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Cells(CellSet),
    /// An entry of a stack or a tape; or its adjoint, which moves with it.
    Entry {
        entry: StoreEntry,
        adjoint: bool,
    },
}

/// Which way the past of a value lies, and the step at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastOfCell {
    pub way: Travel,
    pub bound: i64,
}

impl PastOfCell {
    /// The steps that lie between a step and the beginning.
    pub fn steps_from(self, step: i64) -> u64 {
        match self.way {
            Travel::Forward => self.bound.saturating_sub(step),
            Travel::Backward => step.saturating_sub(self.bound),
        }
        .max(0)
        .unsigned_abs()
    }
}

/// Who wrote something last, seen from a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastQuestion {
    pub holder: Holder,
    pub past: PastOfCell,
    pub at: Moment,
}
