//! The score of a program: lines met, points, and the reason why it isn't passed.

use reviver_assembler::diagnostic::Diagnostic;
use reviver_expectations::assessment::{AssessedLine, MissReason};
use reviver_expectations::expected::{Expectations, ExpectedLine};
use reviver_expectations::grammar::Expectation;
use reviver_isa::codes::ProblemCode;

/// Lines and points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Lines that are met.
    pub met: usize,
    /// Lines that are asked.
    pub asked: usize,
    pub points: u32,
    /// The points of all lines.
    pub most: u32,
}

impl Score {
    /// The lines and points of sets of expectations, with nothing met.
    pub fn asked<'e>(sets: impl IntoIterator<Item = &'e Expectations>) -> Score {
        let lines = sets.into_iter().flat_map(|set| &set.lines);
        lines.fold(Score::default(), |score, line| Score {
            asked: score.asked + 1,
            most: score.most.saturating_add(line.points),
            ..score
        })
    }

    /// Everything that is asked is met.
    #[must_use]
    pub fn full(self) -> Score {
        Score { met: self.asked, points: self.most, ..self }
    }

    /// The score of lines. A property such as `no garbage` holds for a program that does nothing, so properties give no points unless a
    /// line that runs the program is met.
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

/// Why an exercise isn't passed. Of several reasons the first of this list is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureReason {
    /// It includes a file that isn't the student's own.
    CheatingInclude,
    /// Its file can't be read.
    Unreadable,
    /// The text asks for more than is assembled: copies of macros, or nesting.
    TooMuch,
    Syntax,
    /// The process that graded it took too long.
    Time,
    /// Too much memory, in a run or in the process that graded it.
    Memory,
    /// The process that graded it printed too much.
    Output,
    /// The process that graded it ended by itself.
    Crash,
    Steps,
    MissingCell,
    Trap,
    WrongValue,
    Garbage,
    /// Another property doesn't hold: it erases, uses a forbidden word, takes too many steps.
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

    /// Why a text is no program.
    pub fn of_text<'d>(mut errors: impl Iterator<Item = &'d Diagnostic>) -> FailureReason {
        let has_too_much = errors.any(|error| error.code == Some(ProblemCode::TooMuch));
        if has_too_much { FailureReason::TooMuch } else { FailureReason::Syntax }
    }

    /// Why lines aren't met; none where all are.
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
