//! Rotation of the integer plane as a bijection.
//!
//! The quarter turns are taken out exactly, as (x, y) -> (-y, x). The rest r, in
//! [-pi/4, pi/4], is three shears:
//!
//! ```text
//! x -= tan(r/2) * y;   y += sin(r) * x;   x -= tan(r/2) * y
//! ```
//!
//! A shear adds to one coordinate a number computed (and rounded) from the other one, which
//! stays: so it is undone bit for bit, whatever the rounding. (Paeth, "A fast algorithm for
//! general raster rotation", Graphics Interface 1986; as lifting: Daubechies and Sweldens,
//! "Factoring wavelet transforms into lifting steps", 1998.)
//!
//! Undoing visits the same intermediate values backwards. All of them fitted on the way there,
//! hence undoing a rotation that succeeded never traps. This module knows neither what the
//! coordinates stand for nor which operands hold them.

use super::trig::Reduced;
use super::wide::{ONE, UNIT_BITS, fraction, round_product, round_shift, signed_small};
use crate::fault::{Eval, Fault};

/// The fraction bits of the shears' factors, which all lie in (-0.71, 0.71).
const FACTOR_BITS: u32 = 63;

/// The vector (x, y) turned by theta, (x cos - y sin, x sin + y cos): less than 3 ulp off in
/// each coordinate. Overflow if the result or an intermediate value does not fit.
/// [`irot`] undoes it exactly.
pub fn rot(x: i64, y: i64, theta: i64, frac: u32) -> Eval<(i64, i64)> {
    let turn = Reduced::of(theta, frac);
    let shears = Shears::of(&turn);
    let (x, y) = quarter_turns(x, y, turn.quadrant)?;
    let x = minus(x, shears.half_tangent(y))?;
    let y = plus(y, shears.sine(x))?;
    let x = minus(x, shears.half_tangent(y))?;
    Ok((x, y))
}

/// The vector (x, y) turned back by theta: less than 3 ulp off in each coordinate. Overflow if
/// the result or an intermediate value does not fit. [`rot`] undoes it exactly.
pub fn irot(x: i64, y: i64, theta: i64, frac: u32) -> Eval<(i64, i64)> {
    let turn = Reduced::of(theta, frac);
    let shears = Shears::of(&turn);
    let x = plus(x, shears.half_tangent(y))?;
    let y = minus(y, shears.sine(x))?;
    let x = plus(x, shears.half_tangent(y))?;
    quarter_turns(x, y, 4 - turn.quadrant)
}

/// What three shears multiply with that make a rotation.
struct Shears {
    half_tangent: i64,
    sine: i64,
}

impl Shears {
    fn of(turn: &Reduced) -> Self {
        let (sine, cosine) = (turn.sine(), turn.cosine());
        // tan(r/2) = sin r / (1 + cos r), both halved to fit.
        let half_tangent = fraction(sine / 2, ONE / 2 + cosine / 2);
        Self {
            half_tangent: factor(half_tangent, u128::BITS, turn.negative),
            sine: factor(sine, UNIT_BITS, turn.negative),
        }
    }

    fn half_tangent(&self, v: i64) -> i64 {
        scaled(self.half_tangent, v)
    }

    fn sine(&self, v: i64) -> i64 {
        scaled(self.sine, v)
    }
}

/// A magnitude below 0.71, with its sign, as a factor.
fn factor(magnitude: u128, fraction_bits: u32, negative: bool) -> i64 {
    signed_small(round_shift(magnitude, fraction_bits - FACTOR_BITS), negative)
}

/// factor * v, to nearest. It fits because the factor's magnitude is below 1.
fn scaled(factor: i64, v: i64) -> i64 {
    round_product(i128::from(factor) * i128::from(v), FACTOR_BITS) as i64
}

/// The vector turned by right angles.
fn quarter_turns(x: i64, y: i64, count: u32) -> Eval<(i64, i64)> {
    Ok(match count & 3 {
        0 => (x, y),
        1 => (minus(0, y)?, x),
        2 => (minus(0, x)?, minus(0, y)?),
        _ => (y, minus(0, x)?),
    })
}

fn plus(a: i64, b: i64) -> Eval<i64> {
    a.checked_add(b).ok_or(Fault::Overflow)
}

fn minus(a: i64, b: i64) -> Eval<i64> {
    a.checked_sub(b).ok_or(Fault::Overflow)
}
