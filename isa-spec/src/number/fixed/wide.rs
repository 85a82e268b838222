//! The arithmetic of the elementary functions: unsigned 128-bit values computed from 64x64-to-128-bit
//! products.
//!
//! There are three formats, which differ in the position of the binary point:
//! - a *fraction* has 128 fraction bits and is in [0, 1);
//! - a *unit* has 127 fraction bits and is in [0, 2);
//! - an *angle* or a logarithm has 120 fraction bits (`ANGLE_BITS`).
//!
//! The product of a fraction and a number of any format, computed by [`mul_high`], has the number's format.
//! This module evaluates the series that its callers pass, and depends on no particular function.

use super::ops::{FixedOutcome, WideOps};
use crate::fault::Fault;

/// 1 as a unit.
pub(super) const ONE: u128 = 1 << UNIT_BITS;

/// The fraction bits of a unit.
pub(super) const UNIT_BITS: u32 = 127;

/// The fraction bits of angles, logarithms and arguments of the exponential.
pub(super) const ANGLE_BITS: u32 = 120;

/// The mask of the lower limb of a 128-bit value.
pub(super) const LOW: u128 = u64::MAX as u128;

/// The upper 128 bits of a product, at most 3 units too small: the lowest partial product and the carries
/// from the lower half are omitted. Exact if the lower limbs of `a` and `b` are 0.
#[inline(always)]
pub fn mul_high<S: WideOps + ?Sized>(s: &S, a: S::Word, b: S::Word) -> S::Word {
    let limbs = |a| (s.shr(a, 64), s.and(a, s.word(LOW)));
    let ((a1, a0), (b1, b0)) = (limbs(a), limbs(b));
    let crossed = |a, b| s.shr(s.mul(a, b), 64);
    s.add(s.add(s.mul(a1, b1), crossed(a1, b0)), crossed(a0, b1))
}

/// `value / 2^shift`, to nearest, ties to even, for any non-negative shift.
#[inline(always)]
pub fn round_shift<S: WideOps + ?Sized>(s: &S, value: S::Word, shift: S::Word) -> S::Word {
    let within = rounded(s, value, s.and(shift, s.word(127)));
    let (end, half) = (s.word(128), s.word(1 << 127));
    let is_last = s.both(s.eq(shift, end), s.lt(half, value));
    s.select(s.lt(shift, end), within, s.bit(is_last))
}

/// The same as [`round_shift`] for a shift below 128.
#[inline(always)]
fn rounded<S: WideOps + ?Sized>(s: &S, value: S::Word, shift: S::Word) -> S::Word {
    let floor = s.shr_by(value, shift);
    let rest = s.shl(s.shl_by(value, s.sub(s.word(127), shift)), 1);
    up_where_nearer(s, floor, rest)
}

/// The same as [`round_shift`] for a constant shift from 1 to 127.
#[inline(always)]
pub(super) fn round_by<S: WideOps + ?Sized>(s: &S, value: S::Word, shift: u32) -> S::Word {
    up_where_nearer(s, s.shr(value, shift), s.shl(value, 128 - shift))
}

/// Rounds a number up by 1 if the bits after it require that; ties go to even.
#[inline(always)]
fn up_where_nearer<S: WideOps + ?Sized>(s: &S, floor: S::Word, rest: S::Word) -> S::Word {
    let half = s.word(1 << 127);
    let is_tie = s.both(s.eq(rest, half), s.has(floor, 1));
    s.add(floor, s.bit(s.either(s.lt(half, rest), is_tie)))
}

/// `product / 2^shift` for 1 <= shift <= 126, to nearest, ties to even. The magnitude of the product is at
/// most 2^126, like that of two `i64`.
#[inline(always)]
pub(super) fn round_product<S: WideOps + ?Sized>(s: &S, product: S::Word, shift: u32) -> S::Word {
    let below_half = s.word((1 << (shift - 1)) - 1);
    let odd = s.and(s.sar(product, shift), s.word(1));
    s.sar(s.add(s.add(product, below_half), odd), shift)
}

/// Returns a magnitude with a sign; Overflow if it is out of range.
#[inline(always)]
pub(super) fn signed<S: WideOps + ?Sized>(
    s: &S,
    magnitude: S::Word,
    negative: S::Flag,
) -> FixedOutcome<S::Word> {
    let most = s.select(negative, s.word(1 << 63), s.word((1 << 63) - 1));
    let fault = s.fault_where(s.lt(most, magnitude), Fault::Overflow);
    [s.negated_where(negative, magnitude), fault]
}

