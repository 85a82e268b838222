//! The exponential function and the natural logarithm, and their wide forms for powers and hyperbolic
//! functions. This module is independent of operands and of other number systems.

use super::constants::{LN_2, LN_TABLE, LOG2_E, STEPS, inverse_factorials, inverse_odds};
use super::ops::{FixedOutcome, WideOps};
use super::wide::{ANGLE_BITS, LOW, Scaled, UNIT_BITS, round_by, series_plus, signed};
use crate::fault::Fault;

/// The bound of |x| for e^x. Beyond it, every result overflows (47 integer bits end at e^32.6) or rounds to 0
/// (56 fraction bits end at e^-39.6).
const ARGUMENT_LIMIT: u32 = 64;

/// e^x. Less than 0.51 ulp off; Overflow if the result is out of range.
///
/// Method: x = k ln 2 + r with |r| <= ln 2 / 2, and the Taylor series of e^r.
#[inline(always)]
pub fn exp<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let (w, fits) = exponent(s, x, frac);
    s.pick(fits, || growing(s, w, frac), || [s.word(0), too_large(s, x)])
}

/// e^x - 1. Less than 0.51 ulp off; Overflow if the result is out of range.
///
/// Method: the same as [`exp`]. Subtracting 1 is exact, because 1 is a whole number of ulps.
#[inline(always)]
pub fn exp_m1<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let ((w, fits), one) = (exponent(s, x, frac), s.word(1 << frac));
    let less_one = || {
        let (power, is_over) = Exponential::of(s, w).growing(s).to_magnitude(s, frac);
        let [value, fault] = signed(s, s.abs_diff(power, one), s.lt(power, one));
        [value, s.select(is_over, s.fault_where(is_over, Fault::Overflow), fault)]
    };
    s.pick(fits, less_one, || [s.neg(one), too_large(s, x)])
}

/// The natural logarithm of 1 + x, for x > -1. Less than 0.51 ulp off; Domain if x <= -1.
///
/// Method: the same as [`log`]; the sum is exact.
#[inline(always)]
pub fn ln_1p<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    log(s, s.add(s.word(1 << frac), x), frac)
}

/// The natural logarithm of x > 0. Less than 0.51 ulp off; Domain if x <= 0.
///
/// Method: x = 2^e c (1 + s)/(1 - s), where c is a multiple of 1/32 from a table and s is tiny. The rest of
/// the logarithm is 2 atanh(s). (Tang, "Table-driven implementation of the logarithm function in IEEE
/// floating-point arithmetic", ACM TOMS 16, 1990.)
#[inline(always)]
pub fn log<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let is_outside = s.either(s.is_zero(x), s.is_negative(x));
    s.pick(
        is_outside,
        || [s.word(0), s.fault_where(is_outside, Fault::Domain)],
        || {
            let ln = wide_log(s, x, frac);
            let magnitude = round_by(s, s.magnitude(ln), ANGLE_BITS - frac);
            [s.negated_where(s.is_negative(ln), magnitude), s.word(0)]
        },
    )
}

/// e^w in fixed point.
#[inline(always)]
pub(super) fn growing<S: WideOps>(s: &S, w: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    Exponential::of(s, w).growing(s).to_fixed(s, frac, s.never())
}

/// Returns the fault number for an exponential whose argument is beyond the limit: Overflow, or none if the
/// argument is negative, because then the result is 0.
#[inline(always)]
fn too_large<S: WideOps>(s: &S, x: S::Word) -> S::Word {
    s.fault_where(s.not(s.is_negative(x)), Fault::Overflow)
}

/// Returns x with the fraction bits of an argument of [`Exponential::of`], and whether its magnitude is below
/// the limit.
#[inline(always)]
pub(super) fn exponent<S: WideOps>(s: &S, x: S::Word, frac: u32) -> (S::Word, S::Flag) {
    let limit = s.word(u128::from(ARGUMENT_LIMIT) << frac);
    (s.shl(x, ANGLE_BITS - frac), s.lt(s.magnitude(x), limit))
}

