//! Evidence about a reverse sweep that compiled code collects while it runs, and the verdict on it. The bounds are those of
//! [`super::astray`], which verifies the sweeps of machines.

use crate::program::Program;
use crate::state::values::Value;
use crate::watch::{Rounding, Watch};

use super::astray::{is_outweighed, is_small, largest, last_place};
use super::seeds::SumSize;

/// Evidence of a primal and a reverse sweep in floats, apart from branches and freed cells, which a [`Watch`] records.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct SweepEvidence {
    /// The greatest magnitude of a real at the turning point, of those that code has compared.
    pub largest: f64,
    /// The greatest difference between a real at the start and the same cell after the reverse sweep.
    pub missed: f64,
    /// Σ |difference·adjoint| over the cells that differ: the effect of all differences on the loss, to first order.
    pub error: f64,
}

impl SweepEvidence {
    /// Records a real that the reverse sweep restored to another number, with its adjoint. Returns false if the cell lost
    /// more digits than rounding explains; the reverse sweep is wrong then.
    pub fn miss(&mut self, [from, to]: [f64; 2], adjoint: f64, rounding: Rounding) -> bool {
        let by = (to - from).abs();
        self.missed = if by > self.missed { by } else { self.missed };
        self.error += ((to - from) * adjoint).abs();
        // Not a number is never within the bound.
        from == 0.0 || by <= from.abs() * rounding.part
    }

    /// The error bound of the seeded sum if the reverse sweep is verified. None is no verdict against the sweep: code may have missed
    /// the largest number, and a machine decides then. `start` are the reals at the start, with their adjoints after the sweep.
    pub fn verified(
        &self,
        program: &Program,
        watch: &Watch,
        (start, adjoints): (&[u64], &[u64]),
        sum: SumSize,
    ) -> Option<f64> {
        if !watch.is_same_way() {
            return None;
        }
        let error = watch.error() + self.error;
        // Nothing was freed, and every cell has its bits again.
        if error == 0.0 && self.missed == 0.0 && !watch.has_freed() {
            return Some(0.0);
        }
        let rounding = Rounding::of(program.module().real);
        let ulp = last_place(program, self.largest.max(largest(program, start)));
        let number = |bits: u64| program.approximate(Value::Real(bits));
        let terms = || start.iter().zip(adjoints).map(|(&x, &bar)| (number(x) * number(bar)).abs()).sum();
        let freed = watch.unexplained(rounding, ulp).is_some();
        let is_explained = self.missed <= rounding.ulps * ulp
            && (!freed || is_outweighed(rounding.of_freed, error, sum.terms, terms))
            && is_small(rounding, ulp, error, sum, terms);
        is_explained.then_some(error)
    }
}
