//! Calls of programs: from inputs to results, backward, and for derivatives. The engines of this folder are separate
//! from those of `engine.rs`: each executes whole calls for many lanes at once, without access to intermediate states.
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

/// Outcome of a call in one lane.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    Done(CallResult),
    Trap(TrapSeen),
    /// Trap on an engine that doesn't report the trap's code; the list has all possible codes.
    TrapOf(&'static [TrapCode]),
    StepLimit,
    /// The call completed, but cells, stacks or tapes have leftovers.
    Leftovers,
    /// The call gives no derivative, because the derivative doesn't exist, or because the engine can't verify it.
    NoDerivative,
}

/// Result of a completed call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// Bits of the results, as a state stores them. The results are the values of the cells [`CallSubject::found`], or
    /// the losses and derivatives.
    pub words: LaneWords,
    /// Number of steps, if the engine reports it.
    pub steps: Option<u64>,
    /// True if the call has a remark: leftovers, a reverse sweep repeated with a history, or lost values. `None` if
    /// the engine doesn't report remarks for each lane.
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
    /// Returns the result of a call that completed without a remark.
    pub fn plain(&self) -> Option<&CallResult> {
        match self {
            CallOutcome::Done(result) if result.is_noted != Some(true) => Some(result),
            _ => None,
        }
    }

    /// Returns true if an engine may have this outcome when the interpreter has the outcome `expected`. If the
    /// interpreter has a remark, the engine may refuse the call instead.
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
    /// Number of lanes that the engine passed on to another engine. Tests limit this number.
    pub by_others: usize,
}

/// Engine that executes calls.
pub trait CallEngine {
    fn name(&self) -> &'static str;

    /// Prepares several programs at once, so that a C compiler runs only once. Returns an entry for each program, which
    /// is `None` if the engine refuses the program.
    fn prepare<'s>(&self, subjects: &'s [CallSubject]) -> Vec<Option<Box<dyn ReadyCalls + 's>>>;
}

/// Program that an engine has prepared for calls.
pub trait ReadyCalls {
    /// Calls the program once for each lane. A lane has a word for each cell of [`CallSubject::given`]. Returns
    /// `None` if the engine has no calls of this kind for the program.
    fn call(&self, kind: CallKind, lanes: &[LaneWords]) -> Option<CallAnswers>;
}
