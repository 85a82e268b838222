//! The inverse trigonometric functions. Each is computed as the angle of a vector in the first quadrant. The
//! signs of the argument then move the angle to its quadrant.

use super::constants::{ATAN_TABLE, PI_126, STEPS, inverse_odds};
use super::ops::{FixedOutcome, WideOps};
use super::wide::{ANGLE_BITS, UNIT_BITS, round_by, series_minus};
use crate::fault::Fault;

/// pi with the fraction bits of an angle.
const PI: u128 = PI_126 >> (126 - ANGLE_BITS);

/// The angle whose sine is x, in [-pi/2, pi/2]. Less than 0.51 ulp off; Domain outside [-1, 1]. Exactly odd.
///
/// Method: the angle of the vector (sqrt(1 - x^2), x), where 1 - x^2 is exact.
#[inline(always)]
pub fn asin<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    on_circle(s, x, frac, |cosine, sine| fixed(s, first_quadrant(s, sine, cosine), s.is_negative(x), frac))
}

/// The angle whose cosine is x, in [0, pi]. Less than 0.51 ulp off; Domain outside [-1, 1].
///
/// Method: the angle of the vector (x, sqrt(1 - x^2)), where 1 - x^2 is exact.
#[inline(always)]
pub fn acos<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    on_circle(s, x, frac, |sine, cosine| {
        let angle = first_quadrant(s, sine, cosine);
        round_by(s, mirrored(s, s.is_negative(x), angle), ANGLE_BITS - frac)
    })
}

/// The angle whose tangent is x, in [-pi/2, pi/2]. Less than 0.51 ulp off; never fails. Exactly odd.
///
/// Method: the angle of the vector (1, x).
#[inline(always)]
pub fn atan<S: WideOps>(s: &S, x: S::Word, frac: u32) -> S::Word {
    let angle = first_quadrant(s, s.magnitude(x), s.word(1 << frac));
    fixed(s, angle, s.is_negative(x), frac)
}

/// The angle of the vector (x, y), in [-pi, pi]. Less than 0.51 ulp off; never fails. atan2(0, 0) is 0, and
/// atan2(0, x) is pi for x < 0. Exactly odd in y for y != 0.
///
/// Method: a table of the arctangents of 1/32, 2/32, ... and the Taylor series of the remainder.
#[inline(always)]
pub fn atan2<S: WideOps>(s: &S, y: S::Word, x: S::Word, frac: u32) -> S::Word {
    let angle = first_quadrant(s, s.magnitude(y), s.magnitude(x));
    fixed(s, mirrored(s, s.is_negative(x), angle), s.is_negative(y), frac)
}

/// Returns an angle, or pi minus the angle (mirrored at the y axis) if the flag is set.
#[inline(always)]
fn mirrored<S: WideOps>(s: &S, flag: S::Flag, angle: S::Word) -> S::Word {
    s.select(flag, s.sub(s.word(PI), angle), angle)
}

/// Converts an angle to fixed point. An angle is at most pi, which is in range.
#[inline(always)]
fn fixed<S: WideOps>(s: &S, angle: S::Word, is_negative: S::Flag, frac: u32) -> S::Word {
    s.negated_where(is_negative, round_by(s, angle, ANGLE_BITS - frac))
}

/// Evaluates `of` with sqrt(1 - x^2) and |x| on a common scale, both below 2^120. Domain if |x| > 1. The root
/// has 64 bits, so the angle between root and |x| has an error below 2^-63.
#[inline(always)]
fn on_circle<S: WideOps>(
    s: &S,
    x: S::Word,
    frac: u32,
    of: impl FnOnce(S::Word, S::Word) -> S::Word,
) -> FixedOutcome<S::Word> {
    let x = s.magnitude(x);
    let (one, x_square) = (s.word(1 << (2 * frac)), s.mul(x, x));
    let is_outside = s.lt(one, x_square);
    s.pick(
        is_outside,
        || [s.word(0), s.fault_where(is_outside, Fault::Domain)],
        || {
            // 1 - x^2 is exact.
            let square = s.sub(one, x_square);
            let scale = s.shr(s.zeros(s.or(square, s.word(1))), 1);
            let root = s.root(s.shl_by(square, s.shl(scale, 1)));
            [of(root, s.shl_by(x, scale)), s.word(0)]
        },
    )
}

/// The angle of the vector (x, y) in the first quadrant, both below 2^122; 0 for the origin. The error is
/// below 2^-91.
#[inline(always)]
fn first_quadrant<S: WideOps>(s: &S, y: S::Word, x: S::Word) -> S::Word {
    let is_steep = s.lt(x, y);
    let (less, more) = (s.select(is_steep, x, y), s.select(is_steep, y, x));
    let [angle] = s.pick(s.is_zero(more), || [s.word(0)], || [first_octant(s, less, more)]);
    s.select(is_steep, s.sub(s.word(PI / 2), angle), angle)
}

/// The angle of the vector (x, y) with 0 <= y <= x and x > 0.
///
/// Method: rotate the vector back by the nearest angle of a table, atan(j/32). The remainder is the
/// arctangent of a quotient u of at most 1/64, by its Taylor series. Only one division is needed. (Tang,
/// "Table-lookup algorithms for elementary functions and their error analysis", ARITH-10, 1991.)
#[inline(always)]
fn first_octant<S: WideOps>(s: &S, y: S::Word, x: S::Word) -> S::Word {
    // The first omitted term is below 2^-92 for u <= 1/63.
    const ODD: [u128; 7] = inverse_odds();
    let step = nearest_step(s, y, x);
    let steps = s.word(STEPS);
    let (ahead, behind) = (s.mul(steps, y), s.mul(step, x));
    let u = s.fraction(s.abs_diff(ahead, behind), s.add(s.mul(steps, x), s.mul(step, y)));
    let atan = s.mul_high(u, series_minus(s, s.mul_high(u, u), &ODD));
    let rest = s.shr(atan, UNIT_BITS - ANGLE_BITS);
    // The step is in 0..=32.
    let angle = s.lookup(&ATAN_TABLE, step);
    s.add(angle, s.negated_where(s.lt(ahead, behind), rest))
}

/// The integer nearest to 32 y / x, up to a relative 2^-31, for 0 <= y <= x and x > 0.
#[inline(always)]
fn nearest_step<S: WideOps>(s: &S, y: S::Word, x: S::Word) -> S::Word {
    let (zeros, most) = (s.zeros(x), s.word((u128::BITS - u32::BITS).into()));
    let shift = s.select(s.lt(zeros, most), s.sub(most, zeros), s.word(0));
    let (y, x) = (s.shr_by(y, shift), s.shr_by(x, shift));
    s.div(s.add(s.mul(s.word(2 * STEPS), y), x), s.shl(x, 1))
}
