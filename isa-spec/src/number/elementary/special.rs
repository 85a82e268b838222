//! The error function, the logarithm of the gamma function, and its derivative. For small arguments, polynomials around
//! evenly spaced centers are used, with coefficients in a table. For larger arguments of log Γ and its derivative, the
//! leading terms of Stirling's series are used (Whittaker and Watson, "A Course of Modern Analysis", chapter 12). The
//! rest is a polynomial of 1/x² that was fitted to the exact difference.

use super::exp::exp_of_pair;
use super::format::Format;
use super::log::log_in_parts;
use super::ops::FloatOps;
use super::pair::{Twofold, product, quick_two_sum, two_product, two_sum};

/// Evaluates the polynomial around a center. The first two coefficients, value and slope, have two parts, the
/// others one.
#[inline(always)]
fn around_center<S: FloatOps>(
    s: &S,
    table: &'static [i64],
    center: S::Word,
    distance: S::Float,
) -> Twofold<S> {
    let row_bits = S::Format::SPECIAL.row_bits;
    let row = s.word_shl(center, s.word(row_bits));
    let at = |column: i64| s.float_at(table, s.word_add(row, s.word(column)));
    let square = s.mul(distance, distance);
    let every_other = |from: i64| {
        let mut columns = (0..((1 << row_bits) - from + 1) / 2).rev().map(|k| from + 2 * k);
        let last = columns.next().map_or(s.float(0.0), at);
        columns.fold(last, |sum, column| s.add(s.mul(sum, square), at(column)))
    };
    let rest = s.add(every_other(4), s.mul(distance, every_other(5)));
    let (linear, linear_low) = two_product(s, at(2), distance);
    let (high, low) = two_sum(s, at(0), linear);
    let small = s.add(at(1), s.mul(distance, s.add(at(3), s.mul(distance, rest))));
    quick_two_sum(s, high, s.add(low, s.add(linear_low, small)))
}

/// The error function: 2/√π·∫ e^(-t²) from 0 to x.
pub fn erf<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let c = &S::Format::SPECIAL;
    let magnitude = s.abs(x);
    let [result] = s.pick(
        s.lt(magnitude, s.float(c.erf_near)),
        || {
            let rest = s.polynomial(s.mul(magnitude, magnitude), c.erf_rest);
            [s.add(magnitude, s.mul(magnitude, rest))]
        },
        || {
            let limited = s.min(magnitude, s.float(c.erf_greatest));
            let (center, whole) = s.nearest(s.mul(limited, s.float(8.0)));
            let distance = s.sub(limited, s.mul(whole, s.float(0.125)));
            let (high, low) = around_center(s, c.erf, center, distance);
            [s.add(high, low)]
        },
    );
    s.select(s.eq(x, x), s.signed(result, s.sign(x)), x)
}

/// The derivative of the error function: 2/√π·e^(-x²), with the square in two parts.
pub fn erf_slope<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    // Above 40 the result is 0; limiting the argument avoids overflow of the square.
    let limited = s.min(s.abs(x), s.float(40.0));
    let (square, low) = two_product(s, limited, limited);
    let bell = exp_of_pair(s, (s.neg(square), s.neg(low)));
    s.select(s.eq(x, x), s.mul(bell, s.float(S::Format::SPECIAL.erf_slope)), x)
}

/// log Γ(whole_part + x), for sums from 1 - 1/16 up to the start of Stirling's series.
#[inline(always)]
fn log_gamma_by_table<S: FloatOps>(s: &S, whole_part: S::Float, x: S::Float) -> Twofold<S> {
    let c = &S::Format::SPECIAL;
    let (center, whole) = s.nearest(s.mul(s.add(whole_part, x), s.float(8.0)));
    let distance = s.add(s.sub(whole_part, s.mul(whole, s.float(0.125))), x);
    around_center(s, c.log_gamma, s.word_sub(center, s.word(8)), distance)
}

