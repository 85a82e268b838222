//! Sine, cosine and tangent, and the reduction of an angle which they share with rotations.
//! This module knows angles in radians only.

use super::constants::{PI_126, TWO_OVER_PI, inverse_factorials};
use super::wide::{Scaled, UNIT_BITS, mul_high, round_shift, series_minus, signed_small};
use crate::fault::{Eval, Fault};

/// sin x. Less than 0.51 ulp off for every x; never fails. Exactly odd.
///
/// Method: take out the quarter turns with a long 2/pi (Payne and Hanek), then the Taylor series
/// of sine or cosine.
pub fn sin(x: i64, frac: u32) -> i64 {
    let reduced = Reduced::of(x, frac);
    reduced.wave(reduced.quadrant, frac)
}

/// cos x. Less than 0.51 ulp off for every x; never fails. Exactly even.
///
/// Method: sin(x + pi/2), where the quarter turn is added after the reduction.
pub fn cos(x: i64, frac: u32) -> i64 {
    let reduced = Reduced::of(x, frac);
    reduced.wave(reduced.quadrant + 1, frac)
}

/// tan x. Less than 0.51 ulp off for every x; Overflow near a pole. Exactly odd.
///
/// Method: take out the quarter turns, then the quotient of the Taylor series of sine and cosine.
pub fn tan(x: i64, frac: u32) -> Eval<i64> {
    let reduced = Reduced::of(x, frac);
    let (sine, cosine) = (reduced.sine(), reduced.cosine());
    let cotangent = reduced.quadrant & 1 == 1;
    let (n, d) = if cotangent { (cosine, sine) } else { (sine, cosine) };
    // pi is irrational, so no number lies on a pole; but r is rounded.
    if d == 0 {
        return Err(Fault::Overflow);
    }
    Scaled::ratio(n, d).to_fixed(frac, reduced.negative != cotangent)
}

/// An angle without its quarter turns: x = quadrant pi/2 + r, where r lies in [-pi/4, pi/4].
///
/// Method: multiply by 2/pi with enough bits to leave 128 fraction bits of the turns whatever
/// the magnitude (Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM 18,
/// 1983). 192 bits of 2/pi leave an error below 2^-145 turns for |x| <= 2^47.
pub(super) struct Reduced {
    /// The quarter turns, 0 to 3.
    pub(super) quadrant: u32,
    /// The sign of r.
    pub(super) negative: bool,
    /// The magnitude of r, as a fraction; its error is below 2^-124.
    angle: u128,
}

impl Reduced {
    pub(super) fn of(x: i64, frac: u32) -> Self {
        let (quadrant, turns) = nearest_turn(x.unsigned_abs(), frac);
        // turns / 2 * pi is turns * (pi / 2), here by a unit, and the shift makes it a fraction.
        let angle = mul_high(turns.unsigned_abs(), PI_126) << 1;
        Self {
            quadrant: if x < 0 { quadrant.wrapping_neg() } else { quadrant } & 3,
            negative: (x < 0) != (turns < 0),
            angle,
        }
    }

    /// |sin r| as a unit; the first term left out is below 2^-92.
    pub(super) fn sine(&self) -> u128 {
        const ODD: [u128; 12] = inverse_factorials(1);
        let square = mul_high(self.angle, self.angle);
        mul_high(self.angle, series_minus(square, &ODD))
    }

    /// cos r as a unit; the first term left out is below 2^-87.
    pub(super) fn cosine(&self) -> u128 {
        const EVEN: [u128; 12] = inverse_factorials(0);
        let square = mul_high(self.angle, self.angle);
        series_minus(square, &EVEN)
    }

    /// sin(quadrant pi/2 + r) in fixed point.
    fn wave(&self, quadrant: u32, frac: u32) -> i64 {
        let (magnitude, negative) =
            if quadrant & 1 == 0 { (self.sine(), self.negative) } else { (self.cosine(), false) };
        let second_half = quadrant & 2 != 0;
        signed_small(round_shift(magnitude, UNIT_BITS - frac), negative != second_half)
    }
}

/// x 2^-frac as quarter turns: the nearest integer (its lower bits), and the rest with 128
/// fraction bits, in [-1/2, 1/2).
#[inline]
fn nearest_turn(x: u64, frac: u32) -> (u32, i128) {
    let [high, middle, low] = TWO_OVER_PI.map(u128::from);
    let x = u128::from(x);
    // The product has 192 + frac fraction bits; the lowest limb only carries.
    let middle = x * middle + ((x * low) >> 64);
    let upper = x * high + (middle >> 64);
    let whole = (upper >> (64 + frac)) as u32;
    // The shift drops the whole turns.
    let fraction = upper << (64 - frac) | u128::from(middle as u64 >> frac);
    // Read as two's complement, fractions from 1/2 on are already 1 less.
    (whole.wrapping_add((fraction >> 127) as u32), fraction as i128)
}
