//! The error function, the logarithm of the gamma function, and the derivatives of both: by series whose terms
//! have one sign, or alternate and vanish quickly. This module knows no operand and no number system beside its own.

use super::constants::{ERF_SLOPE, HALF_LN_TAU};
use super::exp_log::{Exponential, wide_log};
use super::wide::{
    ANGLE_BITS, ONE, Scaled, UNIT_BITS, fraction, mul_high, round_shift, series_minus, signed,
};
use crate::fault::{Eval, Fault};

/// Arguments of the error function from 31/5 on give 1: what is left is less than 2^-58.
const ERF_END: [u64; 2] = [31, 5];

/// The fraction bits of the sum that makes the error function: it is below 2^55.3 before it is scaled.
const SUM_BITS: u32 = 72;

/// Stirling's series is used from here on.
const STIRLING_START: u64 = 16;

/// |B_2k| / (2k (2k - 1)). The first term left out is below 2^-74.
const STIRLING: [u128; 9] = [
    ONE / 12,
    ONE / 360,
    ONE / 1260,
    ONE / 1680,
    ONE / 1188,
    ONE / 360_360 * 691,
    ONE / 156,
    ONE / 122_400 * 3617,
    ONE / 244_188 * 43_867,
];

/// |B_2k| / 2k. The first term left out is below 2^-70.
const STIRLING_SLOPE: [u128; 8] =
    [ONE / 12, ONE / 120, ONE / 252, ONE / 240, ONE / 132, ONE / 32_760 * 691, ONE / 12, ONE / 8160 * 3617];

/// The square of a magnitude below the end of the error function, with twice the fraction bits.
fn square(x: i64, frac: u32) -> Option<u128> {
    let magnitude = x.unsigned_abs();
    let [above, below] = ERF_END;
    (magnitude < (above << frac) / below).then(|| u128::from(magnitude) * u128::from(magnitude))
}

/// The error function. Less than 0.64 ulp off; never fails. Exactly odd.
///
/// Method: 2/sqrt(pi) e^(-x^2) (x + x 2x^2/3 + x (2x^2)^2/(3 5) + ...).
pub fn erf(x: i64, frac: u32) -> Eval<i64> {
    let Some(square) = square(x, frac) else {
        return Ok(if x < 0 { -(1 << frac) } else { 1 << frac });
    };
    let sum = Scaled::new(odd_products(x.unsigned_abs(), square, frac), -(SUM_BITS as i32));
    sum.times(bell(square, frac)).to_fixed(frac, x < 0)
}

/// The derivative of the error function, 2/sqrt(pi) e^(-x^2). Less than 0.52 ulp off; never fails.
pub fn erf_slope(x: i64, frac: u32) -> Eval<i64> {
    match square(x, frac) {
        Some(square) => bell(square, frac).to_fixed(frac, false),
        None => Ok(0),
    }
}

fn bell(square: u128, frac: u32) -> Scaled {
    let exponential = Exponential::of(-((square << (ANGLE_BITS - 2 * frac)) as i128));
    exponential.growing().times(Scaled::new(ERF_SLOPE, -(UNIT_BITS as i32)))
}

/// The sum of x (2x^2)^n / (1 3 5 ... (2n + 1)).
fn odd_products(magnitude: u64, square: u128, frac: u32) -> u128 {
    // 2x^2/128, a fraction.
    const RANGE_BITS: u32 = 7;
    let ratio = square << (128 + 1 - RANGE_BITS - 2 * frac);
    let mut term = u128::from(magnitude) << (SUM_BITS - frac);
    let (mut sum, mut odd) = (0, 1);
    while term != 0 {
        sum += term;
        odd += 2;
        let product = mul_high(term, ratio);
        // The quotient first: the product has no room for its factor.
        let (quotient, rest) = (product / odd, product % odd);
        term = (quotient << RANGE_BITS) + (rest << RANGE_BITS) / odd;
    }
    sum
}

/// A positive x, and where Stirling's series is good enough for it: x + n.
fn steps_up(x: u64, frac: u32) -> (impl Iterator<Item = u64>, u64) {
    let whole = x >> frac;
    let steps = STIRLING_START.saturating_sub(whole);
    ((0..steps).map(move |k| x + (k << frac)), x + (steps << frac))
}

/// The logarithm of the gamma function of x > 0. Less than 0.51 ulp off; Domain if x <= 0, Overflow if the
/// result does not fit.
///
/// Method: Stirling's series, from 16 on; below, the logarithms of x, x + 1, ... are taken off.
pub fn log_gamma(x: i64, frac: u32) -> Eval<i64> {
    let x = positive(x)?;
    let (below, z) = steps_up(x, frac);
    let below: i128 = below.map(|step| wide_log(step, frac)).sum();
    // From here on there are 56 + frac fraction bits, which a product of z with its logarithm has room for.
    const POINT: u32 = 56;
    let brought = |wide: i128| wide >> (ANGLE_BITS - POINT - frac);
    let inverse = fraction(1 << frac, z.into());
    let rest = mul_high(inverse, series_minus(mul_high(inverse, inverse), &STIRLING));
    let rest = (rest >> (UNIT_BITS - POINT - frac)) as i128;
    let product = product_with_log(2 * z - (1 << frac), wide_log(z, frac)) >> 1;
    let sum = product - (i128::from(z) << POINT) + brought(HALF_LN_TAU - below) + rest;
    signed(round_shift(sum.unsigned_abs(), POINT), sum < 0)
}

/// a times a positive logarithm, with 56 fraction bits more than a.
fn product_with_log(a: u64, log: i128) -> i128 {
    let (log, a) = (log.unsigned_abs(), u128::from(a));
    let low = (log & u128::from(u64::MAX)) * a;
    ((log >> 64) * a + (low >> 64)) as i128
}

/// The derivative of [`log_gamma`]. Less than 0.51 ulp off; Domain if x <= 0, Overflow if the result does not fit.
///
/// Method: the derivative of Stirling's series, less 1/x, 1/(x + 1), ...
pub fn digamma(x: i64, frac: u32) -> Eval<i64> {
    let x = positive(x)?;
    let (below, z) = steps_up(x, frac);
    // There are 127 - frac fraction bits: the inverse of the least number fits.
    let below: u128 = below.map(|step| ONE / u128::from(step)).sum();
    let inverse = fraction(1 << frac, z.into());
    let square = mul_high(inverse, inverse);
    let rest = mul_high(square, series_minus(square, &STIRLING_SLOPE)) >> frac;
    let less = below + (inverse >> (frac + 2)) + rest;
    let log = wide_log(z, frac).unsigned_abs() >> (ANGLE_BITS + frac - UNIT_BITS);
    signed(round_shift(log.abs_diff(less), UNIT_BITS - 2 * frac), log < less)
}

fn positive(x: i64) -> Eval<u64> {
    if x > 0 { Ok(x.unsigned_abs()) } else { Err(Fault::Domain) }
}
