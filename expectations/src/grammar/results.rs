//! The expected results of a run or a derivative: the words after the arrow.

use super::GrammarError;
use super::numbers::{count, reals};

/// A result word of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunResult {
    /// Exact values: `a=55`, `A=1,2,3`.
    Equals {
        /// The name of a cell, an array or a stack.
        name: String,
        /// The values as text, separated by commas; empty for an empty stack.
        values: String,
    },
    /// Values that agree to 9 digits: `x~0.5`.
    Near {
        /// The name of a cell or an array.
        name: String,
        /// The expected values, in the order of the cells.
        values: Vec<f64>,
    },
    /// The resulting tape: `tape=3,2,1`.
    Tape(String),
    /// The number of erased bits: `erases=64`.
    Erases(u64),
    /// The backward run doesn't restore the initial state exactly, but within the tolerance.
    Drifts,
    /// The backward run doesn't restore the initial state within the tolerance.
    Unrestored,
}

/// A result word of a derivative.
#[derive(Clone, Debug, PartialEq)]
pub enum DerivativeResult {
    /// The value of the loss: `value~8`.
    Value(Vec<f64>),
    /// The adjoints of the tape: `tape~1,2`.
    Tape(Vec<f64>),
    /// The adjoints of an input: `x~12`, `A[3]~1`.
    By {
        /// The name of a cell, an array, or an element such as `A[3]`.
        name: String,
        /// The expected adjoints, in the order of the cells.
        values: Vec<f64>,
    },
    /// An entry of a matrix: `y,x~2`. For arrays it is a block, row after row.
    Entry {
        /// The variable of the rows: an output of a Jacobian, or an input of a Hessian.
        row: String,
        /// The variable of the columns, which is an input.
        column: String,
        /// The expected entries of the block.
        values: Vec<f64>,
    },
    /// The number of dropped adjoints: `drops=3`.
    Drops(u64),
    /// The number of reports about lost values: `reported=1`.
    Reported(u64),
    /// The gradient differs from the derivative that tangents and finite differences compute.
    Disagrees,
    /// The reverse sweep was repeated with a history.
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

/// Splits a text at the first comma outside of brackets: `A[1,2],x` are `A[1,2]` and `x`.
fn pair(names: &str) -> Option<(&str, &str)> {
    let is_between = |at: &usize| {
        let before = names.get(..*at).unwrap_or_default();
        before.matches('[').count() == before.matches(']').count()
    };
    let at = names.match_indices(',').map(|(at, _)| at).find(is_between)?;
    Some((names.get(..at)?, names.get(at + 1..)?))
}
