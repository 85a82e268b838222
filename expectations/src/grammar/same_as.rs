//! Comparison with a reference: `same as FILE on N random n in 0..1000, m in -5..5 seed 7`.

use super::GrammarError;
use super::numbers::{count, real, whole};

/// Expectation that a program has the same results as a reference program, on random inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct SameAs {
    /// The path of the reference, relative to the folder of the file that names it.
    pub reference: String,
    /// The number of runs of both programs.
    pub count: u64,
    /// The inputs with random values; other inputs have their defaults.
    pub inputs: Vec<DrawnInput>,
    /// The seed of the random numbers; 1 if the line has none.
    pub seed: u64,
}

/// An input with random values. If the input is an array, each element has its own random value.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnInput {
    /// The name of an input that both programs have, with the same shape.
    pub name: String,
    /// The inclusive lower bound.
    pub from: f64,
    /// The exclusive upper bound.
    pub to: f64,
    /// The bounds as integers, if both are integers.
    pub integers: Option<(i128, i128)>,
}

/// The seed of lines that don't specify one.
const USUAL_SEED: u64 = 1;

/// The maximum number of runs in a line. This limit bounds the time that a line takes, because all other limits apply
/// to each run separately.
const MOST_RUNS: u64 = 1_000_000;

pub(super) fn parse(text: &str) -> Result<SameAs, GrammarError> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = text.strip_prefix("same as ").ok_or(GrammarError::SameAs)?;
    let (reference, rest) = rest.split_once(" on ").ok_or(GrammarError::SameAs)?;
    let (runs, rest) = rest.split_once(" random ").ok_or(GrammarError::SameAs)?;
    let (inputs, seed) = match rest.rsplit_once(" seed ") {
        Some((inputs, seed)) => (inputs, self::seed(seed.trim())?),
        None => (rest, USUAL_SEED),
    };
    let count = count(runs)?;
    if count == 0 {
        return Err(GrammarError::NoRuns);
    }
    if count > MOST_RUNS {
        return Err(GrammarError::TooManyRuns(count, MOST_RUNS));
    }
    let inputs = inputs
        .trim_end()
        .trim_end_matches(',')
        .split(',')
        .map(|input| drawn(input.trim()))
        .collect::<Result<_, _>>()?;
    Ok(SameAs { reference: reference.trim().to_owned(), count, inputs, seed })
}

fn seed(text: &str) -> Result<u64, GrammarError> {
    count(text).map_err(|_| GrammarError::NoSeed(text.to_owned()))
}

/// Parses an input such as `n in 0..1000`.
fn drawn(text: &str) -> Result<DrawnInput, GrammarError> {
    let unread = || GrammarError::NoDraw(text.to_owned());
    let (name, range) = text.split_once(" in ").ok_or_else(unread)?;
    let (from, to) = range.trim().split_once("..").ok_or_else(unread)?;
    let (lower, upper) = (from.trim(), to.trim());
    let input = DrawnInput {
        name: name.trim().to_owned(),
        from: real(lower)?,
        to: real(upper)?,
        integers: whole(lower).zip(whole(upper)),
    };
    let is_finite = input.from.is_finite() && input.to.is_finite();
    let is_empty = input.integers.map_or(input.from >= input.to, |(from, to)| from >= to);
    if !is_finite || is_empty { Err(GrammarError::NoRange(range.trim().to_owned())) } else { Ok(input) }
}
