//! Sine, cosine and tangent of all arguments.
//!
//! x = n·π/2 + r, with r in two parts. For moderate arguments, n·π/2 is subtracted in parts that have exact
//! products with n: W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (1980). For large
//! arguments, x·2/π is computed modulo 4 from the relevant bits of 2/π: M. H. Payne and R. N. Hanek, "Radian
//! reduction for trigonometric functions", SIGNUM Newsletter 18 (1983). The least distance of r from 0, which
//! determines the number of required bits, is from J.-M. Muller, "Elementary Functions: Algorithms and
//! Implementation", 3rd edition (2016), chapter 11. For |r| up to π/4 there are polynomials. The tangent is a
//! quotient, corrected by its remainder.

use super::format::Format;
use super::ops::FloatOps;
use super::pair::{Twofold, product, quick_two_sum};

/// An angle x reduced by n·π/2, the nearest multiple of π/2: x - n·π/2. Only the lowest two bits of n matter.
struct ReducedAngle<S: FloatOps> {
    n: S::Word,
    /// The reduced angle as one float, available before `angle`.
    near: S::Float,
    /// The difference between `angle` and `near`, approximately; `None` if there is no difference.
    off: Option<S::Float>,
    /// The reduced angle in two parts.
    angle: Twofold<S>,
}

/// Reduces a non-negative argument; the angle is NaN if the argument isn't finite.
#[inline(always)]
fn reduce<S: FloatOps>(s: &S, x: S::Float) -> ReducedAngle<S> {
    let is_below = |limit: f64| s.lt(x, s.float(limit));
    let c = &S::Format::TRIG;
    let [quarters, near, off, high, low] = s.pick(
        is_below(c.greatest_moderate),
        || moderate(s, x),
        || s.pick_usual(is_below(c.greatest_far), || far(s, x), || great(s, x)),
    );
    ReducedAngle { n: s.bits(quarters), near, off: Some(off), angle: (high, low) }
}

/// Evaluates a function at the reduced angle of |x|. If |x| is less than π/4, the reduction would change
/// nothing and is skipped.
#[inline(always)]
fn of_reduced<S: FloatOps, const N: usize>(
    s: &S,
    x: S::Float,
    function: impl Fn(&ReducedAngle<S>) -> [S::Float; N],
) -> [S::Float; N] {
    let magnitude = s.abs(x);
    s.pick(
        s.lt(magnitude, s.float(S::Format::TRIG.eighth)),
        || {
            function(&ReducedAngle {
                n: s.word(0),
                near: magnitude,
                off: None,
                angle: (magnitude, s.float(0.0)),
            })
        },
        || function(&reduce(s, magnitude)),
    )
}

/// Reduces a moderate argument. Returns n as the bits of a float, followed by the fields `near`, `off` and
/// `angle` (two floats) of [`ReducedAngle`].
///
/// A difference that cancels is exact, so the angle keeps its digits even close to a multiple of π/2.
#[inline(always)]
fn moderate<S: FloatOps>(s: &S, x: S::Float) -> [S::Float; 5] {
    let c = &S::Format::TRIG;
    let (quarters, n) = s.nearest(s.mul(x, s.float(c.per_quarter)));
    let part = |at: usize| s.mul(n, s.float(c.quarter[at]));
    let first = s.sub(x, part(0));
    let (near, error) = quick_two_sum(s, first, s.neg(part(1)));
    let off = s.sub(error, part(2));
    let (high, low) = quick_two_sum(s, near, off);
    [s.of_bits(quarters), near, off, high, s.sub(low, part(3))]
}

