//! What became of a line: what was expected, and what was found. Data; how it is shown is for others to say.

use std::time::Duration;

use reviver_vm::explain::Explanation;

/// A line of a header, judged.
#[derive(Clone, Debug)]
pub struct AssessedLine {
    /// Where it stands, from 1.
    pub line: usize,
    /// What it says, without the `;!`.
    pub text: String,
    pub assessment: Assessment,
    pub took: Duration,
}

/// Whether a line is met.
#[derive(Clone, Debug, PartialEq)]
pub enum Assessment {
    Met,
    /// In which respects it isn't.
    Missed(Vec<Mismatch>),
    /// Nothing came to where it could be judged; why.
    Unjudged(String),
}

/// The kind of a difference, the most fundamental first: of several differences the first kind says most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissReason {
    /// The text can't be assembled.
    Syntax,
    /// The step limit was reached.
    Steps,
    /// The memory limit was reached, or the system refused memory.
    Memory,
    /// A cell that is given or expected isn't declared, or not as is needed.
    MissingCell,
    Trap,
    /// Another value, or another end of the run.
    #[default]
    Value,
}

/// A difference between what was expected and what was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mismatch {
    pub reason: MissReason,
    pub expected: String,
    pub found: String,
    /// On what the program was run, where the line itself doesn't tell.
    pub on: Option<String>,
    /// The trap, where one was in the way.
    pub trap: Option<Box<Explanation>>,
}

/// What is expected where nothing may be left over.
pub const NO_GARBAGE: &str = "no garbage";

impl Mismatch {
    pub fn new(expected: impl Into<String>, found: impl Into<String>) -> Mismatch {
        Mismatch { expected: expected.into(), found: found.into(), ..Mismatch::default() }
    }

    /// With the kind of the difference.
    #[must_use]
    pub fn because(self, reason: MissReason) -> Mismatch {
        Mismatch { reason, ..self }
    }

    /// Whether what is wrong is that something is left over.
    pub fn is_garbage(&self) -> bool {
        self.expected == NO_GARBAGE
    }

    /// With the inputs of the run.
    #[must_use]
    pub fn on(self, inputs: &str) -> Mismatch {
        Mismatch { on: Some(inputs.to_owned()), ..self }
    }

    /// With the trap that was in the way.
    #[must_use]
    pub fn trapped(self, trap: Option<Box<Explanation>>) -> Mismatch {
        Mismatch { trap, ..self }
    }
}

impl Assessment {
    /// Met where nothing is missed.
    pub fn of(misses: Vec<Mismatch>) -> Assessment {
        if misses.is_empty() { Assessment::Met } else { Assessment::Missed(misses) }
    }
}

impl AssessedLine {
    pub fn is_met(&self) -> bool {
        self.assessment == Assessment::Met
    }

    pub fn is_missed(&self) -> bool {
        matches!(self.assessment, Assessment::Missed(_))
    }

    /// In which respects the line isn't met.
    pub fn misses(&self) -> &[Mismatch] {
        match &self.assessment {
            Assessment::Missed(misses) => misses,
            Assessment::Met | Assessment::Unjudged(_) => &[],
        }
    }
}
