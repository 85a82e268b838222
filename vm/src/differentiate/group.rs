//! Evidence about the reverse sweeps of a SIMD group, and the verdict on each lane. The bounds are those of
//! [`super::evidence`]. Numbers are in binary64.

use reviver_isa::module::RealSystem;
use reviver_isa::number::{F64, Reals};

use crate::watch::Rounding;

use super::evidence::{MOST_ROWS, RowErrors, SweepErrors};
use super::seeds::{SeededCell, SumSize};

/// Number of lanes in a group.
pub const GROUP: usize = 4;

/// The numbers of one cell, one for each lane.
pub type InGroup<T> = [T; GROUP];

/// Evidence about the gradients of a group; [`super::evidence::SweepEvidence`] is the evidence about a single lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct GroupEvidence {
    /// Greatest magnitude at the turning point among the reals that are SSA values of the code.
    pub largest: InGroup<f64>,
    /// Greatest magnitude of a freed cell.
    pub freed: InGroup<f64>,
    /// Greatest difference between a real at the start and the same cell after the reverse sweep.
    pub missed: InGroup<f64>,
    /// Σ |value·adjoint| over freed cells, for each row.
    pub freed_errors: [InGroup<f64>; MOST_ROWS],
    /// Σ |difference·adjoint| over cells that differ from the start, for each row.
    pub missed_errors: [InGroup<f64>; MOST_ROWS],
}

impl GroupEvidence {
    /// Returns true if all lanes of a row are verified. `start` has the reals at the start, `largest` their greatest
    /// magnitude in each lane, and `adjoints` their adjoints after the sweep.
    pub fn is_verified(
        &self,
        largest: InGroup<f64>,
        (start, adjoints): (&[InGroup<u64>], &[InGroup<u64>]),
        (row, sums): (usize, InGroup<SumSize>),
    ) -> bool {
        let rounding = Rounding::of(RealSystem::F64);
        (0..GROUP).all(|lane| {
            let errors = self.errors(row, lane);
            let error = errors.freed + errors.missed;
            let (freed, missed, sum) = (self.freed[lane], self.missed[lane], sums[lane]);
            if error == 0.0 && missed == 0.0 && freed == 0.0 {
                return true;
            }
            let ulp = F64.ulp(self.largest[lane].max(largest[lane]));
            let terms = || size(start, adjoints, lane);
            // Code for a single lane accepts a larger freed number if it has few digits. Code for a group doesn't count
            // digits, so the smaller bound applies.
            let has_freed = freed > rounding.few_ulps * ulp;
            SweepErrors { missed, has_freed, error }.are_rounding((rounding, ulp), sum, terms)
        })
    }

    fn errors(&self, row: usize, lane: usize) -> RowErrors {
        let of = |all: &[InGroup<f64>]| all.get(row).map_or(f64::INFINITY, |errors| errors[lane]);
        RowErrors { missed: of(&self.missed_errors), freed: of(&self.freed_errors) }
    }
}

/// Returns Σ |x·x'| over the reals x of a lane at the start, where x' is the adjoint of x. The error of the lane's loss
/// is compared with this sum.
fn size(start: &[InGroup<u64>], adjoints: &[InGroup<u64>], lane: usize) -> f64 {
    let terms = start.iter().zip(adjoints);
    terms.map(|(x, bar)| (f64::from_bits(x[lane]) * f64::from_bits(bar[lane])).abs()).sum()
}

/// Returns the size of a row's seeded sum in each lane; `values` has the bits of its cells.
#[inline]
pub fn sum_sizes(seeds: &[SeededCell], values: &[InGroup<u64>]) -> InGroup<SumSize> {
    std::array::from_fn(|lane| {
        seeds.iter().zip(values).fold(SumSize::default(), |size, (seed, bits)| {
            size.with(f64::from_bits(seed.seed), f64::from_bits(bits[lane]))
        })
    })
}
