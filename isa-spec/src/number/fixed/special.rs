//! The error function, the logarithm of the gamma function, and the derivatives of both. The series have
//! terms of one sign, or terms that alternate and vanish quickly. This module is independent of operands and
//! of other number systems.

use super::constants::{ERF_SLOPE, HALF_LN_TAU};
use super::exp_log::{Exponential, wide_log};
use super::ops::{FixedOutcome, WideOps};
use super::wide::{ANGLE_BITS, LOW, ONE, Scaled, UNIT_BITS, round_by, series_minus, signed};
use crate::fault::Fault;

/// The argument from which the error function is 1, as a fraction 31/5: the difference is less than 2^-58.
const ERF_END: [u128; 2] = [31, 5];

/// The fraction bits of the sum in the error function: before scaling, the sum is below 2^55.3.
const SUM_BITS: u32 = 72;

/// The argument from which Stirling's series is used.
const STIRLING_START: u128 = 16;

/// |B_2k| / (2k (2k - 1)). The first omitted term is below 2^-74.
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

/// |B_2k| / 2k. The first omitted term is below 2^-70.
const STIRLING_SLOPE: [u128; 8] =
    [ONE / 12, ONE / 120, ONE / 252, ONE / 240, ONE / 132, ONE / 32_760 * 691, ONE / 12, ONE / 8160 * 3617];

/// Returns the square of x with twice the fraction bits, and whether |x| is below the end of the error
/// function.
#[inline(always)]
fn square<S: WideOps>(s: &S, x: S::Word, frac: u32) -> (S::Word, S::Flag) {
    let magnitude = s.magnitude(x);
    let [above, below] = ERF_END;
    (s.mul(magnitude, magnitude), s.lt(magnitude, s.word((above << frac) / below)))
}

/// The error function. Less than 0.64 ulp off; never fails. Exactly odd.
///
/// Method: 2/sqrt(pi) e^(-x^2) (x + x 2x^2/3 + x (2x^2)^2/(3 5) + ...).
#[inline(always)]
pub fn erf<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let ((square, is_near), is_negative) = (square(s, x, frac), s.is_negative(x));
    let near = || {
        let sum = Scaled::at(s, odd_products(s, s.magnitude(x), square, frac), -(SUM_BITS as i32));
        sum.times(s, bell(s, square, frac)).to_fixed(s, frac, is_negative)
    };
    s.pick(is_near, near, || [s.negated_where(is_negative, s.word(1 << frac)), s.word(0)])
}

/// The derivative of the error function, 2/sqrt(pi) e^(-x^2). Less than 0.52 ulp off; never fails.
#[inline(always)]
pub fn erf_slope<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let (square, is_near) = square(s, x, frac);
    let near = || bell(s, square, frac).to_fixed(s, frac, s.never());
    s.pick(is_near, near, || [s.word(0), s.word(0)])
}

#[inline(always)]
fn bell<S: WideOps>(s: &S, square: S::Word, frac: u32) -> Scaled<S::Word> {
    let exponential = Exponential::of(s, s.neg(s.shl(square, ANGLE_BITS - 2 * frac)));
    exponential.growing(s).times(s, Scaled::at(s, s.word(ERF_SLOPE), -(UNIT_BITS as i32)))
}

/// The sum of x (2x^2)^n / (1 3 5 ... (2n + 1)).
#[inline(always)]
fn odd_products<S: WideOps>(s: &S, magnitude: S::Word, square: S::Word, frac: u32) -> S::Word {
    // `ratio` is 2x^2/128 as a fraction.
    const RANGE_BITS: u32 = 7;
    let ratio = s.shl(square, 128 + 1 - RANGE_BITS - 2 * frac);
    let term = s.shl(magnitude, SUM_BITS - frac);
    let step = |[term, sum, odd]: [S::Word; 3]| {
        let (sum, odd) = (s.add(sum, term), s.add(odd, s.word(2)));
        let product = s.mul_high(term, ratio);
        // The quotient is computed before the factor is applied, because the product would be out of range.
        let quotient = s.div(product, odd);
        let rest = s.sub(product, s.mul(quotient, odd));
        let of_rest = s.div(s.shl(rest, RANGE_BITS), odd);
        [s.add(s.shl(quotient, RANGE_BITS), of_rest), sum, odd]
    };
    let first = [term, s.word(0), s.word(1)];
    let [_, sum, _] = s.repeat(first, |[term, ..]| s.not(s.is_zero(term)), step);
    sum
}

