//! The arithmetic inside the elementary functions: unsigned 128-bit values made of
//! 64x64-to-128-bit products.
//!
//! Three formats, told apart by the position of the binary point:
//! - a *fraction* has 128 fraction bits and lies in [0, 1);
//! - a *unit* has 127 fraction bits and lies in [0, 2);
//! - an *angle* or a logarithm has 120 fraction bits ([`ANGLE_BITS`]).
//!
//! The product of a fraction with any format, taken by [`mul_high`], is again in that format.
//! This module knows no function of analysis; it evaluates the series it is given.

use crate::fault::{Eval, Fault};

/// 1 as a unit.
pub(super) const ONE: u128 = 1 << UNIT_BITS;

/// The fraction bits of a unit.
pub(super) const UNIT_BITS: u32 = 127;

/// The fraction bits of angles, logarithms and arguments of the exponential.
pub(super) const ANGLE_BITS: u32 = 120;

/// The lower limb of a 128-bit value.
const LOW: u128 = u64::MAX as u128;

/// The upper 128 bits of a product, at most 3 units too small: the lowest partial product and
/// the carries out of the lower half are left out. Exact if `a` and `b` fit their upper limbs.
#[inline]
pub(super) fn mul_high(a: u128, b: u128) -> u128 {
    let (a1, a0) = (a >> 64, a & LOW);
    let (b1, b0) = (b >> 64, b & LOW);
    a1 * b1 + ((a1 * b0) >> 64) + ((a0 * b1) >> 64)
}

/// `value / 2^shift`, to nearest, ties to even. Any shift is allowed.
#[inline]
pub(super) fn round_shift(value: u128, shift: u32) -> u128 {
    const HALF: u128 = 1 << 127;
    match shift {
        0 => value,
        1..=127 => {
            let floor = value >> shift;
            let rest = value << (128 - shift);
            let up = rest > HALF || (rest == HALF && floor & 1 == 1);
            floor + u128::from(up)
        }
        128 => u128::from(value > HALF),
        _ => 0,
    }
}

/// `product / 2^shift` for 1 <= shift <= 126, to nearest, ties to even. The magnitude of the
/// product is at most 2^126, as that of two `i64`.
#[inline]
pub(super) fn round_product(product: i128, shift: u32) -> i128 {
    let below_half = (1 << (shift - 1)) - 1;
    let odd = (product >> shift) & 1;
    (product + below_half + odd) >> shift
}

/// A magnitude with its sign, if it fits.
#[inline]
pub(super) fn signed(magnitude: u128, negative: bool) -> Eval<i64> {
    let magnitude = u64::try_from(magnitude).map_err(|_| Fault::Overflow)?;
    let value =
        if negative { 0_i64.checked_sub_unsigned(magnitude) } else { 0_i64.checked_add_unsigned(magnitude) };
    value.ok_or(Fault::Overflow)
}

/// A magnitude with its sign, where the function's range says that it fits: below 2^63.
#[inline]
pub(super) fn signed_small(magnitude: u128, negative: bool) -> i64 {
    let value = magnitude as i64;
    if negative { -value } else { value }
}

/// c0 + c1 z + c2 z^2 + ..., of a fraction z and units c, by Horner's rule. The sum must stay
/// below 2; the error is below 3 units in the last place over 1 - z.
#[inline]
pub(super) fn series_plus<const N: usize>(z: u128, coefficients: &[u128; N]) -> u128 {
    coefficients.iter().rev().fold(0, |sum, c| c + mul_high(z, sum))
}

/// c0 - c1 z + c2 z^2 - ..., of a fraction z and units c which do not grow. Every inner sum is
/// then positive, and no sign is needed.
#[inline]
pub(super) fn series_minus<const N: usize>(z: u128, coefficients: &[u128; N]) -> u128 {
    coefficients.iter().rev().fold(0, |sum, c| c - mul_high(z, sum))
}

/// n / d as a fraction, rounded down; n < d.
#[inline]
pub(super) fn fraction(n: u128, d: u128) -> u128 {
    let shift = d.leading_zeros();
    let (n, d) = (n << shift, d << shift);
    let (high, rest) = quotient_limb(n, d);
    let (low, _) = quotient_limb(rest, d);
    high << 64 | low
}

/// The next 64 bits of n / d, and the remainder; n < d and d has its top bit set. This is a
/// step of the schoolbook division in base 2^64: Knuth, TAOCP volume 2, 4.3.1, algorithm D.
#[inline]
fn quotient_limb(n: u128, d: u128) -> (u128, u128) {
    let (d1, d0) = (d >> 64, d & LOW);
    let mut limb = n / d1;
    let mut rest = n - limb * d1;
    // The estimate is at most 2 too large; limb * d0 is looked at only when it cannot overflow.
    while rest <= LOW && (limb > LOW || limb * d0 > rest << 64) {
        limb -= 1;
        rest += d1;
    }
    // The true remainder is below d, so the bits which are lost on both sides agree.
    (limb, (rest << 64).wrapping_sub(limb.wrapping_mul(d0)))
}

