//! The algebraic functions: product, quotient, square root and length. All are correctly rounded, because the
//! exact integer result and its remainder are known.

use super::machine::{NativeWide, eval};
use super::wide;
use crate::fault::{Eval, Fault};

/// a * b, to nearest, ties to even (at most 0.5 ulp off). Overflow if it is out of range.
#[inline]
pub fn mul(a: i64, b: i64, frac: u32) -> Eval<i64> {
    i64::try_from(round_product(i128::from(a) * i128::from(b), frac)).map_err(|_| Fault::Overflow)
}

/// The same as [`wide::round_product`], on native words.
#[inline]
pub(super) fn round_product(product: i128, shift: u32) -> i128 {
    wide::round_product(&NativeWide, product as u128, shift) as i128
}

/// Returns a magnitude with a sign; Overflow if it is out of range.
#[inline]
fn signed(magnitude: u128, negative: bool) -> Eval<i64> {
    eval(wide::signed(&NativeWide, magnitude, negative))
}

/// a / b, to nearest, ties to even (at most 0.5 ulp off). DivisionByZero if b is 0, Overflow if the quotient
/// is out of range.
#[inline]
pub fn div(a: i64, b: i64, frac: u32) -> Eval<i64> {
    if b == 0 {
        return Err(Fault::DivisionByZero);
    }
    let dividend = u128::from(a.unsigned_abs()) << frac;
    let divisor = u128::from(b.unsigned_abs());
    let floor = dividend / divisor;
    let twice_rest = 2 * (dividend - floor * divisor);
    let up = twice_rest > divisor || (twice_rest == divisor && floor & 1 == 1);
    signed(floor + u128::from(up), (a < 0) != (b < 0))
}

/// The square root of a >= 0, to nearest (at most 0.5 ulp off; a tie is impossible). Domain if a < 0.
pub fn sqrt(a: i64, frac: u32) -> Eval<i64> {
    if a < 0 {
        return Err(Fault::Domain);
    }
    let square = u128::from(a.unsigned_abs()) << frac;
    let root = square.isqrt();
    // (root + 1/2)^2 = root^2 + root + 1/4: above that, root + 1 is nearer.
    let up = square - root * root > root;
    signed(root + u128::from(up), false)
}

/// The square root of a^2 + b^2, to nearest (at most 0.5 ulp off; a tie is impossible). Overflow if it is out
/// of range.
pub fn hypot(a: i64, b: i64) -> Eval<i64> {
    let square = |x: i64| u128::from(x.unsigned_abs()) * u128::from(x.unsigned_abs());
    let sum = square(a) + square(b);
    let root = sum.isqrt();
    let up = sum - root * root > root;
    signed(root + u128::from(up), false)
}
