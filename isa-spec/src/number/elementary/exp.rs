//! The exponential and the functions derived from it. Sources: P. T. P. Tang, "Table-driven implementation of
//! the exponential function in IEEE floating-point arithmetic", ACM Transactions on Mathematical Software 15
//! (1989), and the same author's expm1, TOMS 18 (1992); the reduction in two parts is that of Cody and Waite
//! (1980).
//!
//! x = (steps·m + j)·ln 2/steps + r gives e^x = 2^m·2^(j/steps)·e^r. The table has the second factor in two parts, and
//! a short polynomial approximates the third. The last rounding is that of a sum. Its smaller summand, which contains
//! the earlier rounding errors, is less than 1/40 of the result.

use super::format::Format;
use super::ops::FloatOps;
use super::pair::{Twofold, quick_two_sum, quotient, two_sum};

/// A reduced argument: x = n·step + r.
struct InSteps<S: FloatOps> {
    n: S::Word,
    r: S::Float,
}

#[inline(always)]
fn reduce<S: FloatOps>(s: &S, x: S::Float) -> InSteps<S> {
    let c = &S::Format::EXP;
    let (n, whole) = s.nearest(s.mul(x, s.float(c.per_unit)));
    let r = s.sub(x, s.mul(whole, s.float(c.step[0])));
    InSteps { n, r: s.sub(r, s.mul(whole, s.float(c.step[1]))) }
}

/// Returns m and 2^(j/steps), where n = steps·m + j. The power has two parts.
#[inline(always)]
fn power<S: FloatOps>(s: &S, n: S::Word) -> (S::Word, Twofold<S>) {
    let c = &S::Format::EXP;
    (s.word_sar(n, s.word(c.step_bits)), (s.float_at(c.powers, n), s.float_at(c.powers_low, n)))
}

/// Returns e^r - 1, the polynomial for the reduced argument.
#[inline(always)]
fn departure<S: FloatOps>(s: &S, r: S::Float) -> S::Float {
    s.add(r, s.mul(s.mul(r, r), s.polynomial(r, S::Format::EXP.rest)))
}

/// Returns the even and the odd part of e^r - 1 as a function of r.
#[inline(always)]
fn halves<S: FloatOps>(s: &S, r: S::Float) -> Twofold<S> {
    let rest = S::Format::EXP.rest;
    let square = s.mul(r, r);
    let (even, odd) = (s.every_other(square, rest), s.every_other(square, &rest[1..]));
    (s.mul(square, even), s.add(r, s.mul(s.mul(r, square), odd)))
}

/// Clamps an argument to the range where the result is neither 0 nor infinite, with a margin.
#[inline(always)]
fn limited<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let c = &S::Format::EXP;
    s.max(s.min(x, s.float(c.greatest)), s.float(c.least))
}

/// Returns e^x = 2^m·(high + low), where the high part is between 1 and 2.
#[inline(always)]
fn in_parts<S: FloatOps>(s: &S, x: S::Float) -> (S::Word, Twofold<S>) {
    let reduced = reduce(s, x);
    let (m, (high, low)) = power(s, reduced.n);
    (m, quick_two_sum(s, high, s.add(low, s.mul(high, departure(s, reduced.r)))))
}

/// Returns e^x.
pub fn exp<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    exp_of_pair(s, (x, s.float(0.0)))
}

/// Returns e^(high + low), where the low part is less than half a step of the table.
#[inline(always)]
pub fn exp_of_pair<S: FloatOps>(s: &S, x: Twofold<S>) -> S::Float {
    let reduced = reduce(s, limited(s, x.0));
    let (m, (high, low)) = power(s, reduced.n);
    let departure = departure(s, s.add(reduced.r, x.1));
    let result = s.scale(s.add(high, s.add(low, s.mul(high, departure))), m);
    s.select(s.eq(x.0, x.0), result, x.0)
}

/// Returns e^x - 1 without losing digits where x is small.
pub fn exp_m1<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let c = &S::Format::EXP;
    let near = s.lt(s.abs(x), s.float(c.near));
    let [result] = s.pick(
        near,
        || {
            let square = s.mul(x, x);
            let rest = s.mul(s.mul(square, x), s.polynomial(x, c.near_rest));
            [s.add(x, s.add(s.mul(square, s.float(0.5)), rest))]
        },
        || {
            let (m, (high, low)) = in_parts(s, s.max(limited(s, x), s.float(c.least_m1)));
            // 2^-m has no effect if it is below the last digit of the result, so m is limited.
            let one = s.power_of_two(s.word_sub(s.word(0), s.word_min(m, s.word(2 * S::Format::DIGITS))));
            let (sum, error) = two_sum(s, high, s.neg(one));
            [s.scale(s.add(sum, s.add(error, low)), m)]
        },
    );
    // For NaN and zeros the result is x itself, because the computation would lose the sign of a zero.
    s.select(s.either(s.not(s.eq(x, x)), s.eq(x, s.float(0.0))), x, result)
}

/// The sum and the difference of e^|x| and e^-|x|. To get cosh and sinh, sum and difference are multiplied by 2^m and
/// halved.
struct Waves<S: FloatOps> {
    m: S::Word,
    sum: S::Float,
    difference: S::Float,
}

