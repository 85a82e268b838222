//! Sine, cosine and tangent, and the reduction of angles, which rotations share. Angles are in radians.

use super::constants::{PI_126, TWO_OVER_PI, inverse_factorials};
use super::ops::{FixedOutcome, WideOps};
use super::wide::{LOW, Scaled, UNIT_BITS, round_by, series_minus};
use crate::fault::Fault;

/// sin x. Less than 0.51 ulp off for every x; never fails. Exactly odd.
///
/// Method: remove the quarter turns with a long 2/pi (Payne and Hanek), then evaluate the Taylor series of
/// sine or cosine.
#[inline(always)]
pub fn sin<S: WideOps>(s: &S, x: S::Word, frac: u32) -> S::Word {
    let reduced = Reduced::of(s, x, frac);
    reduced.wave(s, reduced.quadrant, frac)
}

/// cos x. Less than 0.51 ulp off for every x; never fails. Exactly even.
///
/// Method: sin(x + pi/2), where the quarter turn is added after the reduction.
#[inline(always)]
pub fn cos<S: WideOps>(s: &S, x: S::Word, frac: u32) -> S::Word {
    let reduced = Reduced::of(s, x, frac);
    reduced.wave(s, s.add(reduced.quadrant, s.word(1)), frac)
}

/// tan x. Less than 0.51 ulp off for every x; Overflow near a pole. Exactly odd.
///
/// Method: remove the quarter turns, then divide the Taylor series of sine and cosine.
#[inline(always)]
pub fn tan<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let reduced = Reduced::of(s, x, frac);
    let (sine, cosine) = (reduced.sine(s), reduced.cosine(s));
    let is_cotangent = s.has(reduced.quadrant, 1);
    let (n, d) = (s.select(is_cotangent, cosine, sine), s.select(is_cotangent, sine, cosine));
    // pi is irrational, so no fixed-point number is a pole. But r is rounded, so the divisor may be 0.
    let is_pole = s.is_zero(d);
    let is_negative = s.differ(reduced.is_negative, is_cotangent);
    s.pick(
        is_pole,
        || [s.word(0), s.fault_where(is_pole, Fault::Overflow)],
        || Scaled::ratio(s, n, d).to_fixed(s, frac, is_negative),
    )
}

/// An angle without its quarter turns: x = quadrant pi/2 + r, where r is in [-pi/4, pi/4].
///
/// Method: multiply by 2/pi with enough bits to leave 128 fraction bits of the turns for any magnitude. 192
/// bits of 2/pi leave an error below 2^-145 turns for |x| <= 2^47. (Payne and Hanek, "Radian reduction for
/// trigonometric functions", SIGNUM 18, 1983.)
pub(super) struct Reduced<W, F> {
    /// The quarter turns, 0 to 3.
    pub(super) quadrant: W,
    /// True if r is negative.
    pub(super) is_negative: F,
    /// The magnitude of r, as a fraction; its error is below 2^-124.
    angle: W,
}

impl<W: Copy, F: Copy> Reduced<W, F> {
    #[inline(always)]
    pub(super) fn of<S: WideOps<Word = W, Flag = F>>(s: &S, x: W, frac: u32) -> Self {
        let x_is_negative = s.is_negative(x);
        let (quadrant, turns) = nearest_turn(s, s.magnitude(x), frac);
        // The angle is turns * (pi / 2). pi / 2 is a unit here, and the shift makes the product a fraction.
        let angle = s.shl(s.mul_high(s.magnitude(turns), s.word(PI_126)), 1);
        Self {
            quadrant: s.and(s.negated_where(x_is_negative, quadrant), s.word(3)),
            is_negative: s.differ(x_is_negative, s.is_negative(turns)),
            angle,
        }
    }

    /// |sin r| as a unit; the first omitted term is below 2^-92.
    #[inline(always)]
    pub(super) fn sine<S: WideOps<Word = W, Flag = F>>(&self, s: &S) -> W {
        const ODD: [u128; 12] = inverse_factorials(1);
        let square = s.mul_high(self.angle, self.angle);
        s.mul_high(self.angle, series_minus(s, square, &ODD))
    }

    /// cos r as a unit; the first omitted term is below 2^-87.
    #[inline(always)]
    pub(super) fn cosine<S: WideOps<Word = W, Flag = F>>(&self, s: &S) -> W {
        const EVEN: [u128; 12] = inverse_factorials(0);
        series_minus(s, s.mul_high(self.angle, self.angle), &EVEN)
    }

    /// sin(quadrant pi/2 + r) in fixed point.
    #[inline(always)]
    fn wave<S: WideOps<Word = W, Flag = F>>(&self, s: &S, quadrant: W, frac: u32) -> W {
        let is_cosine = s.has(quadrant, 1);
        let [magnitude] = s.pick(is_cosine, || [self.cosine(s)], || [self.sine(s)]);
        let is_negative = s.both(s.not(is_cosine), self.is_negative);
        let is_negative = s.differ(is_negative, s.has(quadrant, 2));
        s.negated_where(is_negative, round_by(s, magnitude, UNIT_BITS - frac))
    }
}

/// Divides the angle `x`·2^-`frac` by a quarter turn, π/2. Returns the lower bits of the integer nearest to the
/// quotient, and the quotient minus that integer: a number in [-1/2, 1/2) with 128 fraction bits.
#[inline(always)]
fn nearest_turn<S: WideOps>(s: &S, x: S::Word, frac: u32) -> (S::Word, S::Word) {
    let [high, middle, low] = TWO_OVER_PI.map(|limb| s.mul(x, s.word(limb)));
    // The product has 192 + frac fraction bits. Of its lowest limb, only the carry into the next limb
    // matters.
    let middle = s.add(middle, s.shr(low, 64));
    let upper = s.add(high, s.shr(middle, 64));
    let whole = s.shr(upper, 64 + frac);
    // The left shift drops the whole turns, because their bits leave the word.
    let fraction = s.or(s.shl(upper, 64 - frac), s.shr(s.and(middle, s.word(LOW)), frac));
    // Read in two's complement, a fraction of 1/2 or more denotes a value that is less by 1. So the integer
    // is increased by 1.
    (s.add(whole, s.shr(fraction, 127)), fraction)
}