/// Returns the sum of `of` over x, x + 1, … below the start of Stirling's series, and the first x + n that
/// isn't below the start. x must be positive.
#[inline(always)]
fn below_start<S: WideOps>(
    s: &S,
    x: S::Word,
    frac: u32,
    of: impl Fn(S::Word) -> S::Word,
) -> (S::Word, S::Word) {
    let start = s.word(STIRLING_START << frac);
    let step = |[sum, at]: [S::Word; 2]| [s.add(sum, of(at)), s.add(at, s.word(1 << frac))];
    let [sum, z] = s.repeat([s.word(0), x], |[_, at]| s.lt(at, start), step);
    (sum, z)
}

/// The logarithm of the gamma function of x > 0. Less than 0.51 ulp off; Domain if x <= 0, Overflow if the
/// result is out of range.
///
/// Method: Stirling's series, from 16 on. Below 16, the logarithms of x, x + 1, ... are subtracted.
#[inline(always)]
pub fn log_gamma<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    of_positive(s, x, || {
        let (below, z) = below_start(s, x, frac, |at| wide_log(s, at, frac));
        // From here on there are 56 + frac fraction bits, so that a product of z with its logarithm is in
        // range.
        const POINT: u32 = 56;
        let one = s.word(1 << frac);
        let inverse = s.fraction(one, z);
        let rest = s.mul_high(inverse, series_minus(s, s.mul_high(inverse, inverse), &STIRLING));
        let rest = s.shr(rest, UNIT_BITS - POINT - frac);
        let twice = product_with_log(s, s.sub(s.shl(z, 1), one), wide_log(s, z, frac));
        let constant = s.sar(s.sub(s.word(HALF_LN_TAU), below), ANGLE_BITS - POINT - frac);
        let sum = s.sub(s.sar(twice, 1), s.shl(z, POINT));
        let sum = s.add(s.add(sum, constant), rest);
        signed(s, round_by(s, s.magnitude(sum), POINT), s.is_negative(sum))
    })
}

/// a times a positive logarithm, with 56 fraction bits more than a.
#[inline(always)]
fn product_with_log<S: WideOps>(s: &S, a: S::Word, log: S::Word) -> S::Word {
    let log = s.magnitude(log);
    let low = s.mul(s.and(log, s.word(LOW)), a);
    s.add(s.mul(s.shr(log, 64), a), s.shr(low, 64))
}

/// The derivative of [`log_gamma`]. Less than 0.51 ulp off; Domain if x <= 0, Overflow if the result is out
/// of range.
///
/// Method: the derivative of Stirling's series, minus 1/x, 1/(x + 1), ...
#[inline(always)]
pub fn digamma<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    of_positive(s, x, || {
        // There are 127 - frac fraction bits: the inverse of the least number is in range.
        let (below, z) = below_start(s, x, frac, |at| s.div(s.word(ONE), at));
        let inverse = s.fraction(s.word(1 << frac), z);
        let square = s.mul_high(inverse, inverse);
        let rest = s.shr(s.mul_high(square, series_minus(s, square, &STIRLING_SLOPE)), frac);
        let less = s.add(s.add(below, s.shr(inverse, frac + 2)), rest);
        let log = s.shr(s.magnitude(wide_log(s, z, frac)), ANGLE_BITS + frac - UNIT_BITS);
        signed(s, round_by(s, s.abs_diff(log, less), UNIT_BITS - 2 * frac), s.lt(log, less))
    })
}

/// Evaluates `of` for a positive x; Domain otherwise.
#[inline(always)]
fn of_positive<S: WideOps>(
    s: &S,
    x: S::Word,
    of: impl FnOnce() -> FixedOutcome<S::Word>,
) -> FixedOutcome<S::Word> {
    let is_outside = s.either(s.is_zero(x), s.is_negative(x));
    s.pick(is_outside, || [s.word(0), s.fault_where(is_outside, Fault::Domain)], of)
}
