//! The inputs of a run: the words before the arrow.

use std::collections::BTreeSet;

use reviver_isa::module::{RealSystem, Word};

use super::GrammarError;

/// The inputs of a run: `n=10`, `A=3,1,2`, `tape=1,2`, `real=f64`, `word=8`, `exact`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenWords {
    /// Cells, arrays and stacks by name, with their values as text.
    pub cells: Vec<(String, Vec<String>)>,
    /// The values of the input tape as text, or for `back` those of the output tape. `None` if the line has no `tape=`.
    pub tape: Option<Vec<String>>,
    /// The number system that `real=` requests; `None` keeps the program's own.
    pub real: Option<RequestedReals>,
    /// The width of integers that `word=` requests; `None` keeps the program's own.
    pub word: Option<Word>,
    /// True if the run keeps a history of the bits that floats lose and that the program erases.
    pub exact: bool,
}

/// A number system that replaces the program's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedReals {
    /// Floats of 64 bits, `real=f64`.
    F64,
    /// Floats of 32 bits, `real=f32`.
    F32,
    /// Fixed point. A program in fixed point keeps its number of fraction bits; a program in floats gets the default
    /// number of fraction bits.
    Fixed,
}

impl RequestedReals {
    /// Returns the requested number system for a program whose own is `own`.
    pub fn over(self, own: RealSystem) -> RealSystem {
        match (self, own) {
            (RequestedReals::F64, _) => RealSystem::F64,
            (RequestedReals::F32, _) => RealSystem::F32,
            (RequestedReals::Fixed, RealSystem::Fixed(bits)) => RealSystem::Fixed(bits),
            (RequestedReals::Fixed, _) => RealSystem::Fixed(RealSystem::DEFAULT_FRACTION_BITS),
        }
    }
}

impl GivenWords {
    /// The word `exact`, which requests a history.
    pub const EXACT: &'static str = "exact";

    /// Parses the words before the arrow.
    ///
    /// # Errors
    /// A word that isn't an input, or an input that occurs twice.
    pub fn parse<'t>(words: impl IntoIterator<Item = &'t str>) -> Result<GivenWords, GrammarError> {
        let mut given = GivenWords::default();
        let mut names = BTreeSet::new();
        for word in words {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            if !names.insert(name) {
                return Err(GrammarError::GivenTwice(name.to_owned()));
            }
            match word.split_once('=') {
                None if word == GivenWords::EXACT => given.exact = true,
                None => return Err(GrammarError::NotGiven(word.to_owned())),
                Some((_, values)) if values.contains('=') => {
                    return Err(GrammarError::GivenTogether(word.to_owned()));
                }
                Some(("real", system)) => given.real = Some(real(system)?),
                Some(("word", bits)) => given.word = Some(width(bits)?),
                Some(("tape", values)) => given.tape = Some(texts(values)),
                Some((name, values)) => given.cells.push((name.to_owned(), texts(values))),
            }
        }
        Ok(given)
    }
}

/// Returns the comma-separated values of an input. The empty text, as in `path=`, is an empty stack.
fn texts(values: &str) -> Vec<String> {
    values.split(',').filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

fn real(system: &str) -> Result<RequestedReals, GrammarError> {
    match system {
        "f64" => Ok(RequestedReals::F64),
        "f32" => Ok(RequestedReals::F32),
        "fixed" => Ok(RequestedReals::Fixed),
        _ => Err(GrammarError::NoSystem(system.to_owned())),
    }
}

fn width(bits: &str) -> Result<Word, GrammarError> {
    let word = bits.parse().ok().and_then(Word::from_bits);
    word.ok_or_else(|| GrammarError::NoWord(bits.to_owned()))
}
