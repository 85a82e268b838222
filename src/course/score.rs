//! Score of a program: number of expectation lines that are met, points, and the reason for a failure.

use reviver_assembler::diagnostic::Diagnostic;
use reviver_expectations::assessment::{AssessedLine, MissReason};
use reviver_expectations::expected::{Expectations, ExpectedLine};
use reviver_expectations::grammar::Expectation;
use reviver_isa::codes::ProblemCode;

/// Number of expectation lines and points of an exercise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Number of lines that are met.
    pub met: usize,
    /// Number of all lines.
    pub asked: usize,
    pub points: u32,
    /// Points for an exercise in which all lines are met.
    pub most: u32,
}

impl Score {
    /// Returns a score with the number of lines and the maximum points of sets of expectations. The score counts
    /// no line as met.
    pub fn asked<'e>(sets: impl IntoIterator<Item = &'e Expectations>) -> Score {
        let lines = sets.into_iter().flat_map(|set| &set.lines);
        lines.fold(Score::default(), |score, line| Score {
            asked: score.asked + 1,
            most: score.most.saturating_add(line.points),
            ..score
        })
    }

    /// Returns the score of an exercise in which all lines are met.
    #[must_use]
    pub fn full(self) -> Score {
        Score { met: self.asked, points: self.most, ..self }
    }

    /// Returns the score for assessed lines. Property lines, such as `no garbage`, hold even for a program that does
    /// nothing. So points count only if at least one other line, such as `run n=10 -> a=55`, is met.
    #[must_use]
    pub fn of(self, lines: &[(&ExpectedLine, &AssessedLine)]) -> Score {
        let met = || lines.iter().filter(|(_, assessed)| assessed.is_met());
        let earns = met().any(|(expected, _)| !is_property(expected));
        let points = met().fold(0_u32, |points, (expected, _)| points.saturating_add(expected.points));
        Score { met: met().count(), points: if earns { points } else { 0 }, ..self }
    }
}

fn is_property(line: &ExpectedLine) -> bool {
    matches!(line.read, Ok(Expectation::Property(_)))
}

/// Reason why an exercise isn't passed. If there are several reasons, the first one in this list is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureReason {
    /// The program includes a file that the student isn't allowed to use, such as a solution.
    CheatingInclude,
    /// The program's file can't be read.
    Unreadable,
    /// The text exceeds a limit of the assembler, such as the limit on macro expansions or on nesting.
    TooMuch,
    Syntax,
    /// The grading process timed out.
    Time,
    /// A run or the grading process needs too much memory.
    Memory,
    /// The grading process printed too much.
    Output,
    /// The grading process ended unexpectedly.
    Crash,
    /// A run exceeded the step limit.
    Steps,
    MissingCell,
    Trap,
    WrongValue,
    Garbage,
    /// Another property doesn't hold: the program erases, uses a forbidden word, or takes more steps than an
    /// expectation allows.
    Property,
}

impl FailureReason {
    pub fn name(self) -> &'static str {
        match self {
            FailureReason::CheatingInclude => "cheating include",
            FailureReason::Unreadable => "unreadable",
            FailureReason::TooMuch => "too much",
            FailureReason::Syntax => "syntax",
            FailureReason::Time => "time",
            FailureReason::Memory => "memory",
            FailureReason::Output => "output",
            FailureReason::Crash => "crash",
            FailureReason::Steps => "steps",
            FailureReason::MissingCell => "missing cell",
            FailureReason::Trap => "trap",
            FailureReason::WrongValue => "wrong value",
            FailureReason::Garbage => "garbage",
            FailureReason::Property => "property",
        }
    }

    /// Returns the reason why a text can't be assembled, derived from its diagnostics.
    pub fn of_text<'d>(mut errors: impl Iterator<Item = &'d Diagnostic>) -> FailureReason {
        let has_too_much = errors.any(|error| error.code == Some(ProblemCode::TooMuch));
        if has_too_much { FailureReason::TooMuch } else { FailureReason::Syntax }
    }

    /// Returns the reason why the lines aren't all met; `None` if they are.
    pub fn of_lines(lines: &[(&ExpectedLine, &AssessedLine)]) -> Option<FailureReason> {
        let misses = lines.iter().flat_map(|(expected, assessed)| {
            assessed.misses().iter().map(|miss| match miss.reason {
                MissReason::Syntax => FailureReason::Syntax,
                MissReason::Steps => FailureReason::Steps,
                MissReason::Memory => FailureReason::Memory,
                MissReason::MissingCell => FailureReason::MissingCell,
                MissReason::Trap => FailureReason::Trap,
                MissReason::Value if miss.is_garbage() => FailureReason::Garbage,
                MissReason::Value if is_property(expected) => FailureReason::Property,
                MissReason::Value => FailureReason::WrongValue,
            })
        });
        misses.min()
    }
}
