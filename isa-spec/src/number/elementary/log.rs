//! The logarithms log x and log(1 + x). Source: P. T. P. Tang, "Table-driven implementation of the logarithm
//! function in IEEE floating-point arithmetic", ACM Transactions on Mathematical Software 16 (1990). The
//! table's values of 1/c have so few digits that products with them are exact.
//!
//! x = 2^k·z and z/c = 1 + r give log x = k·ln 2 + log c + r - r²/2 + r³·p(r). The upper part of z has few
//! digits, so r is known exactly, in two parts. For x around 1, k is 0 and c is 1, so the remaining terms
//! keep all digits.

use super::format::Format;
use super::ops::FloatOps;
use super::pair::{Twofold, quick_two_sum, two_sum};

/// A reduced argument: log x = k·ln 2 + log c + log(1 + r).
struct NearCenter<S: FloatOps> {
    k: S::Word,
    inverse: S::Float,
    log: Twofold<S>,
    r: Twofold<S>,
}

/// Reduces a positive normal number.
#[inline(always)]
fn reduce<S: FloatOps>(s: &S, x: S::Float) -> NearCenter<S> {
    let c = &S::Format::LOG;
    let bits = s.bits(x);
    let above = s.word_sub(bits, s.word(c.least));
    let exponent = s.word(S::Format::DIGITS - 1);
    let k = s.word_sar(above, exponent);
    let index = s.word_shr(above, s.word(S::Format::DIGITS - 1 - c.index_bits));
    let z = s.word_sub(bits, s.word_shl(k, exponent));
    // Rounding the upper part of z to nearest makes the lower part of r the smaller one. For x around 1, the upper part
    // of r may be 0.
    let half_unit = s.word(-(c.upper / 2));
    let upper = s.of_bits(s.word_and(s.word_add(z, half_unit), s.word(c.upper)));
    let lower = s.sub(s.of_bits(z), upper);
    let inverse = s.float_at(c.inverses, index);
    NearCenter {
        k,
        inverse,
        log: (s.float_at(c.logs, index), s.float_at(c.logs_low, index)),
        r: (s.sub(s.mul(upper, inverse), s.float(1.0)), s.mul(lower, inverse)),
    }
}

/// Reduces any positive number; subnormal numbers are scaled up first.
#[inline(always)]
fn reduce_any<S: FloatOps>(s: &S, x: S::Float) -> NearCenter<S> {
    let small = s.lt(x, s.float(S::Format::LEAST_NORMAL));
    let digits = s.word(S::Format::DIGITS);
    let enlarged = s.mul(x, s.power_of_two(digits));
    let mut reduced = reduce(s, s.select(small, enlarged, x));
    reduced.k = s.word_sub(reduced.k, s.word_select(small, digits, s.word(0)));
    reduced
}

/// Returns r³·p(r).
#[inline(always)]
fn rest<S: FloatOps>(s: &S, r: S::Float) -> S::Float {
    s.mul(s.mul(r, s.mul(r, r)), s.polynomial(r, S::Format::LOG.rest))
}

/// Returns k·ln 2 + log c; the first part is exact.
#[inline(always)]
fn base<S: FloatOps>(s: &S, reduced: &NearCenter<S>) -> Twofold<S> {
    let ln2 = S::Format::LOG.ln2;
    let k = s.of_word(reduced.k);
    (s.add(s.mul(k, s.float(ln2[0])), reduced.log.0), s.add(s.mul(k, s.float(ln2[1])), reduced.log.1))
}

/// Returns log x. `added` is added to r; it must be less than the last digit of r.
#[inline(always)]
fn finish<S: FloatOps>(s: &S, reduced: &NearCenter<S>, added: S::Float) -> S::Float {
    let (base, base_low) = base(s, reduced);
    let (r, r_low) = quick_two_sum(s, reduced.r.0, reduced.r.1);
    let (high, low) = quick_two_sum(s, base, r);
    let r_low = s.add(r_low, added);
    let whole = s.add(r, added);
    let half_square = s.mul(s.mul(whole, whole), s.float(0.5));
    let small = s.sub(s.add(base_low, rest(s, r)), half_square);
    s.add(high, s.add(s.add(low, r_low), small))
}

/// Returns `within`, the logarithm of a positive finite x. For other x, returns the limit: -∞ at 0, ∞ at ∞,
/// and NaN below 0.
#[inline(always)]
fn at_the_edges<S: FloatOps>(s: &S, x: S::Float, within: S::Float) -> S::Float {
    let (zero, infinity) = (s.float(0.0), s.float(f64::INFINITY));
    let not_finite = s.select(s.eq(x, infinity), x, s.float(f64::NAN));
    let beyond = s.select(s.eq(x, zero), s.neg(infinity), not_finite);
    s.select(s.both(s.lt(zero, x), s.lt(x, infinity)), within, beyond)
}

/// Returns the natural logarithm.
pub fn log<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    at_the_edges(s, x, finish(s, &reduce_any(s, x), s.float(-0.0)))
}

/// Returns log(1 + x) without losing digits where x is small: the rounding error of 1 + x is added to r.
pub fn ln_1p<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let (sum, error) = two_sum(s, s.float(1.0), x);
    let reduced = reduce(s, sum);
    // The rounding error of 1 + x is at most 1, so it has no effect on a large sum. So a limit on k doesn't change the
    // result. Without the limit, 2^-k might be subnormal.
    let k = s.word_min(reduced.k, s.word(2 * S::Format::DIGITS));
    let scale = s.power_of_two(s.word_sub(s.word(0), k));
    let error = s.mul(s.mul(error, scale), reduced.inverse);
    let result = at_the_edges(s, sum, finish(s, &reduced, error));
    // If 1 + x rounds to 1, the result is x itself, which preserves the sign of a zero.
    s.select(s.eq(sum, s.float(1.0)), x, result)
}

/// Returns log x in two parts, for any x ≥ 0. The second part adds about as many binary digits as there are leading
/// zeros in r. If the first part isn't finite, the second part is meaningless.
#[inline(always)]
pub fn log_in_parts<S: FloatOps>(s: &S, x: S::Float) -> Twofold<S> {
    let reduced = reduce_any(s, x);
    let (base, base_low) = base(s, &reduced);
    let (r_high, r_low) = reduced.r;
    let r = s.add(r_high, r_low);
    let (first, first_low) = quick_two_sum(s, base, r_high);
    let (second, second_low) = two_sum(s, first, r_low);
    // -(r_high + r_low)²/2: the first square is exact, the remaining terms are small.
    let half = s.mul(r_high, s.float(-0.5));
    let (third, third_low) = quick_two_sum(s, second, s.mul(half, r_high));
    let cross = s.mul(r_low, s.sub(half, s.mul(s.add(r_high, r_low), s.float(0.5))));
    let small = s.add(s.add(first_low, second_low), s.add(third_low, base_low));
    let low = s.add(s.add(rest(s, r), cross), small);
    let (high, low) = quick_two_sum(s, third, low);
    (at_the_edges(s, x, high), low)
}
