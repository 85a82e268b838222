//! A common interface to the stacks and tapes of a state: they are the stores to and from which values move, together
//! with their adjoints. The module accesses no cells.

use reviver_isa::instruction::Class;
use reviver_isa::module::Limits;
use reviver_isa::update;

use crate::allocation::{self, AllocationPurpose, OutOfMemory};
use crate::state::lanes::Lanes;
use crate::state::{Adjoints, State, TapeEntry};
use crate::trap::Cause;

/// A value that moves between a cell and a store; a real moves together with its adjoint.
#[derive(Clone, Copy)]
pub(super) enum Moved<B> {
    Int(i64),
    Real(B, B),
}

impl<B: Lanes> Moved<B> {
    pub fn class(self) -> Class {
        match self {
            Moved::Int(_) => Class::Int,
            Moved::Real(..) => Class::Real,
        }
    }

    fn entry(self) -> TapeEntry<B> {
        match self {
            Moved::Int(value) => TapeEntry::Int(value),
            Moved::Real(bits, _) => TapeEntry::Real(bits),
        }
    }

    fn adjoint(self) -> B {
        match self {
            Moved::Int(_) => B::default(),
            Moved::Real(_, adjoint) => adjoint,
        }
    }
}

/// A stack or a tape that values move to and from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StoreOfMoves {
    Ints,
    Reals,
    Tape { output: bool },
}

impl StoreOfMoves {
    /// Returns the store that an update names, for values of a class.
    pub fn of(store: update::Store, class: Class) -> StoreOfMoves {
        match (store, class) {
            (update::Store::Stack, Class::Int) => StoreOfMoves::Ints,
            (update::Store::Stack, Class::Real) => StoreOfMoves::Reals,
            (update::Store::Input, _) => StoreOfMoves::Tape { output: false },
            (update::Store::Output, _) => StoreOfMoves::Tape { output: true },
        }
    }

    /// Returns the capacity of the store, and the trap if it is exceeded.
    pub fn limit(self, Limits { stack, tape, .. }: Limits) -> (u32, Cause) {
        match self {
            StoreOfMoves::Ints | StoreOfMoves::Reals => (stack, Cause::StackFull { limit: stack }),
            StoreOfMoves::Tape { output } => (tape, Cause::TapeFull { output, limit: tape }),
        }
    }

    /// Returns the purpose of memory requests for the store.
    pub fn purpose(self) -> AllocationPurpose {
        match self {
            StoreOfMoves::Ints | StoreOfMoves::Reals => AllocationPurpose::Stack,
            StoreOfMoves::Tape { .. } => AllocationPurpose::Tape,
        }
    }

    /// Returns the trap for taking a value from the empty store.
    pub fn empty(self) -> Cause {
        match self {
            StoreOfMoves::Ints => Cause::StackEmpty { class: Class::Int },
            StoreOfMoves::Reals => Cause::StackEmpty { class: Class::Real },
            StoreOfMoves::Tape { output } => Cause::TapeEmpty { output },
        }
    }

    /// Returns the number of values in the store.
    pub fn count<B>(self, state: &State<B>) -> usize {
        match self {
            StoreOfMoves::Ints => state.int_stack.len(),
            StoreOfMoves::Reals => state.real_stack.len(),
            StoreOfMoves::Tape { output: false } => state.input.len(),
            StoreOfMoves::Tape { output: true } => state.output.len(),
        }
    }

    /// Reserves memory for another value.
    pub fn reserve_memory<B: Lanes>(self, state: &mut State<B>) -> Result<(), OutOfMemory> {
        if let Some(adjoints) = self.adjoints(&mut state.adjoints) {
            allocation::more(adjoints, 1)?;
        }
        match self {
            StoreOfMoves::Ints => allocation::more(&mut state.int_stack, 1),
            StoreOfMoves::Reals => allocation::more(&mut state.real_stack, 1),
            StoreOfMoves::Tape { output: false } => allocation::more(&mut state.input, 1),
            StoreOfMoves::Tape { output: true } => allocation::more(&mut state.output, 1),
        }
    }

    /// Adds a value. `adjoint`, if there is one, replaces the adjoint in `moved`.
    pub fn push<B: Lanes>(self, state: &mut State<B>, moved: Moved<B>, adjoint: Option<B>) {
        if let Some(adjoints) = self.adjoints(&mut state.adjoints) {
            adjoints.push(adjoint.unwrap_or(moved.adjoint()));
        }
        match (self, moved) {
            (StoreOfMoves::Ints, Moved::Int(value)) => state.int_stack.push(value),
            (StoreOfMoves::Reals, Moved::Real(bits, _)) => state.real_stack.push(bits),
            (StoreOfMoves::Tape { output: false }, _) => state.input.push(moved.entry()),
            (StoreOfMoves::Tape { output: true }, _) => state.output.push(moved.entry()),
            // A stack holds only values of the same class.
            (StoreOfMoves::Ints, Moved::Real(..)) | (StoreOfMoves::Reals, Moved::Int(_)) => {}
        }
    }

    /// Returns the last value, with its adjoint.
    pub fn last<B: Lanes>(self, state: &mut State<B>) -> Option<Moved<B>> {
        let adjoint = self.adjoints(&mut state.adjoints).and_then(|all| all.last().copied());
        let real = |bits| Moved::Real(bits, adjoint.unwrap_or_default());
        let tape = match self {
            StoreOfMoves::Ints => return state.int_stack.last().copied().map(Moved::Int),
            StoreOfMoves::Reals => return state.real_stack.last().copied().map(real),
            StoreOfMoves::Tape { output: false } => &state.input,
            StoreOfMoves::Tape { output: true } => &state.output,
        };
        tape.last().map(|entry| match *entry {
            TapeEntry::Int(value) => Moved::Int(value),
            TapeEntry::Real(bits) => real(bits),
        })
    }

    /// Removes the last value and its adjoint.
    pub fn pop<B: Lanes>(self, state: &mut State<B>) {
        match self {
            StoreOfMoves::Ints => drop(state.int_stack.pop()),
            StoreOfMoves::Reals => drop(state.real_stack.pop()),
            StoreOfMoves::Tape { output: false } => drop(state.input.pop()),
            StoreOfMoves::Tape { output: true } => drop(state.output.pop()),
        }
        self.adjoints(&mut state.adjoints).map(Vec::pop);
    }

    /// Returns the adjoints of the store's values, if there are any.
    fn adjoints<B>(self, adjoints: &mut Option<Adjoints<B>>) -> Option<&mut Vec<B>> {
        let adjoints = adjoints.as_mut()?;
        match self {
            StoreOfMoves::Ints => None,
            StoreOfMoves::Reals => Some(&mut adjoints.stack),
            StoreOfMoves::Tape { output: false } => Some(&mut adjoints.input),
            StoreOfMoves::Tape { output: true } => Some(&mut adjoints.output),
        }
    }
}
