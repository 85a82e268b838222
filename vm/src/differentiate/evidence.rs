//! Evidence that compiled code collects about its reverse sweep, and the verdict on the sweep. The bounds are those of
//! [`super::divergence`], which verifies the sweeps of machines.

use crate::program::Program;
use crate::state::values::Value;
use crate::watch::{Rounding, Watch};

use super::divergence::{is_outweighed, is_small, largest, last_place};
use super::seeds::SumSize;

/// Evidence about the reverse sweep of a gradient in floats. In addition, a [`Watch`] records branches and freed cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct SweepEvidence {
    /// The greatest magnitude at the turning point, among the reals that the code holds in SSA values.
    pub largest: f64,
    /// The greatest difference between a real at the start and the same cell after the reverse sweep.
    pub missed: f64,
    /// The effect of errors on each row's loss, to first order.
    pub errors: [RowErrors; MOST_ROWS],
}

/// The effect of a reverse sweep's errors on one loss, to first order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct RowErrors {
    /// Σ |difference·adjoint| over the cells that differ from the start.
    pub missed: f64,
    /// Σ |value·adjoint| over freed cells. For the first row, [`Watch::error`] has this sum instead.
    pub freed: f64,
}

/// Maximum number of losses that share a reverse sweep.
pub const MOST_ROWS: usize = 4;

impl SweepEvidence {
    /// Records a real that the reverse sweep restored inexactly. `from` is its number at the start, `to` its number
    /// after the sweep, and `adjoint` its adjoint for the loss of `row`. Returns false if rounding doesn't explain the
    /// difference; the reverse sweep has diverged then.
    pub fn miss(&mut self, [from, to]: [f64; 2], (row, adjoint): (u32, f64), rounding: &Rounding) -> bool {
        let by = (to - from).abs();
        self.missed = if by > self.missed { by } else { self.missed };
        if let Some(errors) = self.errors.get_mut(row as usize) {
            errors.missed += ((to - from) * adjoint).abs();
        }
        // A NaN is never within the bound.
        from == 0.0 || by <= from.abs() * rounding.part
    }

    /// Adds the effect of a freed cell, |value·adjoint|, to the sum of the row `row`. `adjoint` is the adjoint for the
    /// loss of this row. The effect on the loss of the first row isn't added here, because [`Watch::error`] has that
    /// sum.
    pub fn freed(&mut self, value: f64, (row, adjoint): (u32, f64)) {
        if value != 0.0
            && let Some(errors) = self.errors.get_mut(row as usize)
        {
            errors.freed += (value * adjoint).abs();
        }
    }

    /// Returns the error bound of a row's seeded sum if the reverse sweep is verified, otherwise `None`. If the result
    /// is `None`, the sweep may still be correct, because compiled code doesn't search memory for the largest number.
    /// So the caller repeats the gradient with a machine. `start` has the reals at the start, and `adjoints` their
    /// adjoints after the sweep.
    pub fn verified(
        &self,
        program: &Program,
        watch: &Watch,
        (start, adjoints): (&[u64], &[u64]),
        (row, sum): (usize, SumSize),
    ) -> Option<f64> {
        if !watch.has_same_path() {
            return None;
        }
        let errors = self.errors.get(row).copied()?;
        let freed_error = if row == 0 { watch.error() } else { errors.freed };
        let error = freed_error + errors.missed;
        // No cell was freed, and the sweep restored all bits.
        if error == 0.0 && self.missed == 0.0 && !watch.has_freed() {
            return Some(0.0);
        }
        let rounding = Rounding::of(program.module().real);
        let ulp = last_place(program, self.largest.max(largest(program, start)));
        let number = |bits: u64| program.approximate(Value::Real(bits));
        let terms = || start.iter().zip(adjoints).map(|(&x, &bar)| (number(x) * number(bar)).abs()).sum();
        let has_freed = watch.unexplained(rounding, ulp).is_some();
        let errors = SweepErrors { missed: self.missed, has_freed, error };
        errors.are_rounding((rounding, ulp), sum, terms).then_some(error)
    }
}

/// The errors of a reverse sweep.
pub(super) struct SweepErrors {
    /// The greatest difference between a real at the start and after the sweep.
    pub missed: f64,
    /// True if a freed cell held a number that is further from 0 than rounding explains.
    pub has_freed: bool,
    /// The error of the loss, to first order.
    pub error: f64,
}

impl SweepErrors {
    /// Returns true if rounding explains the errors. `ulp` is the unit in the last place of the program's largest
    /// number, and `terms` computes the loss's size to first order.
    pub fn are_rounding(
        &self,
        (rounding, ulp): (&Rounding, f64),
        sum: SumSize,
        terms: impl Fn() -> f64,
    ) -> bool {
        self.missed <= rounding.ulps * ulp
            && (!self.has_freed || is_outweighed(rounding.of_freed, self.error, sum.terms, &terms))
            && is_small(rounding, ulp, self.error, sum, terms)
    }
}
