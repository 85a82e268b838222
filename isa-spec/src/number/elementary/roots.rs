//! The cube root and the length of a vector.
//!
//! The cube root of x starts from a polynomial approximation, rounded to so few digits that its cube is exact
//! (an idea of W. Kahan and K. C. Ng). The approximation is multiplied by the cube root of the quotient of x
//! and that cube. The quotient is close to 1, so its cube root is a short series. The length is the square root
//! of a sum that is rounded once.

use super::format::Format;
use super::ops::FloatOps;
use super::pair::quick_two_sum;

/// Returns the cube root of a float.
pub fn cbrt<S: FloatOps>(s: &S, x: S::Float) -> S::Float {
    let c = &S::Format::ROOTS;
    let magnitude = s.abs(x);
    let digits = s.word(S::Format::DIGITS - 1);
    // Subnormal numbers are multiplied by a power of two whose exponent is a multiple of 3.
    let small = s.lt(magnitude, s.float(S::Format::LEAST_NORMAL));
    let enlarged = s.mul(magnitude, s.power_of_two(s.word(c.enlarged)));
    let bits = s.bits(s.select(small, enlarged, magnitude));
    // The exponent is divided by 3 by a multiplication, which is exact for a positive exponent less than
    // 2^12.
    let exponent = s.word_add(s.word_shr(bits, digits), s.word(c.lift));
    let third = s.word_shr(s.word_mul(exponent, s.word(43_691)), s.word(17));
    let rest = s.word_sub(exponent, s.word_mul(third, s.word(3)));
    let stored_one = s.word_shl(s.word(S::Format::BIAS), digits);
    let fraction = s.word_and(bits, s.word((1 << (S::Format::DIGITS - 1)) - 1));
    let z = s.of_bits(s.word_or(fraction, stored_one));
    let guess = s.mul(s.polynomial(z, c.cube_root), s.float_at(c.root_of_powers, rest));
    let guess = s.of_bits(s.word_and(s.word_add(s.bits(guess), s.word(-(c.upper / 2))), s.word(c.upper)));
    let scaled = s.mul(z, s.power_of_two(rest));
    let cube = s.mul(guess, s.mul(guess, guess));
    let off = s.div(s.sub(scaled, cube), cube);
    let series = s.mul(off, s.polynomial(off, c.root_series));
    let root = s.add(guess, s.mul(guess, series));
    // The exponent divided by 3, corrected for the bias and for the scaling.
    let shift = s.word_select(small, s.word(c.enlarged / 3), s.word(0));
    let exponent = s.word_sub(s.word_sub(third, s.word((S::Format::BIAS + c.lift) / 3)), shift);
    let result = s.signed(s.mul(root, s.power_of_two(exponent)), s.sign(x));
    let is_ordinary = s.both(s.lt(s.float(0.0), magnitude), s.lt(magnitude, s.float(f64::INFINITY)));
    s.select(is_ordinary, result, x)
}

/// √(a² + b²), without intermediate overflow or underflow.
pub fn hypot<S: FloatOps>(s: &S, a: S::Float, b: S::Float) -> S::Float {
    let (a, b) = (s.abs(a), s.abs(b));
    let (greater, lesser) = (s.max(a, b), s.min(a, b));
    // If the greater number is between 1/`reach` and `reach`, both squares are in range. The squares of their low parts
    // are in range, too, unless they are too small to affect the result.
    let reach = s.float(S::Format::ROOTS.reach);
    let is_extreme = s.either(s.lt(reach, greater), s.lt(greater, s.div(s.float(1.0), reach)));
    let [length] = s.pick(
        is_extreme,
        || {
            // The greater number is scaled to about 1. The exponent is limited, because the inverse of the
            // greatest power would be subnormal.
            let stored = s.word_shr(s.bits(greater), s.word(S::Format::DIGITS - 1));
            let exponent =
                s.word_min(s.word_sub(stored, s.word(S::Format::BIAS)), s.word(S::Format::BIAS - 1));
            let scale = s.power_of_two(s.word_sub(s.word(0), exponent));
            let length = length(s, s.mul(greater, scale), s.mul(lesser, scale));
            let is_ordinary = s.both(s.lt(s.float(0.0), greater), s.lt(greater, s.float(f64::INFINITY)));
            [s.select(is_ordinary, s.scale(length, exponent), greater)]
        },
        || [length(s, greater, lesser)],
    );
    let is_number = s.both(s.eq(a, a), s.eq(b, b));
    s.select(is_number, length, s.add(a, b))
}

/// √(a² + b²) for a ≥ b, from squares without rounding. The squares of the upper halves of the digits are
/// exact. The rest of each square is (x - upper)·(x + upper).
#[inline(always)]
fn length<S: FloatOps>(s: &S, a: S::Float, b: S::Float) -> S::Float {
    let (a_upper, b_upper) = (s.upper_half(a), s.upper_half(b));
    let left = |x: S::Float, upper: S::Float| s.mul(s.sub(x, upper), s.add(x, upper));
    let (sum, error) = quick_two_sum(s, s.mul(a_upper, a_upper), s.mul(b_upper, b_upper));
    s.sqrt(s.add(sum, s.add(error, s.add(left(a, a_upper), left(b, b_upper)))))
}
