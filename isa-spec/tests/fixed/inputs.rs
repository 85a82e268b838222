//! Test inputs: random numbers of all magnitudes, and edges.

use crate::oracle::{PRECISION, Real, int, precise};

/// The numbers of fraction bits that are tested with the oracle.
pub const FRACS: [u32; 6] = [16, 24, 32, 43, 50, 56];

/// Marsaglia's xorshift64: the same inputs in every run.
pub struct Random(u64);

impl Random {
    pub fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// Returns any number; all bit lengths are equally likely.
    pub fn magnitude(&mut self) -> i64 {
        self.bits() as i64 >> self.below(64)
    }

    /// Returns a number of at most this magnitude; all bit lengths down to 1 are equally likely.
    pub fn within(&mut self, limit: i64) -> i64 {
        let limit = limit >> self.below(u64::from(limit.ilog2()) + 1);
        (self.bits() as i64) % (limit + 1)
    }
}

/// Returns numbers at which the behaviour of a function may change.
pub fn edges(frac: u32) -> Vec<i64> {
    let one = 1_i64 << frac;
    let mut edges = vec![0, i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1, i64::MAX / 2, i64::MIN / 2];
    for center in [one / 2, one, one + one / 2, 2 * one, 3 * one, 10 * one] {
        edges.extend([1, 2, center - 1, center, center + 1]);
    }
    let negative: Vec<i64> = edges.iter().map(|edge| edge.wrapping_neg()).collect();
    edges.extend(negative);
    edges
}

/// Returns a few numbers around each center.
pub fn around(centers: impl IntoIterator<Item = i64>) -> Vec<i64> {
    let near = |center: i64| (-4..=4).map(move |offset| center.saturating_add(offset));
    centers.into_iter().flat_map(near).collect()
}

/// Returns the numbers 0 < x < 2^63 nearest to multiples of pi/2 relative to their size: the numerators of
/// the convergents of pi/2 * 2^frac.
pub fn nearest_to_quarter_turns(frac: u32) -> Vec<i64> {
    let mut rest = precise(Real::pi(PRECISION)) << (frac as isize - 1);
    let (mut previous, mut current) = (0_i128, 1_i128);
    let mut numerators = Vec::new();
    loop {
        let whole = rest.clone().floor();
        let term = i128::try_from(whole.clone().to_int().value()).expect("a small term");
        (previous, current) = (current, term.saturating_mul(current).saturating_add(previous));
        match i64::try_from(current) {
            Ok(numerator) => numerators.push(numerator),
            Err(_) => return numerators,
        }
        rest = int(1) / (rest - whole);
    }
}
