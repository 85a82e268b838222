//! The exponential function and the natural logarithm, and their wide forms for powers and
//! hyperbolic functions. This module knows no operand and no number system beside its own.

use super::constants::{LN_2, LN_TABLE, LOG2_E, STEPS, inverse_factorials, inverse_odds};
use super::wide::{
    ANGLE_BITS, Scaled, UNIT_BITS, fraction, mul_high, round_shift, series_plus, signed, signed_small,
};
use crate::fault::{Eval, Fault};

/// Arguments of the exponential stay below this magnitude. Beyond it, every result overflows
/// (47 integer bits end at e^32.6) or is nearest to 0 (56 fraction bits end at e^-39.6).
const ARGUMENT_LIMIT: u32 = 64;

/// e^x. Less than 0.51 ulp off; Overflow if the result does not fit.
///
/// Method: x = k ln 2 + r with |r| <= ln 2 / 2, and the Taylor series of e^r.
pub fn exp(x: i64, frac: u32) -> Eval<i64> {
    match exponent(x, frac) {
        Some(w) => Exponential::of(w).growing().to_fixed(frac, false),
        None if x < 0 => Ok(0),
        None => Err(Fault::Overflow),
    }
}

/// e^x - 1. Less than 0.51 ulp off; Overflow if the result does not fit.
///
/// Method: as [`exp`]; 1 is a whole number of ulps.
pub fn exp_m1(x: i64, frac: u32) -> Eval<i64> {
    match exponent(x, frac) {
        Some(w) => {
            let (power, one) = (Exponential::of(w).growing().to_magnitude(frac)?, 1 << frac);
            signed(power.abs_diff(one), power < one)
        }
        None if x < 0 => Ok(-(1 << frac)),
        None => Err(Fault::Overflow),
    }
}

/// The natural logarithm of 1 + x, for x > -1. Less than 0.51 ulp off; Domain if x <= -1.
///
/// Method: as [`log`]; the sum is exact.
pub fn ln_1p(x: i64, frac: u32) -> Eval<i64> {
    // It has a bit more than x, for which there is room without the sign.
    let sum = (1_u64 << frac).checked_add_signed(x).filter(|&sum| sum > 0).ok_or(Fault::Domain)?;
    Ok(of_wide_log(wide_log(sum, frac), frac))
}

/// The natural logarithm of x > 0. Less than 0.51 ulp off; Domain if x <= 0.
///
/// Method: x = 2^e c (1 + s)/(1 - s), where c is a multiple of 1/32 from a table and s is tiny;
/// 2 atanh(s) is the rest of the logarithm. (Tang, "Table-driven implementation of the
/// logarithm function in IEEE floating-point arithmetic", ACM TOMS 16, 1990.)
pub fn log(x: i64, frac: u32) -> Eval<i64> {
    if x <= 0 {
        return Err(Fault::Domain);
    }
    Ok(of_wide_log(wide_log(x.unsigned_abs(), frac), frac))
}

fn of_wide_log(ln: i128, frac: u32) -> i64 {
    let magnitude = round_shift(ln.unsigned_abs(), ANGLE_BITS - frac);
    signed_small(magnitude, ln < 0)
}

/// x with the fraction bits of an argument of [`Exponential::of`], if its magnitude is below
/// the limit.
#[inline]
pub(super) fn exponent(x: i64, frac: u32) -> Option<i128> {
    let limit = u64::from(ARGUMENT_LIMIT) << frac;
    (x.unsigned_abs() < limit).then(|| i128::from(x) << (ANGLE_BITS - frac))
}

/// a * ln as an argument of [`Exponential::of`], if its magnitude is below the limit; ln has
/// the fraction bits of an angle.
#[inline]
pub(super) fn exponent_product(a: i64, ln: i128, frac: u32) -> Option<i128> {
    let factor = u128::from(a.unsigned_abs());
    let ln_magnitude = ln.unsigned_abs();
    let low = (ln_magnitude & u128::from(u64::MAX)) * factor;
    let high = (ln_magnitude >> 64) * factor + (low >> 64);
    let limit = u128::from(ARGUMENT_LIMIT) << (ANGLE_BITS - 64 + frac);
    if high >= limit {
        return None;
    }
    let magnitude = high << (64 - frac) | u128::from(low as u64 >> frac);
    let magnitude = magnitude as i128;
    Some(if (a < 0) != (ln < 0) { -magnitude } else { magnitude })
}

/// e^w and e^-w at once: `e^w = up * 2^power` and `e^-w = down * 2^-power`, where `up` and
/// `down` are units between 0.7 and 1.42, a relative 2^-91 exact.
pub(super) struct Exponential {
    pub(super) up: u128,
    pub(super) down: u128,
    pub(super) power: i32,
}

impl Exponential {
    /// The exponential of w, which has the fraction bits of an angle and a magnitude below 64.
    #[inline]
    pub(super) fn of(w: i128) -> Self {
        // The first terms left out are below 2^-91 for |r| < 0.347.
        const EVEN: [u128; 10] = inverse_factorials(0);
        const ODD: [u128; 10] = inverse_factorials(1);
        let power = nearest_power(w);
        let rest = w - power * LN_2;
        let r = rest.unsigned_abs() << (128 - ANGLE_BITS);
        let square = mul_high(r, r);
        let cosh = series_plus(square, &EVEN);
        let sinh = mul_high(r, series_plus(square, &ODD));
        let (up, down) = if rest < 0 { (cosh - sinh, cosh + sinh) } else { (cosh + sinh, cosh - sinh) };
        let power = power as i32;
        Self { up, down, power }
    }

    /// e^w.
    #[inline]
    pub(super) fn growing(&self) -> Scaled {
        Scaled::new(self.up, self.power - UNIT_BITS as i32)
    }
}

/// The integer nearest to w / ln 2; the upper half of w is enough for that.
#[inline]
fn nearest_power(w: i128) -> i128 {
    const POINT: u32 = ANGLE_BITS - 64 + 62;
    let quotient = (w >> 64) * i128::from(LOG2_E);
    (quotient + (1 << (POINT - 1))) >> POINT
}

/// ln(x 2^-frac) for x > 0, with the fraction bits of an angle and an error below 2^-116.
#[inline]
pub(super) fn wide_log(x: u64, frac: u32) -> i128 {
    // The first term left out is below 2^-122 for s <= 1/127.
    const ODD: [u128; 8] = inverse_odds();
    const TOP: u32 = u64::BITS - 1;
    let zeros = x.leading_zeros();
    let mantissa = u128::from(x << zeros);
    let exponent = i128::from(TOP) - i128::from(zeros) - i128::from(frac);
    // The multiple of 1/32 in [1, 2] next to the mantissa.
    let step_bits = TOP - STEPS.ilog2();
    let steps = (mantissa + (1 << (step_bits - 1))) >> step_bits;
    let center = steps << step_bits;
    let s = fraction(mantissa.abs_diff(center), mantissa + center);
    let atanh = mul_high(s, series_plus(mul_high(s, s), &ODD));
    // The factor 2 of the formula is one bit less of the shift.
    let rest = (atanh >> (UNIT_BITS - ANGLE_BITS - 1)) as i128;
    let rest = if mantissa < center { -rest } else { rest };
    // steps is in 32..=64, and so the index in 0..=32.
    exponent * LN_2 + LN_TABLE[(steps - STEPS) as usize] + rest
}
