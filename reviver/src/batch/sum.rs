//! Pairwise sums over lanes, along a fixed tree of lane numbers: lanes 2k and 2k + 1 are added, then pairs of pairs,
//! and so on. Incomplete subtrees at the end are added from the last to the first. So the bits of a sum don't depend
//! on threads, blocks or device.

use reviver_isa::module::RealSystem;
use reviver_isa::number::{F32, F64, FixedPoint, Reals};

/// Sum over all lanes, as bits of the program's reals, with the name of its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumOverLanes {
    /// Name of the column, such as `cost` or `w'`.
    pub name: String,
    /// True for a derivative by a shared input, false for a value.
    pub is_derivative: bool,
    /// Bits of the sum in the program's number system.
    pub bits: u64,
}

/// Sum of one number over the lanes so far.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneSum {
    /// Complete subtrees, larger ones first. Each has log₂ of its number of lanes, and the sum over these lanes.
    parts: Vec<(u32, u64)>,
}

/// Error of a sum that exceeds the range of the number system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

impl LaneSum {
    /// Adds the numbers of the next lanes.
    pub fn add(&mut self, system: RealSystem, lanes: &[u64]) -> Result<(), TooLarge> {
        match system {
            RealSystem::F64 => self.add_in(F64, lanes),
            RealSystem::F32 => self.add_in(F32, lanes),
            RealSystem::Fixed(bits) => self.add_in(FixedPoint::new(bits), lanes),
        }
    }

    fn add_in<R: Reals<Bits = u64>>(&mut self, reals: R, lanes: &[u64]) -> Result<(), TooLarge> {
        for &bits in lanes {
            let mut part = (0, bits);
            while let Some(&(level, sum)) = self.parts.last().filter(|last| last.0 == part.0) {
                self.parts.pop();
                part = (level + 1, added(reals, sum, part.1)?);
            }
            self.parts.push(part);
        }
        Ok(())
    }

    /// Returns the total; 0 for no lanes.
    pub fn total(&self, system: RealSystem) -> Result<u64, TooLarge> {
        match system {
            RealSystem::F64 => self.total_in(F64),
            RealSystem::F32 => self.total_in(F32),
            RealSystem::Fixed(bits) => self.total_in(FixedPoint::new(bits)),
        }
    }

    fn total_in<R: Reals<Bits = u64>>(&self, reals: R) -> Result<u64, TooLarge> {
        let mut parts = self.parts.iter().rev().map(|(_, sum)| *sum);
        let last = parts.next().unwrap_or(0);
        parts.try_fold(last, |right, left| added(reals, left, right))
    }
}

fn added<R: Reals<Bits = u64>>(reals: R, left: u64, right: u64) -> Result<u64, TooLarge> {
    let sum = reals.add(reals.of_bits(left), reals.of_bits(right)).and_then(|sum| reals.admit(sum));
    sum.map(|sum| reals.to_bits(sum)).map_err(|_| TooLarge)
}
