//! Seeds: the adjoints of real cells at the start of a reverse sweep. A loss has the seed 1. Other seeds give the
//! gradient of the seeded sum Σ seed·value, which is a vector–Jacobian product. This module executes no step.

use reviver_isa::number::literal_bits;
use serde::{Deserialize, Serialize};

use crate::allocation::{self, OutOfMemory};
use crate::program::Program;
use crate::state::values::Value;

use super::{DifferentiateError, Subject, Variable};

/// Real cell with its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeededCell {
    /// Offset of the cell among the reals.
    pub cell: usize,
    /// Seed as bits of the number system.
    pub seed: u64,
}

impl SeededCell {
    /// Creates a seed from its bits. A seed of -0 becomes 0: compiled code assumes that no adjoint is -0 at the start
    /// of a reverse sweep.
    pub fn new(program: &Program, cell: usize, seed: u64) -> SeededCell {
        let is_zero = program.approximate(Value::Real(seed)) == 0.0;
        SeededCell { cell, seed: if is_zero { 0 } else { seed } }
    }

    /// Creates the seed of a loss, which is 1.
    #[inline]
    pub fn loss(program: &Program, cell: usize) -> SeededCell {
        SeededCell { cell, seed: literal_bits(program.module().real, 1.0) }
    }

    /// Returns the seed as a binary64 number.
    #[inline]
    pub fn weight(self, program: &Program) -> f64 {
        program.approximate(Value::Real(self.seed))
    }
}

impl Subject {
    /// Returns the seeds of a single loss.
    ///
    /// # Errors
    /// The loss is a value on a stack, which is not a cell, or memory for the list is refused.
    pub fn seeds_of(&self, loss: &Variable) -> Result<Vec<SeededCell>, DifferentiateError> {
        let cell = self.cell(loss)?;
        Ok(allocation::mapped(&[cell], |&cell| SeededCell::loss(&self.program, cell))?)
    }
}

/// Returns Σ seed·value in binary64 for any number system. `values` are the bits of the cells.
#[inline]
pub fn seeded_sum(program: &Program, seeds: &[SeededCell], values: &[u64]) -> f64 {
    let terms = seeds.iter().zip(values);
    // The sum begins with its first term, so that a loss of -0 stays -0.
    terms
        .map(|(seed, &bits)| seed.weight(program) * program.approximate(Value::Real(bits)))
        .reduce(|sum, term| sum + term)
        .unwrap_or(0.0)
}

/// Size of a seeded sum. Errors of the sum are compared with this size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SumSize {
    /// Σ |seed·value|: terms that cancel in the sum keep their size.
    pub terms: f64,
    /// Largest |seed| of all cells.
    pub seed: f64,
}

impl SumSize {
    /// Returns the size of a single loss.
    #[inline]
    pub fn of_loss(value: f64) -> SumSize {
        SumSize { terms: value.abs(), seed: 1.0 }
    }

    /// Returns the size of a seeded sum; `values` are the bits of the cells.
    #[inline]
    pub fn of(program: &Program, seeds: &[SeededCell], values: &[u64]) -> SumSize {
        seeds.iter().zip(values).fold(SumSize::default(), |size, (seed, &bits)| {
            let weight = seed.weight(program);
            size.with(weight, program.approximate(Value::Real(bits)))
        })
    }

    /// Returns the size with one more term.
    #[inline]
    pub fn with(self, seed: f64, value: f64) -> SumSize {
        SumSize { terms: self.terms + (seed * value).abs(), seed: self.seed.max(seed.abs()) }
    }
}

/// Returns the cell offsets of several lists of seeds.
pub(super) fn cells_of(outputs: &[Vec<SeededCell>]) -> Result<Vec<usize>, OutOfMemory> {
    let mut cells = allocation::with_capacity(outputs.iter().map(Vec::len).sum())?;
    cells.extend(outputs.iter().flatten().map(|seed| seed.cell));
    Ok(cells)
}