/// The same as `moderate` for greater arguments: n has more digits, so π/2 is split into more and shorter
/// parts.
#[inline(always)]
fn far<S: FloatOps>(s: &S, x: S::Float) -> [S::Float; 5] {
    let c = &S::Format::TRIG;
    let (quarters, n) = s.nearest(s.mul(x, s.float(c.per_quarter)));
    let part = |at: usize| s.mul(n, s.float(c.quarter_far[at]));
    let first = s.sub(s.sub(x, part(0)), part(1));
    let (near, off) = (2..6).fold((first, s.float(0.0)), |(sum, off), at| {
        let (sum, error) = quick_two_sum(s, sum, s.neg(part(at)));
        (sum, s.add(off, error))
    });
    let off = s.sub(off, part(6));
    let (high, low) = quick_two_sum(s, near, off);
    [s.of_bits(quarters), near, off, high, low]
}

/// The same as `moderate` for any normal number of about 1 or more.
fn great<S: FloatOps>(s: &S, x: S::Float) -> [S::Float; 5] {
    let c = &S::Format::TRIG;
    let (n, turn) = quarters(s, x);
    let (high, low) = product(s, turn, (s.float(c.half_pi[0]), s.float(c.half_pi[1])));
    let is_finite = s.lt(x, s.float(f64::INFINITY));
    let high = s.select(is_finite, high, s.float(f64::NAN));
    [s.of_bits(n), high, low, high, low]
}

/// Returns the number of quarter turns in x modulo 4, and the remaining fraction of a quarter turn in two
/// parts, of magnitude at most 1/2. The argument x is an integer times 2^e. Bits of 2/π that contribute only
/// whole turns are skipped.
#[inline(always)]
fn quarters<S: FloatOps>(s: &S, x: S::Float) -> (S::Word, Twofold<S>) {
    let c = &S::Format::TRIG;
    let width = S::Format::WIDTH;
    let stored = s.word(S::Format::DIGITS - 1);
    let leading = s.word(1 << (S::Format::DIGITS - 1));
    let bits = s.bits(x);
    let fraction = s.word_and(bits, s.word_sub(leading, s.word(1)));
    let whole = s.word_or(fraction, leading);
    // The table begins with a word of zeros, so that the position in it is positive for every exponent.
    let lift = s.word(width - 1 - S::Format::BIAS - S::Format::DIGITS);
    let position = s.word_add(s.word_shr(bits, stored), lift);
    let first = s.word_shr(position, s.word(i64::from(width.trailing_zeros())));
    let left = s.word_and(position, s.word(width - 1));
    let right = s.word_sub(s.word(width - 1), left);
    let at = |index: i64| {
        let index = s.word_add(first, s.word(index));
        let upper = s.word_shl(s.lookup(c.inverse, index), left);
        let next = s.lookup(c.inverse, s.word_add(index, s.word(1)));
        s.word_or(upper, s.word_shr(s.word_shr(next, s.word(1)), right))
    };
    let (b0, b1, b2) = (at(0), at(1), at(2));
    // The upper two words of the product: an angle in units of quarter turns.
    let (second, more) = (s.word_mul(whole, b1), s.word_mul_upper(whole, b2));
    let lower = s.word_add(second, more);
    let both = s.word_and(second, more);
    let either = s.word_and(s.word_or(second, more), s.word_xor(lower, s.word(-1)));
    let carry = s.word_shr(s.word_or(both, either), s.word(width - 1));
    let upper = s.word_add(s.word_mul(whole, b0), s.word_add(s.word_mul_upper(whole, b1), carry));
    // n is the two bits before the binary point, after rounding to the nearest integer.
    let n = s.word_shr(s.word_add(upper, s.word(1 << (width - 3))), s.word(width - 2));
    let upper = s.word_or(s.word_shl(upper, s.word(2)), s.word_shr(lower, s.word(width - 2)));
    (n, fraction_of_words(s, upper, s.word_shl(lower, s.word(2))))
}

