//! Numbers that lanes are given, in the form in which somebody has them, and what they are in cells. Knows no names.

use std::borrow::Cow;

use reviver_isa::instruction::Class;
use reviver_isa::module::Word;

#[cfg(feature = "arrow")]
use super::arrow::columns::ArrowNumbers;
use crate::api::executable::Executable;
use crate::api::numbers::{put_bits, put_ints, put_reals};

/// Numbers of one column, or of the cells of a name.
#[derive(Clone, Debug)]
pub(super) enum GivenNumbers<'a> {
    Reals(Cow<'a, [f64]>),
    Ints(Cow<'a, [i64]>),
    Bits(Cow<'a, [u64]>),
    #[cfg(feature = "arrow")]
    Arrow(ArrowNumbers),
}

impl GivenNumbers<'_> {
    pub fn len(&self) -> usize {
        match self {
            GivenNumbers::Reals(values) => values.len(),
            GivenNumbers::Ints(values) => values.len(),
            GivenNumbers::Bits(values) => values.len(),
            #[cfg(feature = "arrow")]
            GivenNumbers::Arrow(values) => values.lanes(),
        }
    }

    /// The bits that a state has for these in cells of a class; or the index of the first that is no number there.
    pub fn bits(&self, executable: &Executable, class: Class) -> Result<Vec<u64>, usize> {
        let module = executable.program().module();
        let mut bits = vec![0; self.len()];
        match (self, class) {
            (GivenNumbers::Reals(values), Class::Real) => put_reals(module.real, values, &mut bits)?,
            (GivenNumbers::Bits(values), Class::Real) => put_bits(module.real, values, &mut bits)?,
            (GivenNumbers::Ints(values), Class::Int) => {
                into_words(module.word, values.iter().copied(), &mut bits)?
            }
            (GivenNumbers::Bits(values), Class::Int) => {
                into_words(module.word, values.iter().map(|&bits| bits as i64), &mut bits)?;
            }
            #[cfg(feature = "arrow")]
            (GivenNumbers::Arrow(values), class) => {
                return values.bits(executable.program(), class, 0..values.lanes());
            }
            (GivenNumbers::Reals(_), Class::Int) | (GivenNumbers::Ints(_), Class::Real) => return Err(0),
        }
        Ok(bits)
    }

    /// One of them, for errors.
    pub fn text(&self, at: usize) -> String {
        let text = match self {
            GivenNumbers::Reals(values) => values.get(at).map(|value| format!("{value:?}")),
            GivenNumbers::Ints(values) => values.get(at).map(i64::to_string),
            GivenNumbers::Bits(values) => values.get(at).map(|bits| format!("the bits {bits:#x}")),
            #[cfg(feature = "arrow")]
            GivenNumbers::Arrow(values) => Some(values.text(at)),
        };
        text.unwrap_or_default()
    }

    pub fn is_of(&self, class: Class) -> bool {
        match self {
            GivenNumbers::Reals(_) => class == Class::Real,
            GivenNumbers::Ints(_) => class == Class::Int,
            GivenNumbers::Bits(_) => true,
            #[cfg(feature = "arrow")]
            GivenNumbers::Arrow(values) => values.is_of(class),
        }
    }
}

fn into_words(word: Word, values: impl Iterator<Item = i64>, bits: &mut [u64]) -> Result<(), usize> {
    let values: Vec<i64> = values.collect();
    let mut words = vec![0; values.len()];
    put_ints(word, &values, &mut words)?;
    bits.iter_mut().zip(words).for_each(|(bits, word)| *bits = word as u64);
    Ok(())
}
