//! Fixed-point arithmetic on big integers. A number is an integer in units of 2^-fraction. Results are computed
//! exactly, then rounded once, to nearest with ties to even; beyond 64 bits the oracle traps. Elementary functions
//! are not supported, because the language promises them only to one unit.

use num_bigint::{BigInt, BigUint};
use reviver_isa::function::Function;

use crate::integer::fits;
use crate::outcome::{Step, Trap, trap, unsupported};

/// Width of a fixed-point cell in bits.
const WIDTH: u32 = 64;

/// Returns a number that fits into a cell. Traps if it doesn't fit.
pub(crate) fn admit(value: BigInt) -> Step<BigInt> {
    if fits(&value, WIDTH) { Ok(value) } else { trap(Trap::Fault) }
}

/// Returns the integer nearest to n / d, with ties to even.
pub(crate) fn nearest(n: &BigInt, d: &BigInt) -> BigInt {
    let (n, d) = if *d < BigInt::ZERO { (-n, -d) } else { (n.clone(), d.clone()) };
    // The floor of n/d + 1/2 rounds ties up; 1 is subtracted if that makes the result odd.
    let doubled: BigInt = &n * 2 + &d;
    let denominator: BigInt = &d * 2;
    let floor = floor_quotient(&doubled, &denominator);
    let is_tie = &floor * &denominator == doubled;
    if is_tie && floor.bit(0) { floor - 1 } else { floor }
}

fn floor_quotient(n: &BigInt, d: &BigInt) -> BigInt {
    let truncated = n / d;
    if *n < BigInt::ZERO && &truncated * d != *n { truncated - 1 } else { truncated }
}

fn one(fraction: u32) -> BigInt {
    BigInt::ONE << fraction
}

/// Evaluates a function of fixed-point numbers. `b` is ignored if the function has one source.
pub(crate) fn function(function: Function, a: &BigInt, b: &BigInt, fraction: u32) -> Step<BigInt> {
    let (zero, unit) = (BigInt::ZERO, one(fraction));
    let value = match function {
        Function::Copy => a.clone(),
        Function::Sum => a + b,
        Function::Diff => a - b,
        Function::Mul => nearest(&(a * b), &unit),
        Function::Square => nearest(&(a * a), &unit),
        Function::Div if *b == zero => return trap(Trap::Fault),
        Function::Div => nearest(&(a * unit), b),
        Function::Inv if *a == zero => return trap(Trap::Fault),
        Function::Inv => nearest(&(&unit * &unit), a),
        Function::Min => a.min(b).clone(),
        Function::Max => a.max(b).clone(),
        Function::Abs => BigInt::from(a.magnitude().clone()),
        Function::Relu => a.max(&zero).clone(),
        Function::Floor => a >> fraction << fraction,
        Function::Round => nearest(a, &unit) << fraction,
        Function::Sqrt if *a < zero => return trap(Trap::Fault),
        Function::Sqrt => root(&(a << fraction)),
        _ => return unsupported(format!("`{function:?}` in fixed point")),
    };
    admit(value)
}

/// Returns the integer nearest to the square root of n. There are no ties, because (k + 1/2)² isn't an integer.
fn root(n: &BigInt) -> BigInt {
    // The floor of √(4n) is the root in units of 1/2.
    let halves: BigInt = n << 2;
    (halves.sqrt() + 1) >> 1
}

/// Decomposes a float into an integer and a power of two.
pub(crate) fn decompose(value: f64) -> (BigInt, i32) {
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let explicit = bits & ((1 << 52) - 1);
    // A subnormal number has no implicit leading 1, and the same exponent as the smallest normal numbers.
    let (significand, exponent) =
        if field == 0 { (explicit, -1074) } else { (explicit | 1 << 52, field - 1075) };
    let magnitude = BigInt::from(significand);
    (if value < 0.0 { -magnitude } else { magnitude }, exponent)
}

/// Returns the fixed-point number nearest to a float.
pub(crate) fn of_float(value: f64, fraction: u32) -> Step<BigInt> {
    if !value.is_finite() {
        return trap(Trap::Fault);
    }
    let (significand, exponent) = decompose(value);
    let shift = exponent + fraction as i32;
    let scale = BigInt::ONE << shift.unsigned_abs();
    admit(if shift >= 0 { significand * scale } else { nearest(&significand, &scale) })
}

/// Returns the fixed-point number nearest to a decimal text. Returns `None` if the text isn't a number, or if the
/// number doesn't fit.
pub(crate) fn of_text(text: &str, fraction: u32) -> Option<BigInt> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: BigInt = format!("{whole}{decimals}").parse().ok()?;
    let exponent = exponent.checked_sub(i32::try_from(decimals.len()).ok()?)?;
    if exponent.unsigned_abs() > 1000 {
        return None;
    }
    let power = BigInt::from(BigUint::from(10u32).pow(exponent.unsigned_abs()));
    let scaled = digits << fraction;
    let value = if exponent >= 0 { scaled * power } else { nearest(&scaled, &power) };
    fits(&value, WIDTH).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_round_to_even() {
        let near = |n: i64, d: i64| -> i64 { nearest(&n.into(), &d.into()).try_into().unwrap() };
        assert_eq!([near(1, 2), near(3, 2), near(5, 2)], [0, 2, 2]);
        assert_eq!([near(-1, 2), near(-3, 2), near(-5, 2)], [0, -2, -2]);
        assert_eq!([near(7, -3), near(8, -3), near(-8, 3)], [-2, -3, -3]);
    }

    #[test]
    fn roots_are_nearest() {
        let near = |n: i64| -> i64 { root(&n.into()).try_into().unwrap() };
        assert_eq!([near(0), near(1), near(2), near(3), near(6), near(7)], [0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn floats_and_texts_are_converted() {
        assert_eq!(of_float(-1.5, 16), Ok(BigInt::from(-98304)));
        assert_eq!(of_float(f64::from_bits(1), 56), Ok(BigInt::ZERO));
        assert_eq!(of_float(1e300, 16), Err(crate::outcome::Halt::Trap(Trap::Fault)));
        assert_eq!(of_text("-1.5", 16), Some(BigInt::from(-98304)));
        assert_eq!(of_text("15e-1", 16), Some(BigInt::from(98304)));
        assert_eq!(of_text("0.00000762939453125", 16), Some(BigInt::ZERO));
        assert_eq!(of_text("x", 16), None);
    }
}
