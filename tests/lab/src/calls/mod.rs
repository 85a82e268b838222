//! Calls of programs: from inputs to results, back, and for derivatives. The second list of engines is about these: each engine
//! answers whole calls, on many lanes of input at once, and has no state to look at in between.
//!
//! | file | subject |
//! |---|---|
//! | `subject` | a program that is called, and lanes for it |
//! | `interpreter` | the reference |
//! | `c_text` | C text, compiled by the system's compiler |
//! | `laws` | what holds for calls on every engine |
//! | `judge` | the laws over random programs, and the report of a law that is broken |
//!
//! Engines that call through the library are a list of the tests, because this crate doesn't depend on the library.

pub mod c_text;
pub mod interpreter;
pub mod judge;
pub mod laws;
pub mod subject;

use reviver_vm::codes::TrapCode;

use subject::{CallKind, CallSubject, LaneWords};

/// How the call of one lane ended.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    Done(CallResult),
    Trap(TrapSeen),
    /// A trap of an engine that tells only which codes it may have.
    TrapOf(&'static [TrapCode]),
    StepLimit,
    /// Cells aren't as they must be where the call arrived.
    Leftovers,
    /// There is no derivative, or the engine doesn't vouch for one.
    NoDerivative,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// Bits, as a state stores them.
    pub words: LaneWords,
    /// Number of steps, if the engine tells it.
    pub steps: Option<u64>,
    /// True if the call has a note: leftovers, a gradient that was recomputed with history, or lost values. None if the engine doesn't
    /// tell it for each lane.
    pub is_noted: Option<bool>,
}

/// The place of a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapSeen {
    pub code: TrapCode,
    /// Index of the instruction.
    pub at: u32,
    /// Signed number of steps before it.
    pub step: i64,
    pub is_backward: bool,
}

impl CallOutcome {
    /// The result of a call that has no note.
    pub fn plain(&self) -> Option<&CallResult> {
        match self {
            CallOutcome::Done(result) if result.is_noted != Some(true) => Some(result),
            _ => None,
        }
    }

    /// Returns true if an engine may answer this where the interpreter answers `expected`. An engine may refuse a call that has a note.
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

/// The answers of an engine, one for each lane.
#[derive(Clone, Debug)]
pub struct CallAnswers {
    pub outcomes: Vec<CallOutcome>,
    /// Number of lanes that the engine left to another one. The judge bounds it.
    pub by_others: usize,
}

/// An engine that answers calls.
pub trait CallEngine {
    fn name(&self) -> &'static str;

    /// Prepares programs together, so that one run of a compiler can serve all of them. None for each program that the engine refuses.
    fn prepare<'s>(&self, subjects: &'s [CallSubject]) -> Vec<Option<Box<dyn ReadyCalls + 's>>>;
}

/// A program that an engine is ready to call.
pub trait ReadyCalls {
    /// Calls the program once for each lane; a lane has a word for each cell of [`CallSubject::given`]. None if the engine has no such calls
    /// of the program.
    fn call(&self, kind: CallKind, lanes: &[LaneWords]) -> Option<CallAnswers>;
}
