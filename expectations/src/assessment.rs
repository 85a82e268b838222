//! Results of checking expectation lines: expected and actual outcomes, as plain data. Callers decide how to show
//! them.

use std::time::Duration;

use reviver_vm::explain::Explanation;

/// An expectation of a header, with its result.
#[derive(Clone, Debug)]
pub struct AssessedLine {
    /// The line number in the file, from 1.
    pub line: usize,
    /// The text of the line, without the `;!`.
    pub text: String,
    /// The verdict on this line.
    pub assessment: Assessment,
    /// The time spent on the line. For a property it is about 0, because the runs of other lines check the property.
    pub took: Duration,
}

/// The verdict on an expectation.
#[derive(Clone, Debug, PartialEq)]
pub enum Assessment {
    /// The expectation holds; there are no mismatches.
    Met,
    /// The expectation doesn't hold, with each mismatch.
    Missed(Vec<Mismatch>),
    /// The expectation couldn't be checked, with the reason. It counts neither as met nor as missed.
    Unjudged(String),
}

/// Kind of a mismatch. The kinds are listed with the most fundamental one first. If a line has several mismatches, the
/// kind that is listed first tells the reader most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissReason {
    /// The text can't be assembled.
    Syntax,
    /// The step limit was reached.
    Steps,
    /// The memory limit was reached, or the system refused memory.
    Memory,
    /// An input or an expected cell isn't declared, or isn't declared as needed.
    MissingCell,
    /// A trap that the line doesn't expect.
    Trap,
    /// A value that differs from the expected one, or a run that ends differently.
    #[default]
    Value,
}

/// A difference between the expected and the actual outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mismatch {
    /// The kind of the difference; [`MissReason::Value`] unless another one is set.
    pub reason: MissReason,
    /// The expected outcome as text, such as `a = 55`.
    pub expected: String,
    /// The actual outcome as text, such as `a = 54`.
    pub found: String,
    /// The inputs of the run, unless the line itself contains them.
    pub on: Option<String>,
    /// The trap that caused the difference, if any.
    pub trap: Option<Box<Explanation>>,
}

/// Text of the property that no garbage remains. A mismatch whose expected outcome is this text reports leftover
/// garbage.
pub const NO_GARBAGE: &str = "no garbage";

impl Mismatch {
    /// Creates a mismatch of the kind [`MissReason::Value`], without inputs and without a trap.
    pub fn new(expected: impl Into<String>, found: impl Into<String>) -> Mismatch {
        Mismatch { expected: expected.into(), found: found.into(), ..Mismatch::default() }
    }

    /// Returns this mismatch with another kind.
    #[must_use]
    pub fn because(self, reason: MissReason) -> Mismatch {
        Mismatch { reason, ..self }
    }

    /// Returns true if the mismatch is leftover garbage.
    pub fn is_garbage(&self) -> bool {
        self.expected == NO_GARBAGE
    }

    /// Returns this mismatch with the inputs of the run, as text.
    #[must_use]
    pub fn on(self, inputs: &str) -> Mismatch {
        Mismatch { on: Some(inputs.to_owned()), ..self }
    }

    /// Returns this mismatch with the trap that caused it, if there is one.
    #[must_use]
    pub fn trapped(self, trap: Option<Box<Explanation>>) -> Mismatch {
        Mismatch { trap, ..self }
    }
}

impl Assessment {
    /// Returns [`Assessment::Met`] if there are no mismatches, otherwise [`Assessment::Missed`].
    pub fn of(misses: Vec<Mismatch>) -> Assessment {
        if misses.is_empty() { Assessment::Met } else { Assessment::Missed(misses) }
    }
}

impl AssessedLine {
    /// Returns true if the expectation was checked and holds.
    pub fn is_met(&self) -> bool {
        self.assessment == Assessment::Met
    }

    /// Returns true if the expectation was checked and doesn't hold.
    pub fn is_missed(&self) -> bool {
        matches!(self.assessment, Assessment::Missed(_))
    }

    /// Returns the mismatches; empty unless the line is missed.
    pub fn misses(&self) -> &[Mismatch] {
        match &self.assessment {
            Assessment::Missed(misses) => misses,
            Assessment::Met | Assessment::Unjudged(_) => &[],
        }
    }
}
