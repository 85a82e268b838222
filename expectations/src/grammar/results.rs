//! What must come of a run or a derivative: the words behind the arrow.

use super::GrammarError;
use super::numbers::{count, reals};

/// A word about a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunResult {
    /// `a=55`, `A=1,2,3`: exactly.
    Equals { name: String, values: String },
    /// `x~0.5`: to 9 digits.
    Near { name: String, values: Vec<f64> },
    /// `tape=3,2,1`
    Tape(String),
    /// `erases=64`
    Erases(u64),
    /// The way back misses the start, within the tolerance.
    Drifts,
    /// The way back misses the start by more.
    Unrestored,
}

/// A word about derivatives.
#[derive(Clone, Debug, PartialEq)]
pub enum DerivativeResult {
    /// `value~8`
    Value(Vec<f64>),
    /// `tape~1,2`
    Tape(Vec<f64>),
    /// `x~12`, `A[3]~1`
    By { name: String, values: Vec<f64> },
    /// `y,x~2`, of arrays the block, row after row.
    Entry { row: String, column: String, values: Vec<f64> },
    /// `drops=3`
    Drops(u64),
    /// `reported=1`
    Reported(u64),
    /// The gradient is not the derivative.
    Disagrees,
    /// The way back was made again with a history.
    Mended,
}

impl RunResult {
    pub(super) fn parse(word: &str) -> Result<RunResult, GrammarError> {
        if let Some((name, values)) = word.split_once('~') {
            return Ok(RunResult::Near { name: name.to_owned(), values: reals(values)? });
        }
        match word.split_once('=') {
            Some(("erases", bits)) => count(bits).map(RunResult::Erases),
            Some(("tape", values)) => Ok(RunResult::Tape(values.to_owned())),
            Some((name, values)) => {
                Ok(RunResult::Equals { name: name.to_owned(), values: values.to_owned() })
            }
            None if word == "drifts" => Ok(RunResult::Drifts),
            None if word == "unrestored" => Ok(RunResult::Unrestored),
            None => Err(GrammarError::NoResult(word.to_owned())),
        }
    }
}

impl DerivativeResult {
    pub(super) fn of_gradient(word: &str) -> Result<DerivativeResult, GrammarError> {
        match (word.split_once('~'), word.split_once('=')) {
            (Some(("value", values)), _) => reals(values).map(DerivativeResult::Value),
            (Some(("tape", values)), _) => reals(values).map(DerivativeResult::Tape),
            (Some((names, _)), _) if pair(names).is_some() => {
                Err(GrammarError::NoDerivative(names.to_owned()))
            }
            (Some((name, values)), _) => {
                Ok(DerivativeResult::By { name: name.to_owned(), values: reals(values)? })
            }
            (None, Some(("drops", drops))) => count(drops).map(DerivativeResult::Drops),
            (None, Some(("reported", reports))) => count(reports).map(DerivativeResult::Reported),
            _ if word == "disagrees" => Ok(DerivativeResult::Disagrees),
            _ if word == "mended" => Ok(DerivativeResult::Mended),
            _ => Err(GrammarError::NoDerivative(word.to_owned())),
        }
    }

    pub(super) fn of_matrix(word: &str) -> Result<DerivativeResult, GrammarError> {
        let named = word.split_once('~').and_then(|(names, values)| Some((pair(names)?, values)));
        let ((row, column), values) = named.ok_or_else(|| GrammarError::NoEntry(word.to_owned()))?;
        Ok(DerivativeResult::Entry { row: row.to_owned(), column: column.to_owned(), values: reals(values)? })
    }
}

/// The two names on the sides of a comma that stands in no brackets.
fn pair(names: &str) -> Option<(&str, &str)> {
    let is_between = |at: &usize| {
        let before = names.get(..*at).unwrap_or_default();
        before.matches('[').count() == before.matches(']').count()
    };
    let at = names.match_indices(',').map(|(at, _)| at).find(is_between)?;
    Some((names.get(..at)?, names.get(at + 1..)?))
}