/// A real number >= 0 of any magnitude: `mantissa * 2^exponent`. The mantissa is 0 or has its
/// top bit set.
#[derive(Clone, Copy)]
pub(super) struct Scaled {
    mantissa: u128,
    exponent: i32,
}

impl Scaled {
    /// `mantissa * 2^exponent`, for any mantissa.
    #[inline]
    pub(super) fn new(mantissa: u128, exponent: i32) -> Self {
        let shift = mantissa.leading_zeros();
        match mantissa.checked_shl(shift) {
            Some(mantissa) => Self { mantissa, exponent: exponent - shift as i32 },
            None => Self { mantissa: 0, exponent: 0 },
        }
    }

    /// n / d for any n and any d > 0.
    #[inline]
    pub(super) fn ratio(n: u128, d: u128) -> Self {
        let n = Self::new(n, 0);
        let d = Self::new(d, 0);
        // Half the mantissa of n is surely below that of d.
        let quotient = fraction(n.mantissa >> 1, d.mantissa);
        Self::new(quotient, n.exponent - d.exponent + 1 - 128)
    }

    /// 1 / self, for self > 0.
    #[inline]
    pub(super) fn reciprocal(self) -> Self {
        let inverse = Self::ratio(1, self.mantissa);
        Self { exponent: inverse.exponent - self.exponent, ..inverse }
    }

    /// The product, at most a relative 2^-124 too small.
    #[inline]
    pub(super) fn times(self, other: Self) -> Self {
        let mantissa = mul_high(self.mantissa, other.mantissa);
        Self::new(mantissa, self.exponent + other.exponent + 128)
    }

    /// The binary logarithm of self > 0, rounded down.
    #[inline]
    pub(super) fn magnitude(self) -> i32 {
        self.exponent + 127
    }

    /// The nearest fixed-point number, with a sign; Overflow if it does not fit.
    #[inline]
    pub(super) fn to_fixed(self, frac: u32, negative: bool) -> Eval<i64> {
        self.to_magnitude(frac).and_then(|magnitude| signed(magnitude, negative))
    }

    /// The nearest number of ulps; Overflow if 128 bits don't hold it.
    #[inline]
    pub(super) fn to_magnitude(self, frac: u32) -> Eval<u128> {
        let shift = -(self.exponent + frac as i32);
        match u32::try_from(shift) {
            Ok(shift) => Ok(round_shift(self.mantissa, shift)),
            Err(_) if self.mantissa == 0 => Ok(0),
            // A mantissa of 128 bits only grows.
            Err(_) => Err(Fault::Overflow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_float::FBig;
    use dashu_float::round::mode::HalfEven;

    /// An integer of at most 400 bits.
    fn precise(n: u128) -> FBig<HalfEven, 2> {
        FBig::from(n).with_precision(400).value()
    }

    /// Values whose limbs are at their ends, where estimates are worst.
    fn extremes() -> Vec<u128> {
        const ENDS: [u64; 8] = [0, 1, 2, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
        let pairs = ENDS.iter().flat_map(|&high| ENDS.map(|low| (high, low)));
        pairs.map(|(high, low)| u128::from(high) << 64 | u128::from(low)).collect()
    }

    #[test]
    fn products_are_at_most_3_units_too_small() {
        for a in extremes() {
            for b in extremes() {
                let exact = ((precise(a) * precise(b)) >> 128).floor();
                let missing = exact - precise(mul_high(a, b));
                assert!(missing >= precise(0) && missing <= precise(3), "{a:#x} * {b:#x}: {missing}");
            }
        }
    }

    #[test]
    fn fractions_are_rounded_down() {
        for n in extremes() {
            for d in extremes().into_iter().filter(|&d| d > n) {
                let rest = (precise(n) << 128) - precise(fraction(n, d)) * precise(d);
                assert!(rest >= precise(0) && rest < precise(d), "{n:#x} / {d:#x}");
            }
        }
    }

    #[test]
    fn shifts_round_ties_to_even() {
        assert_eq!([5, 6, 7, 9, 10, 11].map(|value| round_shift(value, 2)), [1, 2, 2, 2, 2, 3]);
        assert_eq!([-6, -5, -2, -1, 2, 3, 6].map(|value| round_product(value, 2)), [-2, -1, 0, 0, 0, 1, 2]);
        assert_eq!(round_shift(7, 0), 7);
        let half = 1 << 127;
        assert_eq!([half, half + 1, u128::MAX].map(|value| round_shift(value, 128)), [0, 1, 1]);
        assert_eq!(round_shift(u128::MAX, 129), 0);
    }

    #[test]
    fn the_range_of_i64_fits_and_no_more() {
        let end = 1 << 63;
        assert_eq!([signed(end - 1, false), signed(end, true)], [Ok(i64::MAX), Ok(i64::MIN)]);
        let beyond = [signed(end, false), signed(end + 1, true), signed(u128::MAX, true)];
        assert_eq!(beyond, [Err(Fault::Overflow); 3]);
    }
}
