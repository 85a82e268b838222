//! What a run comes to, in terms that can be compared with another machine's. Knows no program.

use std::collections::BTreeMap;

/// What was violated, as coarsely as the language distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trap {
    /// A function or an update has no result: division by zero, overflow, not finite, …
    Fault,
    Assert,
    /// Two ways into one place disagree: a `br` and its `from`, or a simple condition of a block.
    Branch,
    /// An index or the bound of a slice is outside of its array.
    Index,
    Alias,
    /// A cell that must be vacant isn't. A condition made of `and` and `or` counts here too: it
    /// stands for a flag that must be vacant at the end.
    Vacant,
    /// At the exit of a call an argument refers to other cells than at its entry.
    References,
    Overlap,
    /// A stack is empty or full.
    Stack,
    /// A tape is empty or full, or its next value is of the other class.
    Tape,
    /// The way back over what was thrown away.
    Irreversible,
    /// More calls are open than the program allows.
    Depth,
    /// Gradient mode is on where it is to be switched on, or off where it is to be switched off.
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

/// One cell's content: an integer, or the bits of a real in the program's number system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    Int(i64),
    Real(u64),
}

/// Everything that a run leaves behind, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub globals: BTreeMap<String, Vec<Bits>>,
    pub int_stack: Vec<Bits>,
    pub real_stack: Vec<Bits>,
    /// What is left of the input tape; the end is read next.
    pub input: Vec<Bits>,
    /// The output tape; the end was written last.
    pub output: Vec<Bits>,
    /// Adjoints of the real globals.
    pub adjoints: BTreeMap<String, Vec<Bits>>,
    /// Adjoints of what is on the real stack, the input tape and the output tape.
    pub entry_adjoints: [Vec<Bits>; 3],
    /// Whether gradient mode is on.
    pub mode: bool,
    /// Names of the globals that must be at their initial values here and aren't, and of the
    /// variables of main's frame that aren't vacant.
    pub garbage: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Finished(Snapshot),
    /// The state is the one before the instruction that trapped.
    Trapped(Trap, Snapshot),
    /// The step limit was reached.
    TooLong,
    /// The program asks for something that the oracle doesn't know.
    Unsupported(String),
}

/// Why a run can't go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    Trap(Trap),
    TooLong,
    Unsupported(String),
}

/// The result of anything that may end the run.
pub(crate) type Step<T> = Result<T, Halt>;

pub(crate) fn trap<T>(trap: Trap) -> Step<T> {
    Err(Halt::Trap(trap))
}

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Step<T> {
    Err(Halt::Unsupported(what.into()))
}
