//! Reasons why a task region isn't executed by threads. The module knows no task.

/// The reason why threads didn't execute all tasks. The state is the one before the first task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// The machine's interrupt flag is set.
    Interrupted,
    /// One thread must execute the tasks: one of them traps, they can't be joined, or they are too short.
    ByOneThread,
}