/// Computes e^|x| and e^-|x| from one reduction of the argument. For e^-|x|, the table's power for -n is used, and the
/// polynomial with its odd part negated.
#[inline(always)]
fn waves<S: FloatOps>(s: &S, x: S::Float) -> Waves<S> {
    let InSteps { n, r } = reduce(s, x);
    let (m, (high, low)) = power(s, n);
    let (back_m, (back_high, back_low)) = power(s, s.word_sub(s.word(0), n));
    // e^-|x| has no effect if it is less than 2^-digits of e^|x|. So its exponent is limited, because the
    // power of two might not be a normal number.
    let ratio = s.word_max(s.word_sub(back_m, m), s.word(-2 * S::Format::DIGITS));
    let ratio = s.power_of_two(ratio);
    let (back_high, back_low) = (s.mul(back_high, ratio), s.mul(back_low, ratio));
    let (even, odd) = halves(s, r);
    let (up, down) = (s.add(even, odd), s.sub(even, odd));
    let ahead = s.add(low, s.mul(high, up));
    let behind = s.add(back_low, s.mul(back_high, down));
    let (sum, sum_low) = quick_two_sum(s, high, back_high);
    let (difference, difference_low) = quick_two_sum(s, high, s.neg(back_high));
    Waves {
        m,
        sum: s.add(sum, s.add(sum_low, s.add(ahead, behind))),
        difference: s.add(difference, s.add(difference_low, s.sub(ahead, behind))),
    }
}

/// Returns half of a sum or difference, multiplied by 2^m. The halving comes before the multiplication, which
/// may overflow.
#[inline(always)]
fn half<S: FloatOps>(s: &S, wave: S::Float, m: S::Word) -> S::Float {
    s.scale(s.mul(wave, s.float(0.5)), m)
}

/// Returns the hyperbolic cosine.
pub fn cosh<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let waves = waves(s, limited(s, s.abs(x)));
    let result = half(s, waves.sum, waves.m);
    s.select(s.eq(x, x), result, x)
}

/// Returns the hyperbolic sine: a polynomial where |x| < 1.
pub fn sinh<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let magnitude = s.abs(x);
    let [result] = s.pick(
        s.lt(magnitude, s.float(1.0)),
        || {
            let square = s.mul(magnitude, magnitude);
            let rest = s.polynomial(square, S::Format::EXP.sinh);
            [s.add(magnitude, s.mul(s.mul(magnitude, square), rest))]
        },
        || {
            let waves = waves(s, limited(s, magnitude));
            [half(s, waves.difference, waves.m)]
        },
    );
    let result = s.signed(result, s.sign(x));
    s.select(s.eq(x, x), result, x)
}

/// Returns the hyperbolic tangent: a polynomial where |x| is small, otherwise (e^2|x| - 1)/(e^2|x| + 1) in
/// two parts.
pub fn tanh<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let c = &S::Format::EXP;
    let magnitude = s.abs(x);
    let [result] = s.pick(
        s.lt(magnitude, s.float(c.tanh_near)),
        || {
            let square = s.mul(magnitude, magnitude);
            [s.add(magnitude, s.mul(s.mul(magnitude, square), s.polynomial(square, c.tanh)))]
        },
        || {
            let twice = s.min(s.add(magnitude, magnitude), s.float(c.greatest_tanh));
            let (m, (high, low)) = in_parts(s, twice);
            let scale = s.power_of_two(m);
            let (high, low) = (s.mul(high, scale), s.mul(low, scale));
            let more = |one: f64| {
                let (sum, error) = quick_two_sum(s, high, s.float(one));
                quick_two_sum(s, sum, s.add(error, low))
            };
            let (ratio, rest) = quotient(s, more(-1.0), more(1.0));
            [s.add(ratio, rest)]
        },
    );
    let result = s.signed(result, s.sign(x));
    s.select(s.eq(x, x), result, x)
}

/// Returns 1/(1 + e^-x), computed as e^x/(1 + e^x) where x is negative.
pub fn sigmoid<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let one = (s.float(1.0), s.float(0.0));
    let magnitude = s.min(s.abs(x), s.neg(s.float(S::Format::EXP.least)));
    // e^-|x| is at most 1. If it is the numerator, its factor 2^m is applied after the division, because the
    // quotient may be subnormal.
    let (m, (high, low)) = in_parts(s, s.neg(magnitude));
    let near = s.power_of_two(s.word_max(m, s.word(-2 * S::Format::DIGITS)));
    let (sum, error) = quick_two_sum(s, s.float(1.0), s.mul(high, near));
    let sum = quick_two_sum(s, sum, s.add(error, s.mul(low, near)));
    let negative = s.lt(x, s.float(0.0));
    let above = (s.select(negative, high, one.0), s.select(negative, low, one.1));
    let (ratio, rest) = quotient(s, above, sum);
    let result = s.scale(s.add(ratio, rest), s.word_select(negative, m, s.word(0)));
    s.select(s.eq(x, x), result, x)
}
