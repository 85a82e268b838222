//! A small deterministic random number generator: one seed means one program, on every platform and
//! in every later version, so that a seed in a failure report stays good. Knows nothing of programs.

use std::ops::RangeInclusive;

/// SplitMix64: a counter, and a bijection that stirs it.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// Within a range that holds fewer than 2⁶³ integers.
    pub fn within(&mut self, range: RangeInclusive<i64>) -> i64 {
        let span = range.end().wrapping_sub(*range.start()) as u64 + 1;
        range.start().wrapping_add((self.bits() % span) as i64)
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent as usize
    }

    /// One of a slice that isn't empty.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