/// Returns a number of magnitude at most 1/2, given its bits after the binary point as two words. The upper
/// word is signed.
#[inline(always)]
fn fraction_of_words<S: FloatOps>(s: &S, upper: S::Word, lower: S::Word) -> Twofold<S> {
    let width = S::Format::WIDTH;
    // Flipping all bits differs from a negation by one unit of the last bit, which doesn't matter.
    let flipped = s.word_sar(upper, s.word(width - 1));
    let (upper, lower) = (s.word_xor(upper, flipped), s.word_xor(lower, flipped));
    let half = s.word(width / 2);
    let mask = s.word((1 << (width / 2)) - 1);
    let digit =
        |word: S::Word, place: i64| s.mul(s.of_word(word), s.power_of_two(s.word(-place * width / 2)));
    let pair = |word: S::Word, place: i64| {
        quick_two_sum(s, digit(s.word_shr(word, half), place), digit(s.word_and(word, mask), place + 1))
    };
    let (first, first_low) = pair(upper, 1);
    let (second, second_low) = pair(lower, 3);
    let (low, rest) = quick_two_sum(s, first_low, second);
    let (high, low) = quick_two_sum(s, first, low);
    let sign = s.word_and(flipped, s.word(1 << (width - 1)));
    (s.signed(high, sign), s.signed(s.add(low, s.add(rest, second_low)), sign))
}

/// The sine and the cosine of a reduced angle, each as a sum of two parts of which the second is small.
struct SineAndCosine<S: FloatOps> {
    sine: Twofold<S>,
    cosine: Twofold<S>,
}

#[inline(always)]
fn waves<S: FloatOps>(s: &S, reduced: &ReducedAngle<S>) -> SineAndCosine<S> {
    let c = &S::Format::TRIG;
    let square = s.mul(reduced.near, reduced.near);
    let half = s.mul(square, s.float(0.5));
    // Both polynomials are evaluated at the approximate angle `near`. The correction for the remainder `off`
    // is `off` times the derivative, which is the other function.
    let cubic = s.mul(s.mul(reduced.near, square), s.polynomial(square, c.sine));
    let quartic = s.mul(s.mul(square, square), s.polynomial(square, c.cosine));
    let (high, low) = reduced.angle;
    let less_slope = |a: S::Float, slope: S::Float| reduced.off.map_or(a, |off| s.sub(a, s.mul(slope, off)));
    let sine = (high, s.add(less_slope(low, s.sub(half, quartic)), cubic));
    let base = s.sub(s.float(1.0), half);
    let error = s.sub(s.sub(s.float(1.0), base), half);
    let cosine = (base, s.add(less_slope(error, s.add(reduced.near, cubic)), quartic));
    SineAndCosine { sine, cosine }
}

#[inline(always)]
fn select_pair<S: FloatOps>(s: &S, flag: S::Flag, yes: Twofold<S>, no: Twofold<S>) -> Twofold<S> {
    (s.select(flag, yes.0, no.0), s.select(flag, yes.1, no.1))
}

#[inline(always)]
fn is_odd<S: FloatOps>(s: &S, n: S::Word) -> S::Flag {
    s.word_eq(s.word_and(n, s.word(1)), s.word(1))
}

/// Moves a word's second-lowest bit to the sign bit.
#[inline(always)]
fn turned<S: FloatOps>(s: &S, n: S::Word) -> S::Word {
    s.word_shl(s.word_shr(n, s.word(1)), s.word(S::Format::WIDTH - 1))
}

#[inline(always)]
fn sine<S: FloatOps>(s: &S, reduced: &ReducedAngle<S>, waves: &SineAndCosine<S>, sign: S::Word) -> S::Float {
    let (high, low) = select_pair(s, is_odd(s, reduced.n), waves.cosine, waves.sine);
    s.signed(s.add(high, low), s.word_xor(turned(s, reduced.n), sign))
}

#[inline(always)]
fn cosine<S: FloatOps>(s: &S, reduced: &ReducedAngle<S>, waves: &SineAndCosine<S>) -> S::Float {
    let (high, low) = select_pair(s, is_odd(s, reduced.n), waves.sine, waves.cosine);
    s.signed(s.add(high, low), turned(s, s.word_add(reduced.n, s.word(1))))
}

/// Returns the sine of an angle in radians.
pub fn sin<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let [sine] = of_reduced(s, x, |reduced| [sine(s, reduced, &waves(s, reduced), s.sign(x))]);
    sine
}

