//! Moves of values into and out of stacks and tapes. They let a search follow the origin of a value through a stack
//! or a tape.

use reviver_isa::instruction::Class;
use reviver_isa::update::Update;
use reviver_vm::State;

use crate::question::{StoreEntry, ValueStore};

/// Returns the stack or tape that an update accesses. The flag is true if the update moves a value into the stack
/// or tape, false if it moves a value out. `class` is the class of the moved value.
pub(super) fn moves(update: Update, class: Class) -> Option<(ValueStore, bool)> {
    match update {
        Update::Push => Some((ValueStore::Stack(class), true)),
        Update::Pop => Some((ValueStore::Stack(class), false)),
        Update::Unread => Some((ValueStore::InputTape, true)),
        Update::Read => Some((ValueStore::InputTape, false)),
        Update::Write => Some((ValueStore::OutputTape, true)),
        Update::Unwrite => Some((ValueStore::OutputTape, false)),
        _ => None,
    }
}

impl StoreEntry {
    /// Returns the entry of a stack or a tape that a move adds (`puts` is true) or removes. `state` is the state
    /// before the move.
    pub fn moved(state: &State, (store, puts): (ValueStore, bool)) -> Option<StoreEntry> {
        let length = match store {
            ValueStore::Stack(Class::Int) => state.int_stack.len(),
            ValueStore::Stack(Class::Real) => state.real_stack.len(),
            ValueStore::InputTape => state.input.len(),
            ValueStore::OutputTape => state.output.len(),
        };
        let index = if puts { Some(length) } else { length.checked_sub(1) };
        index.map(|index| StoreEntry { store, index })
    }
}
