//! Conversions between fixed point, integers and floats, and rounding to integers.
//!
//! Floats are decomposed and composed as bit patterns. No float arithmetic is involved, so results don't
//! depend on a platform's rounding. This module is independent of the meaning of operands.

use super::arithmetic::round_product;
use super::machine::{NativeWide, eval};
use super::wide::{Scaled, round_by};
use crate::fault::{Eval, Fault};

/// The explicit bits of a float's significand.
const SIGNIFICAND_BITS: u32 = 52;

/// The bias of exponents: a float with the exponent field `e` is its integer significand times `2^(e -
/// EXPONENT_BIAS)`.
const EXPONENT_BIAS: i32 = 1075;

/// The exponent field of infinities and NaNs.
const NON_FINITE: i32 = 0x7ff;

/// The fixed-point number nearest to `v`, ties to even.
///
/// Overflow if it is out of range, or if `v` is infinite or NaN.
pub fn from_f64(v: f64, frac: u32) -> Eval<i64> {
    let bits = v.to_bits();
    let exponent = (bits >> SIGNIFICAND_BITS) as i32 & NON_FINITE;
    let explicit = bits & ((1 << SIGNIFICAND_BITS) - 1);
    // A subnormal is far below half an ulp, so it needs no special case.
    let significand = explicit | 1 << SIGNIFICAND_BITS;
    if exponent == NON_FINITE {
        return Err(Fault::Overflow);
    }
    let s = &NativeWide;
    let scaled = Scaled::at(s, significand.into(), exponent - EXPONENT_BIAS);
    eval(scaled.to_fixed(s, frac, v.is_sign_negative()))
}

/// The float nearest to `raw`, ties to even. Never fails: the float's range is larger.
pub fn to_f64(raw: i64, frac: u32) -> f64 {
    let magnitude = raw.unsigned_abs();
    if magnitude == 0 {
        return 0.0;
    }
    let zeros = magnitude.leading_zeros();
    let dropped = u64::BITS - 1 - SIGNIFICAND_BITS;
    let significand = round_by(&NativeWide, (magnitude << zeros).into(), dropped) as u64;
    let exponent = EXPONENT_BIAS + dropped as i32 - zeros as i32 - frac as i32;
    // The sum adds the significand's leading bit to the exponent field. If rounding reached the next power of
    // two, the carry is added, too.
    let fields = ((exponent - 1) as u64) << SIGNIFICAND_BITS;
    let sign = u64::from(raw < 0) << 63;
    f64::from_bits(sign | (fields + significand))
}

/// The integer `i` as a fixed-point number, exactly. Overflow if it is out of range.
pub fn from_int(i: i64, frac: u32) -> Eval<i64> {
    i64::try_from(i128::from(i) << frac).map_err(|_| Fault::Overflow)
}

/// The integer part, truncated toward zero, as an integer instead of a raw value: 1.5 gives 1.
pub fn to_int(raw: i64, frac: u32) -> i64 {
    raw / (1 << frac)
}

/// The greatest whole number that is not above `raw`.
pub fn floor(raw: i64, frac: u32) -> i64 {
    raw >> frac << frac
}

/// The whole number nearest to `raw`, ties to even. Overflow just below the upper end of the range, because
/// that end is a whole number out of range.
pub fn round(raw: i64, frac: u32) -> Eval<i64> {
    let whole = round_product(raw.into(), frac);
    i64::try_from(whole << frac).map_err(|_| Fault::Overflow)
}

/// The whole number next to `raw` toward zero.
pub fn trunc(raw: i64, frac: u32) -> i64 {
    raw - raw % (1 << frac)
}
