//! Calls of programs: from inputs to results, backward, and for derivatives. Each engine of this second list answers
//! whole calls for many lanes at once, without access to intermediate states.
//!
//! | file | subject |
//! |---|---|
//! | `subject` | a program to call, and lanes for it |
//! | `interpreter` | the reference |
//! | `c_text` | C text, compiled by the system's compiler |
//! | `laws` | properties of calls on every engine |
//! | `verify` | checks of the laws on random programs, and reports of violations |
//!
//! Engines that use the library are in the tests, because this crate doesn't depend on the library.

pub mod c_text;
pub mod interpreter;
pub mod laws;
pub mod subject;
pub mod verify;

use reviver_vm::codes::TrapCode;

use subject::{CallKind, CallSubject, LaneWords};

/// Outcome of one lane's call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    Done(CallResult),
    Trap(TrapSeen),
    /// Trap of an engine that only reports the possible codes.
    TrapOf(&'static [TrapCode]),
    StepLimit,
    /// The call completed with cells in a forbidden state.
    Leftovers,
    /// The derivative doesn't exist, or the engine can't verify it.
    NoDerivative,
}

/// Result of a completed call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// Bits, as a state stores them.
    pub words: LaneWords,
    /// Number of steps, if the engine reports it.
    pub steps: Option<u64>,
    /// True if the call has a remark: leftovers, a gradient recomputed with a history, or lost values. `None` if the
    /// engine doesn't report remarks by lane.
    pub is_noted: Option<bool>,
}

/// Trap with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapSeen {
    pub code: TrapCode,
    /// Index of the instruction.
    pub at: u32,
    /// Signed number of steps before the trap.
    pub step: i64,
    pub is_backward: bool,
}

impl CallOutcome {
    /// Returns the result of a call without remarks.
    pub fn plain(&self) -> Option<&CallResult> {
        match self {
            CallOutcome::Done(result) if result.is_noted != Some(true) => Some(result),
            _ => None,
        }
    }

    /// Returns true if an engine may give this answer when the interpreter answers `expected`. An engine may refuse
    /// calls with remarks.
    pub fn agrees_with(&self, expected: &CallOutcome) -> bool {
        fn same<T: PartialEq>(found: Option<T>, expected: Option<T>) -> bool {
            found.is_none() || expected.is_none() || found == expected
        }
        match (self, expected) {
            (CallOutcome::Done(found), CallOutcome::Done(expected)) => {
                found.words == expected.words
                    && same(found.steps, expected.steps)
                    && same(found.is_noted, expected.is_noted)
            }
            (CallOutcome::TrapOf(codes), CallOutcome::Trap(trap)) => codes.contains(&trap.code),
            (
                CallOutcome::TrapOf(_) | CallOutcome::Leftovers | CallOutcome::NoDerivative,
                CallOutcome::Done(expected),
            ) => expected.is_noted == Some(true),
            (found, expected) => found == expected,
        }
    }
}

/// Answers of an engine, one for each lane.
#[derive(Clone, Debug)]
pub struct CallAnswers {
    pub outcomes: Vec<CallOutcome>,
    /// Number of lanes that the engine delegated to another engine, which the judge limits.
    pub by_others: usize,
}

/// Engine that answers calls.
pub trait CallEngine {
    fn name(&self) -> &'static str;

    /// Prepares several programs, so that one compiler run serves all. `None` for each program that the engine
    /// refuses.
    fn prepare<'s>(&self, subjects: &'s [CallSubject]) -> Vec<Option<Box<dyn ReadyCalls + 's>>>;
}

/// Program that an engine is ready to call.
pub trait ReadyCalls {
    /// Calls the program once for each lane; a lane has a word for each cell of [`CallSubject::given`]. `None` if the
    /// engine has no such calls of the program.
    fn call(&self, kind: CallKind, lanes: &[LaneWords]) -> Option<CallAnswers>;
}
