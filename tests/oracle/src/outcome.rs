//! Outcomes of runs, in terms comparable with another machine's. This module knows no programs.

use std::collections::BTreeMap;

/// Class of a trap, as coarse as the language distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trap {
    /// A function or update has no result: division by zero, overflow, or a result that isn't finite.
    Fault,
    Assert,
    /// Two paths into one place disagree: a `br` and its `from`, or a simple condition of a block.
    Branch,
    /// An index or a slice bound is outside of its array.
    Index,
    Alias,
    /// A cell that must be vacant isn't. Conditions with `and` and `or` belong here, too, because they are flags that
    /// must be vacant at the end.
    Vacant,
    /// At the exit of a call, an argument refers to other cells than at the entry.
    References,
    Overlap,
    /// A stack is empty or full.
    Stack,
    /// A tape is empty or full, or its next value has the other class.
    Tape,
    /// A backward step over discarded information.
    Irreversible,
    /// Too many open calls for the program's limit.
    Depth,
    /// Gradient mode is switched on twice, or off twice.
    Mode,
}

impl Trap {
    pub const ALL: &[Trap] = &[
        Trap::Fault,
        Trap::Assert,
        Trap::Branch,
        Trap::Index,
        Trap::Alias,
        Trap::Vacant,
        Trap::References,
        Trap::Overlap,
        Trap::Stack,
        Trap::Tape,
        Trap::Irreversible,
        Trap::Depth,
        Trap::Mode,
    ];
}

/// Content of a cell: an integer, or the bits of a real in the program's number system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    Int(i64),
    Real(u64),
}

/// Observable state after a run, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub globals: BTreeMap<String, Vec<Bits>>,
    pub int_stack: Vec<Bits>,
    pub real_stack: Vec<Bits>,
    /// Rest of the input tape; the last entry is read next.
    pub input: Vec<Bits>,
    /// Output tape; the last entry was written last.
    pub output: Vec<Bits>,
    /// Adjoints of the real globals.
    pub adjoints: BTreeMap<String, Vec<Bits>>,
    /// Adjoints of the real stack, the input tape and the output tape.
    pub entry_adjoints: [Vec<Bits>; 3],
    /// True if gradient mode is on.
    pub mode: bool,
    /// Names of globals that must have their initial values here and don't, and of variables of main's frame that
    /// aren't vacant.
    pub garbage: Vec<String>,
}

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Finished(Snapshot),
    /// Trap, with the state before the instruction that trapped.
    Trapped(Trap, Snapshot),
    /// The step limit was reached.
    TooLong,
    /// The program uses a feature that the oracle doesn't support.
    Unsupported(String),
}

/// Reason why a run can't continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    Trap(Trap),
    TooLong,
    Unsupported(String),
}

/// Result of an operation that may end the run.
pub(crate) type Step<T> = Result<T, Halt>;

pub(crate) fn trap<T>(trap: Trap) -> Step<T> {
    Err(Halt::Trap(trap))
}

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Step<T> {
    Err(Halt::Unsupported(what.into()))
}
