//! The hyperbolic functions and the sigmoid, out of e^x and e^-x. All work on the magnitude of x and put the
//! sign back, so that their symmetries are exact. This module knows of the exponential only
//! that it comes in pairs.

use super::exp_log::{Exponential, exponent};
use super::wide::{ANGLE_BITS, ONE, Scaled, UNIT_BITS, fraction, round_shift, signed_small};
use crate::fault::{Eval, Fault};

/// From this magnitude on, tanh is within 2^-91 of 1 or -1.
const TANH_LIMIT: i128 = 32 << ANGLE_BITS;

/// (e^x - e^-x) / 2. Less than 0.51 ulp off; Overflow if the result does not fit. Exactly odd.
///
/// Method: the reduction of the exponential. Its series is split into the even and the odd
/// part, whose difference is e^-x at no cost.
pub fn sinh(x: i64, frac: u32) -> Eval<i64> {
    let w = exponent(x, frac).ok_or(Fault::Overflow)?;
    let pair = Pair::of(w.abs());
    Scaled::new(pair.half_difference, pair.exponent).to_fixed(frac, x < 0)
}

/// (e^x + e^-x) / 2. Less than 0.51 ulp off; Overflow if the result does not fit. Exactly even.
///
/// Method: as [`sinh`].
pub fn cosh(x: i64, frac: u32) -> Eval<i64> {
    let w = exponent(x, frac).ok_or(Fault::Overflow)?;
    let pair = Pair::of(w.abs());
    Scaled::new(pair.half_sum, pair.exponent).to_fixed(frac, false)
}

/// sinh x / cosh x. Less than 0.51 ulp off; never fails. Exactly odd.
///
/// Method: as [`sinh`]; the common scale cancels.
pub fn tanh(x: i64, frac: u32) -> i64 {
    let magnitude = match exponent(x, frac).map(i128::abs) {
        Some(w) if w < TANH_LIMIT => {
            let pair = Pair::of(w);
            round_shift(fraction(pair.half_difference, pair.half_sum), 128 - frac)
        }
        _ => 1 << frac,
    };
    signed_small(magnitude, x < 0)
}

/// 1 / (1 + e^-x). Less than 0.51 ulp off; never fails. That of -x is exactly 1 less that of x.
///
/// Method: e^-|x| / (1 + e^-|x|), which is at most a half.
pub fn sigmoid(x: i64, frac: u32) -> i64 {
    let least = exponent(x, frac).map_or(0, |w| {
        let exponential = Exponential::of(-w.abs());
        let half = exponential.up.checked_shr(exponential.power.unsigned_abs()).unwrap_or(0) / 2;
        round_shift(fraction(half, ONE / 2 + half), 128 - frac)
    });
    let least = signed_small(least, false);
    if x < 0 { least } else { (1 << frac) - least }
}

/// sinh w and cosh w, both times `2^-exponent`.
struct Pair {
    half_difference: u128,
    half_sum: u128,
    exponent: i32,
}

impl Pair {
    /// The pair for 0 <= w < 64, which has the fraction bits of an angle.
    #[inline]
    fn of(w: i128) -> Self {
        let exponential = Exponential::of(w);
        // e^-w on the scale of e^w.
        let shift = 2 * exponential.power.unsigned_abs();
        let down = exponential.down.checked_shr(shift).unwrap_or(0);
        Self {
            half_difference: (exponential.up - down) / 2,
            half_sum: exponential.up / 2 + down / 2,
            exponent: exponential.power - UNIT_BITS as i32,
        }
    }
}
