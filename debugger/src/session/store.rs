//! Values on stacks and tapes: which entry an instruction moves, so that the way of a value can be
//! followed through them. Makes no step.

use reviver_isa::instruction::Class;
use reviver_isa::update::Update;
use reviver_vm::State;

use crate::outcome::Store;

/// An entry of a stack or a tape: how many lie before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub store: Store,
    pub index: usize,
}

/// The stack or tape that an update moves a value of a class to or from, and whether to it.
pub(super) fn moves(update: Update, class: Class) -> Option<(Store, bool)> {
    match update {
        Update::Push => Some((Store::Stack(class), true)),
        Update::Pop => Some((Store::Stack(class), false)),
        Update::Unread => Some((Store::InputTape, true)),
        Update::Read => Some((Store::InputTape, false)),
        Update::Write => Some((Store::OutputTape, true)),
        Update::Unwrite => Some((Store::OutputTape, false)),
        _ => None,
    }
}

impl Entry {
    /// The entry that a move to or from a store is about in a state.
    pub fn moved(state: &State, (store, puts): (Store, bool)) -> Option<Entry> {
        let length = match store {
            Store::Stack(Class::Int) => state.int_stack.len(),
            Store::Stack(Class::Real) => state.real_stack.len(),
            Store::InputTape => state.input.len(),
            Store::OutputTape => state.output.len(),
        };
        let index = if puts { Some(length) } else { length.checked_sub(1) };
        index.map(|index| Entry { store, index })
    }
}
