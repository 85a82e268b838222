//! Arcsine, arccosine, arctangent, and the angle of a point.
//!
//! The arcsine is a polynomial up to 1/2. Above 1/2 it is π/2 - 2·asin √((1 - x)/2): W. J. Cody and W. Waite,
//! "Software Manual for the Elementary Functions" (1980).
//!
//! The arctangent of a/b is atan c + atan t, where c is a number of few digits near a/b, and t is
//! (a - c·b)/(b + c·a). An estimate of a/b from the bits of both numbers selects c, so only the division for t is
//! needed: J.-M. Muller, "Elementary Functions: Algorithms and Implementation", 3rd edition (2016), chapter 6. The
//! estimate is that of J. N. Mitchell's logarithms, "Computer multiplication and division using binary
//! logarithms", IRE Transactions on Electronic Computers 11 (1962).

use super::format::Format;
use super::ops::FloatOps;
use super::pair::{Twofold, quick_two_sum};

/// Returns π/2 in two parts.
#[inline(always)]
fn half_pi<S: FloatOps>(s: &S) -> Twofold<S> {
    let [high, low] = S::Format::TRIG.half_pi;
    (s.float(high), s.float(low))
}

/// The arcsine of a number v, as the sum of three terms: `of` has two parts, and `more` is the third term. If
/// |x| is at most 1/2, v is |x|, otherwise v = √((1 - |x|)/2).
struct Arc<S: FloatOps> {
    is_near: S::Flag,
    /// The number v in two parts. If v is a root, the first part has half of the digits.
    of: Twofold<S>,
    /// The difference asin v - v.
    more: S::Float,
}

#[inline(always)]
fn arc<S: FloatOps>(s: &S, magnitude: S::Float) -> Arc<S> {
    let c = &S::Format::INVERSE_TRIG;
    let half = s.float(0.5);
    let is_near = s.lt(magnitude, half);
    // The difference 1 - |x| is exact where it is used, which is for |x| from 1/2 to 1.
    let far_square = s.mul(s.sub(s.float(1.0), magnitude), half);
    let square = s.select(is_near, s.mul(magnitude, magnitude), far_square);
    let fourth = s.mul(square, square);
    let beyond = s.mul(s.mul(s.mul(fourth, fourth), fourth), s.polynomial(square, c.arcsine_beyond));
    let series = s.mul(square, s.add(s.polynomial(square, c.arcsine), beyond));
    let root = s.sqrt(far_square);
    let root_high = s.upper_half(root);
    let left = s.sub(far_square, s.mul(root_high, root_high));
    // The maximum avoids a division by 0: the root of 0 has the low part 0.
    let root_low = s.div(left, s.max(s.add(root, root_high), s.float(S::Format::LEAST_NORMAL)));
    Arc {
        is_near,
        of: (s.select(is_near, magnitude, root_high), s.select(is_near, s.float(0.0), root_low)),
        more: s.mul(s.select(is_near, magnitude, root), series),
    }
}

/// Returns the arcsine, from -π/2 to π/2; NaN outside [-1, 1].
pub fn asin<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let Arc { is_near, of, more } = arc(s, s.abs(x));
    let (quarter, quarter_low) = half_pi(s);
    let twice = s.add(of.0, of.0);
    let (high, low) = quick_two_sum(s, quarter, s.neg(twice));
    let rest = s.add(of.1, more);
    let far = s.add(high, s.add(s.add(low, quarter_low), s.neg(s.add(rest, rest))));
    s.signed(s.select(is_near, s.add(of.0, more), far), s.sign(x))
}

/// Returns the arccosine, from 0 to π; NaN outside [-1, 1].
pub fn acos<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let Arc { is_near, of, more } = arc(s, s.abs(x));
    let (quarter, quarter_low) = half_pi(s);
    let sign = s.sign(x);
    let is_positive = s.word_eq(sign, s.word(0));
    let zero = s.float(0.0);
    // The three cases, where v is a root in the last two: π/2 - asin x; 2·asin v; π - 2·asin v.
    let base = s.select(is_near, quarter, s.select(is_positive, zero, s.add(quarter, quarter)));
    let base_low =
        s.select(is_near, quarter_low, s.select(is_positive, zero, s.add(quarter_low, quarter_low)));
    let times = s.select(is_near, s.float(-1.0), s.float(2.0));
    let times = s.signed(times, sign);
    let (high, low) = quick_two_sum(s, base, s.mul(of.0, times));
    s.add(high, s.add(s.add(low, base_low), s.mul(s.add(of.1, more), times)))
}

/// Returns the table index of c. `bits` are those of a quotient, minus those of the least quotient for which
/// c isn't 0. The index is at most `greatest`, and -1 if c is 0.
#[inline(always)]
fn index<S: FloatOps>(s: &S, bits: S::Word, greatest: i64) -> S::Word {
    let shift = s.word(S::Format::INVERSE_TRIG.index_shift);
    // The index -1 denotes the last entry of a table, which is 0.
    s.word_min(s.word_max(s.word_sar(bits, shift), s.word(-1)), s.word(greatest))
}

/// Returns atan c in two parts.
#[inline(always)]
fn arc_of_center<S: FloatOps>(s: &S, index: S::Word) -> Twofold<S> {
    let c = &S::Format::INVERSE_TRIG;
    (s.float_at(c.arcs, index), s.float_at(c.arcs_low, index))
}

/// Returns atan t - t.
#[inline(always)]
fn departure<S: FloatOps>(s: &S, t: S::Float) -> S::Float {
    let square = s.mul(t, t);
    s.mul(s.mul(t, square), s.polynomial(square, S::Format::INVERSE_TRIG.arctangent))
}

