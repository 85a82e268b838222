//! Sine, cosine and tangent of all arguments.
//!
//! x = n·π/2 + r, with r in two parts. Of moderate arguments n·π/2 is subtracted in parts, whose products with n are exact:
//! W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (1980). Of great ones x·2/π is multiplied
//! out, modulo 4, from those bits of 2/π that count: M. H. Payne and R. N. Hanek, "Radian reduction for trigonometric
//! functions", SIGNUM Newsletter 18 (1983). How close r comes to 0, and with it how many bits are needed:
//! J.-M. Muller, "Elementary Functions: Algorithms and Implementation", 3rd edition (2016), chapter 11.
//! For |r| up to π/4 there are polynomials; the tangent is a quotient whose rest is divided too.

use super::format::Format;
use super::ops::FloatOps;
use super::pair::{Twofold, product, quick_two_sum};

/// An angle from the nearest multiple of π/2, which is the n-th; of n the lowest two bits count.
struct ReducedAngle<S: FloatOps> {
    n: S::Word,
    /// The angle to nearly all its digits, known early, and about how much is to be added to it, if anything.
    near: S::Float,
    off: Option<S::Float>,
    /// The angle in two parts.
    angle: Twofold<S>,
}

/// Of an argument that isn't negative; NaN where it isn't finite.
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

/// What is made of an argument's magnitude. One of less than π/4 needs no reduction, and has the same value with it.
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

/// n as the bits of a float, the angle near and what is off, the angle in two parts.
///
/// Where a difference cancels it is exact, so the angle's digits are there even close to a multiple.
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

/// The same of arguments with more quarters: n has more digits, so that the parts have fewer, and are more.
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

/// The same of any number that isn't subnormal, of about 1 at least.
fn great<S: FloatOps>(s: &S, x: S::Float) -> [S::Float; 5] {
    let c = &S::Format::TRIG;
    let (n, turn) = quarters(s, x);
    let (high, low) = product(s, turn, (s.float(c.half_pi[0]), s.float(c.half_pi[1])));
    let is_finite = s.lt(x, s.float(f64::INFINITY));
    let high = s.select(is_finite, high, s.float(f64::NAN));
    [s.of_bits(n), high, low, high, low]
}

/// The number of quarter turns in x, modulo 4, and what is over, at most half a one, in two parts: x is an integer times 2^e,
/// and the bits of 2/π that would make whole turns of it are left out.
#[inline(always)]
fn quarters<S: FloatOps>(s: &S, x: S::Float) -> (S::Word, Twofold<S>) {
    let c = &S::Format::TRIG;
    let width = S::Format::WIDTH;
    let stored = s.word(S::Format::DIGITS - 1);
    let leading = s.word(1 << (S::Format::DIGITS - 1));
    let bits = s.bits(x);
    let fraction = s.word_and(bits, s.word_sub(leading, s.word(1)));
    let whole = s.word_or(fraction, leading);
    // The word of zeros in front makes this positive.
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
    // The upper two words of the product, which is an angle in units of so many quarter turns.
    let (second, more) = (s.word_mul(whole, b1), s.word_mul_upper(whole, b2));
    let lower = s.word_add(second, more);
    let both = s.word_and(second, more);
    let either = s.word_and(s.word_or(second, more), s.word_xor(lower, s.word(-1)));
    let carry = s.word_shr(s.word_or(both, either), s.word(width - 1));
    let upper = s.word_add(s.word_mul(whole, b0), s.word_add(s.word_mul_upper(whole, b1), carry));
    // Two bits in front of the point, rounded.
    let n = s.word_shr(s.word_add(upper, s.word(1 << (width - 3))), s.word(width - 2));
    let upper = s.word_or(s.word_shl(upper, s.word(2)), s.word_shr(lower, s.word(width - 2)));
    (n, fraction_of_words(s, upper, s.word_shl(lower, s.word(2))))
}

/// The number, at most 1/2, whose bits after the point are two words, the upper one with its sign.
#[inline(always)]
fn fraction_of_words<S: FloatOps>(s: &S, upper: S::Word, lower: S::Word) -> Twofold<S> {
    let width = S::Format::WIDTH;
    // The complement is off by a bit that doesn't count.
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

/// The sine and the cosine of a reduced angle, each as a sum of two whose second part is small.
struct SineAndCosine<S: FloatOps> {
    sine: Twofold<S>,
    cosine: Twofold<S>,
}

#[inline(always)]
fn waves<S: FloatOps>(s: &S, reduced: &ReducedAngle<S>) -> SineAndCosine<S> {
    let c = &S::Format::TRIG;
    let square = s.mul(reduced.near, reduced.near);
    let half = s.mul(square, s.float(0.5));
    // Polynomials of the angle near, and by their slopes what is off: the slope of each is the other one, all of it.
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

/// The sign bit of a word's second bit.
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

/// The sine.
pub fn sin<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let [sine] = of_reduced(s, x, |reduced| [sine(s, reduced, &waves(s, reduced), s.sign(x))]);
    sine
}

/// The cosine.
pub fn cos<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let [cosine] = of_reduced(s, x, |reduced| [cosine(s, reduced, &waves(s, reduced))]);
    cosine
}

/// The sine and the cosine, the same bits as alone.
pub fn sin_cos<S: FloatOps>(s: &S, x: S::Float) -> (S::Float, S::Float) {
    let [sine, cosine] = of_reduced(s, x, |reduced| {
        let waves = waves(s, reduced);
        [sine(s, reduced, &waves, s.sign(x)), cosine(s, reduced, &waves)]
    });
    (sine, cosine)
}

/// The tangent.
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

/// The sine and the cosine to somewhat more than half of their digits, or the cosine and the sine.
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

/// The tangent of an angle that isn't negative: the sine by the cosine, or the cosine by the sine with the other sign. What
/// the quotient's upper digits leave is known exactly, and divided as well.
#[inline(always)]
fn tangent<S: FloatOps>(s: &S, reduced: &ReducedAngle<S>) -> S::Float {
    let SineAndCosine { sine, cosine } = waves(s, reduced);
    // The cosine's greatest part is known to its rounding, which is half of that of the square.
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
    // Of the quotient's first half, and of what the rest is divided by, fewer digits count: they needn't wait for all.
    let (above_about, below_about) = roughly(s, reduced, is_odd);
    let inverse = s.div(s.float(1.0), below_about);
    let quotient = s.upper_half(s.div(above_about, below_about));
    let rest = s.add(s.sub(above, s.mul(quotient, below_high)), s.sub(above_low, s.mul(quotient, below_low)));
    let result = s.add(quotient, s.mul(rest, inverse));
    s.signed(result, s.word_shl(reduced.n, s.word(S::Format::WIDTH - 1)))
}
