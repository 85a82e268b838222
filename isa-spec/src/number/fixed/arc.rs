//! The inverse trigonometric functions: all are the angle of a vector in the first quadrant,
//! put into the right quadrant by its signs. This module knows no rotation.

use super::constants::{ATAN_TABLE, PI_126, STEPS, inverse_odds};
use super::wide::{ANGLE_BITS, UNIT_BITS, fraction, mul_high, round_shift, series_minus, signed_small};
use crate::fault::{Eval, Fault};

/// pi with the fraction bits of an angle.
const PI: u128 = PI_126 >> (126 - ANGLE_BITS);

/// The angle whose sine is x, in [-pi/2, pi/2]. Less than 0.51 ulp off; Domain outside [-1, 1].
/// Exactly odd.
///
/// Method: the angle of the vector (sqrt(1 - x^2), x), where 1 - x^2 is exact.
pub fn asin(x: i64, frac: u32) -> Eval<i64> {
    let (cosine, sine) = on_circle(x, frac)?;
    Ok(fixed(first_quadrant(sine, cosine), x < 0, frac))
}

/// The angle whose cosine is x, in [0, pi]. Less than 0.51 ulp off; Domain outside [-1, 1].
///
/// Method: the angle of the vector (x, sqrt(1 - x^2)), where 1 - x^2 is exact.
pub fn acos(x: i64, frac: u32) -> Eval<i64> {
    let (sine, cosine) = on_circle(x, frac)?;
    let angle = first_quadrant(sine, cosine);
    Ok(fixed(if x < 0 { PI - angle } else { angle }, false, frac))
}

/// The angle whose tangent is x, in [-pi/2, pi/2]. Less than 0.51 ulp off; never fails.
/// Exactly odd.
///
/// Method: the angle of the vector (1, x).
pub fn atan(x: i64, frac: u32) -> i64 {
    let angle = first_quadrant(x.unsigned_abs().into(), 1 << frac);
    fixed(angle, x < 0, frac)
}

/// The angle of the vector (x, y), in [-pi, pi]. Less than 0.51 ulp off; never fails.
/// atan2(0, 0) is 0, and atan2(0, x) is pi for x < 0. Exactly odd in y for y != 0.
///
/// Method: a table of the arc tangents of 1/32, 2/32, ... and the Taylor series of the rest.
pub fn atan2(y: i64, x: i64, frac: u32) -> i64 {
    let angle = first_quadrant(y.unsigned_abs().into(), x.unsigned_abs().into());
    fixed(if x < 0 { PI - angle } else { angle }, y < 0, frac)
}

/// An angle in fixed point. It is at most pi, which fits.
fn fixed(angle: u128, negative: bool, frac: u32) -> i64 {
    signed_small(round_shift(angle, ANGLE_BITS - frac), negative)
}

/// sqrt(1 - x^2) and |x| on a common scale, both below 2^120; Domain if there is no such root. The
/// root has 64 bits, and so the angle between the two an error below 2^-63.
fn on_circle(x: i64, frac: u32) -> Eval<(u128, u128)> {
    let x = u128::from(x.unsigned_abs());
    // 1 - x^2 without a rounding.
    let square = (1_u128 << (2 * frac)).checked_sub(x * x);
    let square = square.ok_or(Fault::Domain)?;
    let scale = square.max(1).leading_zeros() / 2;
    Ok(((square << (2 * scale)).isqrt(), x << scale))
}

/// The angle of the vector (x, y) in the first quadrant, both below 2^122; 0 for the origin.
/// The error is below 2^-91.
fn first_quadrant(y: u128, x: u128) -> u128 {
    if y > x {
        PI / 2 - first_octant(x, y)
    } else if x > 0 {
        first_octant(y, x)
    } else {
        0
    }
}

/// The angle of the vector (x, y) with 0 <= y <= x and x > 0.
///
/// Method: turn the vector back by the angle nearest in a table, atan(j/32); the rest is the
/// arc tangent of a quotient u of at most 1/64, by its Taylor series. Only one division is
/// needed. (Tang, "Table-lookup algorithms for elementary functions and their error analysis",
/// ARITH-10, 1991.)
fn first_octant(y: u128, x: u128) -> u128 {
    // The first term left out is below 2^-92 for u <= 1/63.
    const ODD: [u128; 7] = inverse_odds();
    let step = nearest_step(y, x);
    let (ahead, behind) = (STEPS * y, step * x);
    let u = fraction(ahead.abs_diff(behind), STEPS * x + step * y);
    let atan = mul_high(u, series_minus(mul_high(u, u), &ODD));
    let rest = atan >> (UNIT_BITS - ANGLE_BITS);
    // step is in 0..=32.
    let angle = ATAN_TABLE[step as usize];
    if ahead < behind { angle - rest } else { angle + rest }
}

/// The integer nearest to 32 y / x, up to a relative 2^-31, for 0 <= y <= x and x > 0.
fn nearest_step(y: u128, x: u128) -> u128 {
    let shift = (u128::BITS - u32::BITS).saturating_sub(x.leading_zeros());
    let (y, x) = ((y >> shift) as u64, (x >> shift) as u64);
    ((2 * STEPS as u64 * y + x) / (2 * x)).into()
}