/// Returns a * ln as an argument of [`Exponential::of`], and whether its magnitude is below the limit. `ln`
/// has the fraction bits of an angle.
#[inline(always)]
pub(super) fn exponent_product<S: WideOps>(s: &S, a: S::Word, ln: S::Word, frac: u32) -> (S::Word, S::Flag) {
    let (factor, ln_magnitude, low_limb) = (s.magnitude(a), s.magnitude(ln), s.word(LOW));
    let low = s.mul(s.and(ln_magnitude, low_limb), factor);
    let high = s.add(s.mul(s.shr(ln_magnitude, 64), factor), s.shr(low, 64));
    let limit = s.word(u128::from(ARGUMENT_LIMIT) << (ANGLE_BITS - 64 + frac));
    let magnitude = s.or(s.shl(high, 64 - frac), s.shr(s.and(low, low_limb), frac));
    let is_negative = s.differ(s.is_negative(a), s.is_negative(ln));
    (s.negated_where(is_negative, magnitude), s.lt(high, limit))
}

/// e^w and e^-w together: `e^w = up * 2^power` and `e^-w = down * 2^-power`. `up` and `down` are units
/// between 0.7 and 1.42 with a relative error of 2^-91.
pub(super) struct Exponential<W> {
    pub(super) up: W,
    pub(super) down: W,
    pub(super) power: W,
}

impl<W: Copy> Exponential<W> {
    /// The exponential of w, which has the fraction bits of an angle and a magnitude below 64.
    #[inline(always)]
    pub(super) fn of<S: WideOps<Word = W>>(s: &S, w: W) -> Self {
        // The first omitted terms are below 2^-91 for |r| < 0.347.
        const EVEN: [u128; 10] = inverse_factorials(0);
        const ODD: [u128; 10] = inverse_factorials(1);
        let power = nearest_power(s, w);
        let rest = s.sub(w, s.mul(power, s.word(LN_2)));
        let r = s.shl(s.magnitude(rest), 128 - ANGLE_BITS);
        let square = s.mul_high(r, r);
        let cosh = series_plus(s, square, &EVEN);
        let sinh = s.mul_high(r, series_plus(s, square, &ODD));
        let sinh = s.negated_where(s.is_negative(rest), sinh);
        Self { up: s.add(cosh, sinh), down: s.sub(cosh, sinh), power }
    }

    /// e^w as a scaled number.
    #[inline(always)]
    pub(super) fn growing<S: WideOps<Word = W>>(&self, s: &S) -> Scaled<W> {
        Scaled::new(s, self.up, s.sub(self.power, s.word(UNIT_BITS.into())))
    }
}

/// The integer nearest to w / ln 2; the upper half of w suffices.
#[inline(always)]
fn nearest_power<S: WideOps>(s: &S, w: S::Word) -> S::Word {
    const POINT: u32 = ANGLE_BITS - 64 + 62;
    let quotient = s.mul(s.sar(w, 64), s.word(LOG2_E));
    s.sar(s.add(quotient, s.word(1 << (POINT - 1))), POINT)
}

/// ln(x 2^-frac) for x > 0, with the fraction bits of an angle and an error below 2^-116.
#[inline(always)]
pub(super) fn wide_log<S: WideOps>(s: &S, x: S::Word, frac: u32) -> S::Word {
    // The first omitted term is below 2^-122 for s <= 1/127.
    const ODD: [u128; 8] = inverse_odds();
    const TOP: u32 = u64::BITS - 1;
    let zeros = s.sub(s.zeros(x), s.word(64));
    let mantissa = s.shl_by(x, zeros);
    let exponent = s.sub(s.word((TOP - frac).into()), zeros);
    // The multiple of 1/32 in [1, 2] nearest to the mantissa.
    let step_bits = TOP - STEPS.ilog2();
    let steps = s.shr(s.add(mantissa, s.word(1 << (step_bits - 1))), step_bits);
    let center = s.shl(steps, step_bits);
    let quotient = s.fraction(s.abs_diff(mantissa, center), s.add(mantissa, center));
    let atanh = s.mul_high(quotient, series_plus(s, s.mul_high(quotient, quotient), &ODD));
    // The factor 2 of the formula reduces the shift by one.
    let rest = s.shr(atanh, UNIT_BITS - ANGLE_BITS - 1);
    let rest = s.negated_where(s.lt(mantissa, center), rest);
    // The number of steps is in 32..=64, so the index is in 0..=32.
    let of_center = s.lookup(&LN_TABLE, s.sub(steps, s.word(STEPS)));
    s.add(s.add(s.mul(exponent, s.word(LN_2)), of_center), rest)
}