/// log Γ(x) for large x: (x - 1/2)·(log x - 1) + (log 2π - 1)/2 + p(1/x²)/x, where p is the polynomial `stirling_rest`.
#[inline(always)]
fn log_gamma_by_series<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let c = &S::Format::SPECIAL;
    // If x is so large that only the term x·(log x - 1) matters, x is scaled down before the product, because
    // splitting a large float would overflow. The result is scaled up again.
    let is_large = s.lt(s.power_of_two(s.word(S::Format::BIAS / 4)), x);
    let none_if_large = |value: S::Float| s.select(is_large, s.float(0.0), value);
    let shift = s.word_select(is_large, s.word(S::Format::BIAS / 4), s.word(0));
    let part = s.mul(x, s.power_of_two(s.word_sub(s.word(0), shift)));
    let (log, log_low) = log_in_parts(s, x);
    let (factor, factor_low) = two_sum(s, log, s.float(-1.0));
    let factor = quick_two_sum(s, factor, s.add(factor_low, log_low));
    let (high, low) = product(s, two_sum(s, part, none_if_large(s.float(-0.5))), factor);
    let (high, error) = two_sum(s, high, none_if_large(s.float(c.stirling[0])));
    let inverse = s.div(s.float(1.0), part);
    let rest = s.mul(inverse, s.polynomial(s.mul(inverse, inverse), c.stirling_rest));
    let small = s.add(none_if_large(s.float(c.stirling[1])), none_if_large(rest));
    s.scale(s.add(high, s.add(s.add(error, low), small)), shift)
}

/// log Γ(x) for positive x; infinite at 0, NaN below.
pub fn log_gamma<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let c = &S::Format::SPECIAL;
    let (zero, one) = (s.float(0.0), s.float(1.0));
    let [result] = s.pick(
        s.lt(x, s.float(c.stirling_from)),
        || {
            let [result] = s.pick(
                s.lt(x, s.float(0.9375)),
                || {
                    // For small x: log Γ(x) = log Γ(1 + x) - log x.
                    let (above, above_low) = log_gamma_by_table(s, one, x);
                    let (log, log_low) = log_in_parts(s, x);
                    let (high, low) = two_sum(s, s.neg(log), above);
                    [s.add(high, s.add(low, s.sub(above_low, log_low)))]
                },
                || {
                    let (high, low) = log_gamma_by_table(s, zero, x);
                    [s.add(high, low)]
                },
            );
            [result]
        },
        || [log_gamma_by_series(s, x)],
    );
    let infinity = s.float(f64::INFINITY);
    let within = s.both(s.lt(zero, x), s.lt(x, infinity));
    let is_limit = s.either(s.eq(x, zero), s.eq(x, infinity));
    s.select(within, result, s.select(is_limit, infinity, s.float(f64::NAN)))
}

/// The derivative of log Γ for positive x; -∞ at 0, NaN below. The error is a few units in the last place of the
/// greatest term. For a small x, the derivative is computed at x + 8, and Σ 1/(x + k) for k from 0 to 7 is subtracted.
pub fn digamma<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let c = &S::Format::SPECIAL;
    let shift = 8;
    let zero = s.float(0.0);
    let [from, less, less_low] = s.pick(
        s.lt(x, s.float(8.0)),
        || {
            let inverse = |k: i32| s.div(s.float(1.0), s.add(x, s.float(f64::from(k))));
            // The smallest terms are added first.
            let (sum, low) = (0..shift).rev().fold((zero, zero), |(sum, low), k| {
                let (sum, error) = two_sum(s, inverse(k), sum);
                (sum, s.add(low, error))
            });
            [s.add(x, s.float(f64::from(shift))), sum, low]
        },
        || [x, zero, zero],
    );
    let (log, log_low) = log_in_parts(s, from);
    let inverse = s.div(s.float(1.0), from);
    let square = s.mul(inverse, inverse);
    let rest = s.mul(square, s.polynomial(square, c.digamma_rest));
    let small = s.add(s.mul(inverse, s.float(0.5)), rest);
    let (high, low) = two_sum(s, log, s.neg(less));
    let result = s.add(high, s.sub(s.sub(s.add(low, log_low), less_low), small));
    let infinity = s.float(f64::INFINITY);
    // If 1/x overflows, so does the result.
    let result = s.select(s.lt(less, infinity), result, s.neg(infinity));
    let is_inside = s.both(s.lt(zero, x), s.lt(x, infinity));
    let at_end = s.select(s.eq(x, infinity), infinity, s.float(f64::NAN));
    let limit = s.select(s.eq(x, zero), s.neg(infinity), at_end);
    s.select(is_inside, result, limit)
}
