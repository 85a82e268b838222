//! Powers with integer and with real exponents, and the cubic root.
//!
//! Two methods meet here, and the exponent alone decides: a whole exponent is always done by
//! repeated squaring, so `pow(a, n)` and `powi(a, n)` never disagree.

use super::exp_log::{Exponential, exponent_product, wide_log};
use super::wide::Scaled;
use crate::fault::{Eval, Fault};

/// Repeated squaring stops at a value beyond 2^200 or below 2^-200. Every further step leads
/// further away, and the range of fixed point has been left for long.
const MAGNITUDE_LIMIT: u32 = 200;

/// a^b. Less than 0.63 ulp off.
///
/// A whole b gives [`powi`]. Otherwise: a > 0 gives e^(b ln a); 0^b is 0 for b > 0 and
/// DivisionByZero for b < 0; a < 0 is a Domain fault. Overflow if the result does not fit.
///
/// Method: the logarithm has enough bits for the largest b: its error is below 2^-116, and
/// |b| < 2^47 where the most integer bits are in use.
pub fn pow(a: i64, b: i64, frac: u32) -> Eval<i64> {
    if b % (1 << frac) == 0 {
        return powi(a, b >> frac, frac);
    }
    match a {
        0 if b < 0 => Err(Fault::DivisionByZero),
        0 => Ok(0),
        ..0 => Err(Fault::Domain),
        _ => positive_power(a.unsigned_abs(), b, frac),
    }
}

/// a^n for an integer n. Less than 0.63 ulp off.
///
/// 0^0 is 1; a negative n gives 1 / a^|n|, and DivisionByZero for a = 0. Overflow if the result
/// does not fit.
///
/// Method: left-to-right binary exponentiation with mantissas of 128 bits (Knuth, TAOCP volume
/// 2, 4.6.3). A power in range has |n| < 2^58.4 or is far below 1, so that the relative errors
/// of the products, each below 2^-124 and most of them far smaller, add up to less than 0.13 ulp.
pub fn powi(a: i64, n: i64, frac: u32) -> Eval<i64> {
    if a == 0 && n < 0 {
        return Err(Fault::DivisionByZero);
    }
    if n == 0 {
        return Ok(1 << frac);
    }
    if a == 0 {
        return Ok(0);
    }
    let base = Scaled::new(a.unsigned_abs().into(), -(frac as i32));
    let power = repeated_product(base, n.unsigned_abs());
    let power = if n < 0 { power.reciprocal() } else { power };
    power.to_fixed(frac, a < 0 && n % 2 != 0)
}

/// The cubic root. Less than 0.51 ulp off; exactly odd.
///
/// Method: e^(ln x / 3).
pub fn cbrt(x: i64, frac: u32) -> Eval<i64> {
    match x {
        0 => Ok(0),
        _ => {
            let third = wide_log(x.unsigned_abs(), frac) / 3;
            Exponential::of(third).growing().to_fixed(frac, x < 0)
        }
    }
}

/// base^n for n > 0, or some power of it beyond the magnitude limit on the same side.
fn repeated_product(base: Scaled, n: u64) -> Scaled {
    let mut power = base;
    for bit in (0..n.ilog2()).rev() {
        power = power.times(power);
        if n >> bit & 1 == 1 {
            power = power.times(base);
        }
        if power.magnitude().unsigned_abs() > MAGNITUDE_LIMIT {
            break;
        }
    }
    power
}

/// e^(b ln a) for a > 0.
fn positive_power(a: u64, b: i64, frac: u32) -> Eval<i64> {
    let ln = wide_log(a, frac);
    match exponent_product(b, ln, frac) {
        Some(w) => Exponential::of(w).growing().to_fixed(frac, false),
        None if (ln < 0) != (b < 0) => Ok(0),
        None => Err(Fault::Overflow),
    }
}
