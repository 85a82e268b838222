//! Lane inputs in the caller's number types, and their conversion to bits of cells. This module uses no cell names.

use std::borrow::Cow;

use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

#[cfg(feature = "arrow")]
use super::arrow::columns::ArrowNumbers;
use crate::executable::Executable;
use crate::numbers::{check_bits, check_ints, put_reals};

/// Numbers for one cell in each lane, or for all cells of a shared name.
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

    /// Returns the bits that a state stores for these numbers in cells of class `class`. If the numbers are such bits
    /// already, borrows them instead of copying. The error is the index of the first number that the class can't
    /// represent.
    pub fn bits(&self, executable: &Executable, class: Class) -> Result<Cow<'_, [u64]>, usize> {
        let module = executable.program().module();
        match (self, class) {
            (GivenNumbers::Reals(values), Class::Real) if module.real == RealSystem::F64 => {
                let bits = bytemuck::cast_slice(values);
                check_bits(module.real, bits)?;
                Ok(Cow::Borrowed(bits))
            }
            (GivenNumbers::Reals(values), Class::Real) => {
                let mut bits = vec![0; values.len()];
                put_reals(module.real, values, &mut bits)?;
                Ok(Cow::Owned(bits))
            }
            (GivenNumbers::Bits(bits), Class::Real) => {
                check_bits(module.real, bits)?;
                Ok(Cow::Borrowed(bits))
            }
            (GivenNumbers::Ints(values), Class::Int) => {
                check_ints(module.word, values)?;
                Ok(Cow::Borrowed(bytemuck::cast_slice(values)))
            }
            (GivenNumbers::Bits(bits), Class::Int) => {
                check_ints(module.word, bytemuck::cast_slice(bits))?;
                Ok(Cow::Borrowed(bits))
            }
            #[cfg(feature = "arrow")]
            (GivenNumbers::Arrow(values), class) => {
                values.bits(executable.program(), class, 0..values.lanes()).map(Cow::Owned)
            }
            (GivenNumbers::Reals(_), Class::Int) | (GivenNumbers::Ints(_), Class::Real) => Err(0),
        }
    }

    /// Formats one of the numbers, for error messages.
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
            GivenNumbers::Arrow(_) => true,
        }
    }
}