/// c0 + c1 z + c2 z^2 + ..., for a fraction z and units c, by Horner's rule. The sum must stay below 2. The
/// error is below 3 units in the last place, divided by 1 - z.
#[inline(always)]
pub(super) fn series_plus<S: WideOps + ?Sized>(s: &S, z: S::Word, coefficients: &[u128]) -> S::Word {
    series(s, coefficients, |c, sum| s.add(c, s.mul_high(z, sum)))
}

/// c0 - c1 z + c2 z^2 - ..., for a fraction z and units c that don't grow. Every inner sum is then positive,
/// so no sign is needed.
#[inline(always)]
pub(super) fn series_minus<S: WideOps + ?Sized>(s: &S, z: S::Word, coefficients: &[u128]) -> S::Word {
    series(s, coefficients, |c, sum| s.sub(c, s.mul_high(z, sum)))
}

#[inline(always)]
fn series<S: WideOps + ?Sized>(
    s: &S,
    coefficients: &[u128],
    with: impl Fn(S::Word, S::Word) -> S::Word,
) -> S::Word {
    let mut terms = coefficients.iter().rev();
    let last = terms.next().copied().unwrap_or(0);
    terms.fold(s.word(last), |sum, &c| with(s.word(c), sum))
}

/// n / d as a fraction, rounded down; n < d is required.
#[inline(always)]
pub fn fraction<S: WideOps + ?Sized>(s: &S, n: S::Word, d: S::Word) -> S::Word {
    let shift = s.zeros(d);
    let (n, d) = (s.shl_by(n, shift), s.shl_by(d, shift));
    let (high, rest) = quotient_limb(s, n, d);
    let (low, _) = quotient_limb(s, rest, d);
    s.or(s.shl(high, 64), low)
}

/// Returns the next 64 bits of n / d, and the remainder. n < d is required, and d has its top bit set. This
/// is a step of the schoolbook division in base 2^64: Knuth, TAOCP volume 2, 4.3.1, algorithm D.
#[inline(always)]
fn quotient_limb<S: WideOps + ?Sized>(s: &S, n: S::Word, d: S::Word) -> (S::Word, S::Word) {
    let (d1, d0, low) = (s.shr(d, 64), s.and(d, s.word(LOW)), s.word(LOW));
    let limb = s.div(n, d1);
    let rest = s.sub(n, s.mul(limb, d1));
    // The estimate `limb` is at most 2 too large. It is too large if it has more than 64 bits, or if `limb * d0` is
    // greater than `rest * 2^64`. It is not too large if `rest` has more than 64 bits.
    let is_large = |[limb, rest]: [S::Word; 2]| {
        let exceeds = s.lt(s.shl(rest, 64), s.mul(limb, d0));
        s.both(s.not(s.lt(low, rest)), s.either(s.lt(low, limb), exceeds))
    };
    let [limb, rest] =
        s.repeat([limb, rest], is_large, |[limb, rest]| [s.sub(limb, s.word(1)), s.add(rest, d1)]);
    // The true remainder is below d, so the bits that both terms lose by overflow are equal.
    (limb, s.sub(s.shl(rest, 64), s.mul(limb, d0)))
}

/// A real number >= 0 of any magnitude: `mantissa * 2^exponent`. The mantissa is 0 or has its top bit set.
#[derive(Clone, Copy)]
pub(super) struct Scaled<W> {
    pub mantissa: W,
    pub exponent: W,
}

impl<W: Copy> Scaled<W> {
    /// `mantissa * 2^exponent`, for any mantissa.
    #[inline(always)]
    pub fn new<S: WideOps<Word = W> + ?Sized>(s: &S, mantissa: W, exponent: W) -> Self {
        let (is_zero, zero) = (s.is_zero(mantissa), s.word(0));
        let shift = s.select(is_zero, zero, s.zeros(mantissa));
        let exponent = s.select(is_zero, zero, s.sub(exponent, shift));
        Self { mantissa: s.shl_by(mantissa, shift), exponent }
    }

    /// The same as [`Scaled::new`] for a constant exponent.
    #[inline(always)]
    pub fn at<S: WideOps<Word = W> + ?Sized>(s: &S, mantissa: W, exponent: i32) -> Self {
        Scaled::new(s, mantissa, s.word(i128::from(exponent) as u128))
    }

    /// n / d for any n and any d > 0.
    #[inline(always)]
    pub fn ratio<S: WideOps<Word = W> + ?Sized>(s: &S, n: W, d: W) -> Self {
        let (n, d) = (Self::at(s, n, 0), Self::at(s, d, 0));
        // Half the mantissa of n is always below the mantissa of d.
        let quotient = s.fraction(s.shr(n.mantissa, 1), d.mantissa);
        Self::new(s, quotient, s.sub(s.sub(n.exponent, d.exponent), s.word(127)))
    }

