//! Reasons why a checkpointed run can't continue, as plain data.

use crate::trap::Trap;

/// The reason why a checkpointed run can't continue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunHalt {
    /// A trap; the state is the one before the instruction that trapped.
    Trap(Trap),
    /// The data for going back would exceed the memory bound.
    Full {
        /// The memory bound, in bytes.
        bytes: u64,
    },
}

impl From<Trap> for RunHalt {
    fn from(trap: Trap) -> RunHalt {
        RunHalt::Trap(trap)
    }
}
