//! Outcomes of runs, in a form to which outcomes of another machine can be converted.

use std::collections::BTreeMap;

/// Class of a trap. Causes that the language doesn't distinguish have one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trap {
    /// A function or update has no result: division by zero, overflow, or a result that isn't finite.
    Fault,
    Assert,
    /// The condition of a join disagrees with the path taken. The join is a `from`, a `br` in a backward run, or an end
    /// of a block with a simple condition.
    Branch,
    /// An index or a slice bound is outside of its array.
    Index,
    Alias,
    /// A cell isn't vacant although it must be. A compound condition (`and`, `or`) that disagrees with the path taken
    /// has this class, too, because its flag isn't vacant at the end.
    Vacant,
    /// At the exit of a call, an argument refers to other cells than it did at the entry.
    References,
    Overlap,
    /// A stack is empty or full.
    Stack,
    /// A tape is empty or full, or its next value has the other class.
    Tape,
    /// A backward run reaches a step that discarded information.
    Irreversible,
    /// There are more open calls than the program's limit permits.
    Depth,
    /// Gradient mode is switched on while it is on, or off while it is off.
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

/// Observable state after a run. Cells are listed by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub globals: BTreeMap<String, Vec<Bits>>,
    pub int_stack: Vec<Bits>,
    pub real_stack: Vec<Bits>,
    /// Entries left on the input tape; the last one would be read next.
    pub input: Vec<Bits>,
    /// Output tape; the last entry was written last.
    pub output: Vec<Bits>,
    /// Adjoints of the real globals.
    pub adjoints: BTreeMap<String, Vec<Bits>>,
    /// Adjoints of the real stack, the input tape and the output tape.
    pub entry_adjoints: [Vec<Bits>; 3],
    /// True if gradient mode is on.
    pub mode: bool,
    /// Names of garbage: globals that don't have their required initial value, and variables of main's frame that
    /// aren't vacant.
    pub garbage: Vec<String>,
}

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Finished(Snapshot),
    /// The run trapped. The snapshot is of the state before the instruction that trapped.
    Trapped(Trap, Snapshot),
    /// The step limit was reached.
    TooLong,
    /// The program uses a feature that the oracle doesn't support.
    Unsupported(String),
}

/// Reason for which a run stops before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    Trap(Trap),
    TooLong,
    Unsupported(String),
}

/// Result of an operation that may stop the run.
pub(crate) type Step<T> = Result<T, Halt>;

pub(crate) fn trap<T>(trap: Trap) -> Step<T> {
    Err(Halt::Trap(trap))
}

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Step<T> {
    Err(Halt::Unsupported(what.into()))
}