/// Returns the difference between the exact quotient and a rounded quotient of at most 1. The difference is
/// computed from the remainder of the division, which is exact except for its last digits. The correction of a
/// small quotient is 0, because its arctangent is the quotient itself, and parts of its remainder might be
/// subnormal.
#[inline(always)]
fn rest_of_quotient<S: FloatOps>(
    s: &S,
    dividend: S::Float,
    divisor: S::Float,
    quotient: S::Float,
) -> S::Float {
    let (q_high, d_high) = (s.upper_half(quotient), s.upper_half(divisor));
    let (q_low, d_low) = (s.sub(quotient, q_high), s.sub(divisor, d_high));
    let rest = s.sub(s.sub(dividend, s.mul(q_high, d_high)), s.mul(q_high, d_low));
    let rest = s.sub(s.sub(rest, s.mul(q_low, d_high)), s.mul(q_low, d_low));
    let is_small = s.lt(s.abs(quotient), s.float(1.0 / S::Format::SPLITTER));
    s.select(is_small, s.float(0.0), s.mul(rest, s.div(s.float(1.0), divisor)))
}

/// Returns the arctangent, from -π/2 to π/2.
pub fn atan<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let c = &S::Format::INVERSE_TRIG;
    let magnitude = s.abs(x);
    let index = index(s, s.word_sub(s.bits(magnitude), s.word(c.least)), c.beyond);
    let center = s.float_at(c.centers, index);
    let is_beyond = s.le(s.float(c.greatest), magnitude);
    // Above the table's range c is infinite, so t is -1/x. Otherwise the dividend x - c is exact.
    let dividend = s.select(is_beyond, s.float(-1.0), s.sub(magnitude, center));
    let divisor = s.select(is_beyond, magnitude, s.add(s.float(1.0), s.mul(center, magnitude)));
    let t = s.div(dividend, divisor);
    let (arc, arc_low) = arc_of_center(s, index);
    let (high, low) = quick_two_sum(s, arc, t);
    let result = s.add(high, s.add(s.add(low, arc_low), departure(s, t)));
    s.select(s.eq(x, x), s.signed(result, s.sign(x)), x)
}

/// Returns the angle of the point (x, y), from -π to π. The result has the sign of y, even for zeros; the
/// sign of a zero x distinguishes 0 from π.
pub fn atan2<S: FloatOps>(s: &S, y: S::Float, x: S::Float) -> S::Float {
    let c = &S::Format::INVERSE_TRIG;
    let (zero, one) = (s.float(0.0), s.float(1.0));
    let (rise, run) = (s.abs(y), s.abs(x));
    let is_steep = s.lt(run, rise);
    let (lesser, greater) = (s.min(rise, run), s.max(rise, run));
    let [above, below] = s.pick(
        s.both(s.lt(s.float(c.reach[0]), greater), s.lt(greater, s.float(c.reach[1]))),
        || [lesser, greater],
        || {
            let infinity = s.float(f64::INFINITY);
            let scale = s.select(s.lt(greater, one), s.float(c.scales[0]), s.float(c.scales[1]));
            // The limits: the quotient of two zeros is 0, that of two infinities is 1.
            let is_limit = s.either(s.eq(greater, zero), s.eq(greater, infinity));
            let limit = s.select(s.eq(lesser, infinity), one, zero);
            [s.select(is_limit, limit, s.mul(lesser, scale)), s.select(is_limit, one, s.mul(greater, scale))]
        },
    );
    let sign = s.sign(x);
    let is_behind = s.not(s.word_eq(sign, s.word(0)));
    let (quarter, quarter_low) = half_pi(s);
    let turns =
        |quarter: S::Float| s.select(is_steep, quarter, s.select(is_behind, s.add(quarter, quarter), zero));
    // The arctangent is subtracted from π/2 if the point is steep, and from π if x is negative.
    let from_quarter = s.word_select(is_steep, s.word(1 << (S::Format::WIDTH - 1)), s.word(0));
    let base = (turns(quarter), turns(quarter_low));
    let result = s.signed(beside(s, base, s.word_xor(sign, from_quarter), [above, below]), s.sign(y));
    let are_numbers = s.both(s.eq(x, x), s.eq(y, y));
    s.select(are_numbers, result, s.add(x, y))
}

/// Returns an angle in two parts, plus the arctangent of above/below. The arctangent is subtracted if the
/// sign bit of `sign` is set. `above` must be at most `below`.
#[inline(always)]
fn beside<S: FloatOps>(s: &S, base: Twofold<S>, sign: S::Word, [above, below]: [S::Float; 2]) -> S::Float {
    let c = &S::Format::INVERSE_TRIG;
    // The constant is the bits of 1, minus a correction, because the estimated quotient would be too great.
    let quotient = s.word_add(s.word_sub(s.bits(above), s.bits(below)), s.word(c.unit));
    let index = index(s, s.word_sub(quotient, s.word(c.least)), c.beyond);
    let center = s.float_at(c.centers, index);
    let below_high = s.upper_half(below);
    let below_low = s.sub(below, below_high);
    // The dividend is exact up to the second difference, because c has few digits.
    let dividend = s.sub(s.sub(above, s.mul(center, below_high)), s.mul(center, below_low));
    let divisor = s.add(below, s.mul(center, above));
    let t = s.div(dividend, divisor);
    let small = s.add(departure(s, t), rest_of_quotient(s, dividend, divisor, t));
    let signed = |a: S::Float| s.signed(a, sign);
    let (arc, arc_low) = arc_of_center(s, index);
    let (high, low) = quick_two_sum(s, base.0, signed(arc));
    let base_low = s.add(s.add(low, base.1), signed(arc_low));
    // If base and c are 0, the quotient is the whole result.
    let (high, low) = quick_two_sum(s, high, signed(t));
    s.add(high, s.add(s.add(base_low, low), signed(small)))
}