/// Returns the cosine of an angle in radians.
pub fn cos<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let [cosine] = of_reduced(s, x, |reduced| [cosine(s, reduced, &waves(s, reduced))]);
    cosine
}

/// Returns the sine and the cosine: the same bits as the separate functions.
pub fn sin_cos<S: FloatOps>(s: &S, x: S::Float) -> (S::Float, S::Float) {
    let [sine, cosine] = of_reduced(s, x, |reduced| {
        let waves = waves(s, reduced);
        [sine(s, reduced, &waves, s.sign(x)), cosine(s, reduced, &waves)]
    });
    (sine, cosine)
}

/// Returns the tangent of an angle in radians.
pub fn tan<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let c = &S::Format::TRIG;
    let magnitude = s.abs(x);
    let [tangent] = s.pick(
        s.lt(magnitude, s.float(c.tangent_near)),
        || {
            let square = s.mul(magnitude, magnitude);
            let more = s.mul(s.mul(magnitude, square), s.polynomial(square, c.tangent));
            [s.add(magnitude, more)]
        },
        || [tangent(s, &reduce(s, magnitude))],
    );
    s.signed(tangent, s.sign(x))
}

/// Returns the sine and the cosine, or the cosine and the sine if `is_odd`, to somewhat more than half of
/// their digits.
#[inline(always)]
fn roughly<S: FloatOps>(s: &S, reduced: &ReducedAngle<S>, is_odd: S::Flag) -> Twofold<S> {
    let c = &S::Format::TRIG;
    let near = reduced.near;
    let square = s.mul(near, near);
    let angle = s.add(reduced.angle.0, reduced.angle.1);
    let sine = s.add(angle, s.mul(s.mul(near, square), s.polynomial(square, c.sine_about)));
    let base = s.sub(s.float(1.0), s.mul(square, s.float(0.5)));
    let cosine = s.add(base, s.mul(s.mul(square, square), s.polynomial(square, c.cosine_about)));
    (s.select(is_odd, cosine, sine), s.select(is_odd, sine, cosine))
}

/// Returns the tangent of a non-negative reduced angle: sine/cosine, or -cosine/sine if n is odd. The
/// quotient is computed to half of its digits; its exact remainder is divided, too, to get the other half.
#[inline(always)]
fn tangent<S: FloatOps>(s: &S, reduced: &ReducedAngle<S>) -> S::Float {
    let SineAndCosine { sine, cosine } = waves(s, reduced);
    // Corrects the cosine by half of the rounding error of the square.
    let near_high = s.upper_half(reduced.near);
    let square = s.mul(reduced.near, reduced.near);
    let lost = s.mul(s.sub(reduced.near, near_high), s.add(reduced.near, near_high));
    let lost = s.add(s.sub(s.mul(near_high, near_high), square), lost);
    let cosine = (cosine.0, s.sub(cosine.1, s.mul(lost, s.float(0.5))));
    let is_odd = is_odd(s, reduced.n);
    let (above, above_rest) = select_pair(s, is_odd, cosine, sine);
    let (below, below_rest) = select_pair(s, is_odd, sine, cosine);
    let below_high = s.upper_half(s.add(below, below_rest));
    let below_low = s.add(s.sub(below, below_high), below_rest);
    let (above, above_low) = quick_two_sum(s, above, above_rest);
    // The upper half of the quotient and the divisor of the remainder need only half of the digits. So they
    // are computed from rough values, which are available early.
    let (above_about, below_about) = roughly(s, reduced, is_odd);
    let inverse = s.div(s.float(1.0), below_about);
    let quotient = s.upper_half(s.div(above_about, below_about));
    let rest = s.add(s.sub(above, s.mul(quotient, below_high)), s.sub(above_low, s.mul(quotient, below_low)));
    let result = s.add(quotient, s.mul(rest, inverse));
    s.signed(result, s.word_shl(reduced.n, s.word(S::Format::WIDTH - 1)))
}
