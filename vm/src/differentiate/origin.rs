//! Locations of independent variables in a start state.

use crate::state::{Adjoints, State, TapeEntry};

/// Location, in the start state, of a real that can be an independent variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Real cell with this offset.
    Cell(usize),
    /// Entry with this index, on the stack of reals.
    Stack(usize),
    /// Real at this index of the input tape.
    Tape(usize),
}

impl Origin {
    /// Returns the number at this location of a state; `None` if there is no real.
    pub fn read<B: Copy>(self, state: &State<B>) -> Option<B> {
        match self {
            Origin::Cell(cell) => state.reals.get(cell).copied(),
            Origin::Stack(entry) => state.real_stack.get(entry).copied(),
            Origin::Tape(entry) => match state.input.get(entry) {
                Some(TapeEntry::Real(bits)) => Some(*bits),
                _ => None,
            },
        }
    }

    /// Returns the adjoint of the number at this location, or 0 if there is none.
    pub fn adjoint<B: Copy + Default>(self, adjoints: &Adjoints<B>) -> B {
        let (list, n) = match self {
            Origin::Cell(cell) => (&adjoints.cells, cell),
            Origin::Stack(entry) => (&adjoints.stack, entry),
            Origin::Tape(entry) => (&adjoints.input, entry),
        };
        list.get(n).copied().unwrap_or_default()
    }

    /// Returns a mutable reference to the number at this location of a state.
    pub fn of<B>(self, state: &mut State<B>) -> Option<&mut B> {
        match self {
            Origin::Cell(cell) => state.reals.get_mut(cell),
            Origin::Stack(entry) => state.real_stack.get_mut(entry),
            Origin::Tape(entry) => match state.input.get_mut(entry) {
                Some(TapeEntry::Real(bits)) => Some(bits),
                _ => None,
            },
        }
    }
}
