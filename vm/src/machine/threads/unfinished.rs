//! Reasons why threads don't execute a task region.

/// The reason why threads didn't execute all tasks. The machine's state stays as it was before the first task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// The machine's interrupt flag is set.
    Interrupted,
    /// One thread must execute all tasks, because a task traps, or because the tasks can't be joined or are too short.
    ByOneThread,
}
