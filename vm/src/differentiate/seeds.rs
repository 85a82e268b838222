//! Seeds: the adjoints of real cells where a reverse sweep begins. A loss has the seed 1. Other seeds give the gradient of the seeded
//! sum Σ seed·value, which is a vector–Jacobian product. Makes no step.

use reviver_isa::number::literal_bits;
use serde::{Deserialize, Serialize};

use crate::program::Program;
use crate::room::{self, OutOfMemory};
use crate::state::values::Value;

use super::{DifferentiateError, Subject, Variable};

/// A real cell and its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeededCell {
    /// The offset of the cell among the reals.
    pub cell: usize,
    /// The seed, as bits of the number system.
    pub seed: u64,
}

impl SeededCell {
    /// A cell with the bits of its seed. A seed of -0 becomes 0: compiled code relies on no adjoint being -0 where a reverse sweep begins.
    pub fn new(program: &Program, cell: usize, seed: u64) -> SeededCell {
        let is_zero = program.approximate(Value::Real(seed)) == 0.0;
        SeededCell { cell, seed: if is_zero { 0 } else { seed } }
    }

    /// A loss: a cell whose seed is 1.
    #[inline]
    pub fn loss(program: &Program, cell: usize) -> SeededCell {
        SeededCell { cell, seed: literal_bits(program.module().real, 1.0) }
    }

    /// The seed as a number.
    #[inline]
    pub fn weight(self, program: &Program) -> f64 {
        program.approximate(Value::Real(self.seed))
    }
}

impl Subject {
    /// The seeds of a loss alone.
    ///
    /// # Errors
    /// The loss is a value of a stack, which is no cell; no memory for the list.
    pub fn seeds_of(&self, loss: &Variable) -> Result<Vec<SeededCell>, DifferentiateError> {
        let cell = self.cell(loss)?;
        Ok(room::mapped(&[cell], |&cell| SeededCell::loss(&self.program, cell))?)
    }
}

/// The sum of seed times value, in binary64 whatever the number system is. `values` are the bits of the cells.
#[inline]
pub fn seeded_sum(program: &Program, seeds: &[SeededCell], values: &[u64]) -> f64 {
    let terms = seeds.iter().zip(values);
    // The sum begins with its first term, so that a loss that is -0 stays -0.
    terms
        .map(|(seed, &bits)| seed.weight(program) * program.approximate(Value::Real(bits)))
        .reduce(|sum, term| sum + term)
        .unwrap_or(0.0)
}

/// The size of a seeded sum, which errors of the sum are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SumSize {
    /// Σ |seed·value|: results that cancel in the sum keep their size.
    pub terms: f64,
    /// The greatest |seed|.
    pub seed: f64,
}

impl SumSize {
    /// Of a loss alone.
    #[inline]
    pub fn of_loss(value: f64) -> SumSize {
        SumSize { terms: value.abs(), seed: 1.0 }
    }

    /// Of some seeds; `values` are the bits of the cells.
    #[inline]
    pub fn of(program: &Program, seeds: &[SeededCell], values: &[u64]) -> SumSize {
        seeds.iter().zip(values).fold(SumSize::default(), |size, (seed, &bits)| {
            let weight = seed.weight(program);
            size.with(weight, program.approximate(Value::Real(bits)))
        })
    }

    /// With one term more.
    #[inline]
    pub fn with(self, seed: f64, value: f64) -> SumSize {
        SumSize { terms: self.terms + (seed * value).abs(), seed: self.seed.max(seed.abs()) }
    }
}

/// The offsets of the cells of several lists of seeds.
pub(super) fn cells_of(outputs: &[Vec<SeededCell>]) -> Result<Vec<usize>, OutOfMemory> {
    let mut cells = room::with_capacity(outputs.iter().map(Vec::len).sum())?;
    cells.extend(outputs.iter().flatten().map(|seed| seed.cell));
    Ok(cells)
}