    /// 1 / self, for self > 0.
    #[inline(always)]
    pub fn reciprocal<S: WideOps<Word = W> + ?Sized>(self, s: &S) -> Self {
        let inverse = Self::ratio(s, s.word(1), self.mantissa);
        Self { exponent: s.sub(inverse.exponent, self.exponent), ..inverse }
    }

    /// The product, at most a relative 2^-124 too small.
    #[inline(always)]
    pub fn times<S: WideOps<Word = W> + ?Sized>(self, s: &S, other: Self) -> Self {
        let exponent = s.add(s.add(self.exponent, other.exponent), s.word(128));
        Self::new(s, s.mul_high(self.mantissa, other.mantissa), exponent)
    }

    /// The binary logarithm of self > 0, rounded down.
    #[inline(always)]
    pub fn logarithm<S: WideOps<Word = W> + ?Sized>(self, s: &S) -> W {
        s.add(self.exponent, s.word(127))
    }

    /// The nearest fixed-point number with a sign; Overflow if it is out of range.
    #[inline(always)]
    pub fn to_fixed<S: WideOps<Word = W> + ?Sized>(
        self,
        s: &S,
        frac: u32,
        negative: S::Flag,
    ) -> FixedOutcome<W> {
        let (magnitude, is_over) = self.to_magnitude(s, frac);
        let [value, fault] = signed(s, magnitude, negative);
        [value, s.select(is_over, s.fault_where(is_over, Fault::Overflow), fault)]
    }

    /// Returns the nearest number of ulps, and whether it exceeds 128 bits.
    #[inline(always)]
    pub fn to_magnitude<S: WideOps<Word = W> + ?Sized>(self, s: &S, frac: u32) -> (W, S::Flag) {
        let shift = s.neg(s.add(self.exponent, s.word(frac.into())));
        // A negative shift would increase a 128-bit mantissa.
        let grows = s.is_negative(shift);
        let is_over = s.both(grows, s.not(s.is_zero(self.mantissa)));
        (s.round_shift(self.mantissa, s.select(grows, s.word(0), shift)), is_over)
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine::NativeWide;
    use super::*;
    use dashu_float::FBig;
    use dashu_float::round::mode::HalfEven;

    /// Converts an integer to a number with 400 bits of precision.
    fn precise(n: u128) -> FBig<HalfEven, 2> {
        FBig::from(n).with_precision(400).value()
    }

    /// Values with limbs at the ends of their range, where estimates are worst.
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
                let missing = exact - precise(mul_high(&NativeWide, a, b));
                assert!(missing >= precise(0) && missing <= precise(3), "{a:#x} * {b:#x}: {missing}");
            }
        }
    }

    #[test]
    fn fractions_are_rounded_down() {
        for n in extremes() {
            for d in extremes().into_iter().filter(|&d| d > n) {
                let rest = (precise(n) << 128) - precise(fraction(&NativeWide, n, d)) * precise(d);
                assert!(rest >= precise(0) && rest < precise(d), "{n:#x} / {d:#x}");
            }
        }
    }

    #[test]
    fn shifts_round_ties_to_even() {
        let s = &NativeWide;
        assert_eq!([5, 6, 7, 9, 10, 11].map(|value| round_shift(s, value, 2)), [1, 2, 2, 2, 2, 3]);
        assert_eq!([5, 6, 7, 9, 10, 11].map(|value| round_by(s, value, 2)), [1, 2, 2, 2, 2, 3]);
        let product = |value: i128| round_product(s, value as u128, 2) as i128;
        assert_eq!([-6, -5, -2, -1, 2, 3, 6].map(product), [-2, -1, 0, 0, 0, 1, 2]);
        assert_eq!(round_shift(s, 7, 0), 7);
        let half = 1 << 127;
        assert_eq!([half, half + 1, u128::MAX].map(|value| round_shift(s, value, 128)), [0, 1, 1]);
        assert_eq!(round_shift(s, u128::MAX, 129), 0);
        assert_eq!(round_shift(s, u128::MAX, 1 << 40), 0);
    }

    #[test]
    fn the_range_of_i64_fits_and_no_more() {
        let (end, s) = (1 << 63, &NativeWide);
        let number = |magnitude, negative| signed(s, magnitude, negative);
        assert_eq!(
            [number(end - 1, false), number(end, true)].map(|[value, fault]| (value as i64, fault)),
            [(i64::MAX, 0), (i64::MIN, 0)]
        );
        let beyond = [number(end, false), number(end + 1, true), number(u128::MAX, true)];
        assert_eq!(beyond.map(|[_, fault]| fault), [1; 3]);
    }
}
