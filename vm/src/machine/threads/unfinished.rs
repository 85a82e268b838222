//! Why threads don't make tasks. Knows no task.

/// Why tasks weren't all made by threads. The state is the one before the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// Somebody has asked the machine to stop.
    Interrupted,
    /// One thread is to make them: one of them traps, they can't be put together, or they are too short.
    ByOneThread,
}
