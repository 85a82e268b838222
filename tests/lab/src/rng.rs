//! Small deterministic random number generator. A seed gives the same program on every platform and in every later
//! version, so seeds in failure reports stay valid.

use std::ops::RangeInclusive;

/// SplitMix64 generator: a counter whose values are mixed by a bijection.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// Returns a number in a range of fewer than 2⁶³ integers.
    pub fn within(&mut self, range: RangeInclusive<i64>) -> i64 {
        let span = range.end().wrapping_sub(*range.start()) as u64 + 1;
        range.start().wrapping_add((self.bits() % span) as i64)
    }

    /// Returns true with a probability of `percent` percent.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent as usize
    }

    /// Returns a random element of a nonempty slice.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
