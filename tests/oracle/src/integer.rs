//! Integer arithmetic on big integers: results are computed exactly, then reduced to the word. The functions take
//! numbers, not cells.

use std::cmp::Ordering;

use num_bigint::BigInt;
use reviver_isa::function::Function;
use reviver_isa::update::Update;

use crate::order::truth;
use crate::outcome::{Step, Trap, trap, unsupported};

/// Reduces an integer to a word of `bits` bits, in two's complement.
pub(crate) fn wrap(value: BigInt, bits: u32) -> BigInt {
    let residue = pattern(&value, bits);
    if residue.bit(u64::from(bits) - 1) { residue - modulus(bits) } else { residue }
}

/// Returns 2^bits.
fn modulus(bits: u32) -> BigInt {
    BigInt::ONE << bits
}

/// Returns the bits of a word as a nonnegative integer.
fn pattern(value: &BigInt, bits: u32) -> BigInt {
    value & (modulus(bits) - 1)
}

/// Returns true if an integer is in the range of the word.
pub(crate) fn fits(value: &BigInt, bits: u32) -> bool {
    let half = modulus(bits - 1);
    *value < half && *value >= -half
}

/// Returns the value of a target `y` after the update `update` by the function value `f`.
pub(crate) fn update(update: Update, y: &BigInt, f: &BigInt, bits: u32) -> Step<BigInt> {
    let value = match update {
        Update::Add => y + f,
        Update::Sub => y - f,
        Update::Xor => y ^ f,
        Update::Rol => rotate_left(y, f, bits),
        Update::Ror => rotate_left(y, &-f, bits),
        Update::Overwrite => f.clone(),
        _ => return unsupported(format!("`{update:?}` of integers")),
    };
    Ok(wrap(value, bits))
}

/// Rotates a word left by `amount` bits. That is a multiplication by 2^amount modulo 2^bits - 1, except for the word
/// of all ones.
fn rotate_left(y: &BigInt, amount: &BigInt, bits: u32) -> BigInt {
    let all_ones = modulus(bits) - 1;
    let word = pattern(y, bits);
    if word == all_ones {
        return word;
    }
    // The width is a power of two, so rotating by the low bits of the amount is enough.
    let amount = amount & BigInt::from(bits - 1);
    word * BigInt::from(2).modpow(&amount, &all_ones) % all_ones
}

/// Evaluates a function of integers. Sources that the function doesn't have are ignored.
pub(crate) fn function(function: Function, a: &BigInt, b: &BigInt, bits: u32) -> Step<BigInt> {
    if let Some(holds) = truth(function, a.cmp(b)) {
        return Ok(flag(holds));
    }
    let zero = BigInt::ZERO;
    let value = match function {
        Function::Copy => a.clone(),
        Function::Sum => a + b,
        Function::Diff => a - b,
        Function::Mul => a * b,
        Function::Square => a * a,
        Function::Div | Function::Rem | Function::Floordiv | Function::Mod if *b == zero => {
            return trap(Trap::Fault);
        }
        Function::Div => a / b,
        Function::Rem => a % b,
        Function::Floordiv => floor(a, b),
        Function::Mod => a - floor(a, b) * b,
        Function::Ltu => flag(pattern(a, bits) < pattern(b, bits)),
        Function::Leu => flag(pattern(a, bits) <= pattern(b, bits)),
        Function::Gtu => flag(pattern(a, bits) > pattern(b, bits)),
        Function::Geu => flag(pattern(a, bits) >= pattern(b, bits)),
        Function::Pow if *b < zero => return trap(Trap::Fault),
        Function::Pow => a.modpow(b, &modulus(bits)),
        Function::Min => a.min(b).clone(),
        Function::Max => a.max(b).clone(),
        Function::Abs => BigInt::from(a.magnitude().clone()),
        Function::Relu => a.max(&zero).clone(),
        Function::And => a & b,
        Function::Or => a | b,
        Function::Xor => a ^ b,
        Function::Shl => shift(b, bits).map_or(zero, |n| a << n),
        Function::Shr => shift(b, bits).map_or(zero, |n| pattern(a, bits) >> n),
        Function::Sar => match (shift(b, bits), a.cmp(&zero)) {
            (Some(n), _) => a >> n,
            (None, Ordering::Less) => BigInt::NEG_ONE,
            (None, _) => zero,
        },
        _ => return unsupported(format!("`{function:?}` of integers")),
    };
    Ok(wrap(value, bits))
}

/// Returns 1 for true and 0 for false.
fn flag(holds: bool) -> BigInt {
    BigInt::from(u8::from(holds))
}

/// Returns the quotient rounded towards negative infinity. If the divisor is positive, the truncated quotient is too
/// large for negative dividends that leave a remainder.
fn floor(a: &BigInt, b: &BigInt) -> BigInt {
    let (a, b) = if *b < BigInt::ZERO { (-a, -b) } else { (a.clone(), b.clone()) };
    if a >= BigInt::ZERO {
        return a / b;
    }
    let raised: BigInt = &b - a - 1;
    -(raised / b)
}

/// Returns the amount of a shift. Returns `None` if the amount is at least the word's width, so that no bits remain.
fn shift(amount: &BigInt, bits: u32) -> Option<u32> {
    u32::try_from(amount).ok().filter(|n| *n < bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eight(name: Function, a: i64, b: i64) -> i64 {
        function(name, &a.into(), &b.into(), 8).unwrap().try_into().unwrap()
    }

    #[test]
    fn edges_of_eight_bit_words() {
        assert_eq!(eight(Function::Sum, 127, 1), -128);
        assert_eq!(eight(Function::Div, -128, -1), -128);
        assert_eq!(eight(Function::Div, -7, 2), -3);
        assert_eq!(eight(Function::Rem, -7, 2), -1);
        assert_eq!(eight(Function::Abs, -128, 0), -128);
        assert_eq!(eight(Function::Pow, 0, 0), 1);
        assert_eq!(eight(Function::Pow, -3, 5), 13); // -243 + 256
        assert_eq!(eight(Function::Shl, 1, 7), -128);
        assert_eq!(eight(Function::Shl, 1, 8), 0);
        assert_eq!(eight(Function::Shr, -1, 1), 127);
        assert_eq!(eight(Function::Sar, -128, 9), -1);
        assert_eq!(eight(Function::Sar, -128, -1), -1);
        assert_eq!(eight(Function::Always, 0, 0), 1);
    }

    #[test]
    fn rotation_is_modulo_the_width() {
        let rotated = |y: i64, n: i64, by: Update| -> i64 {
            update(by, &y.into(), &n.into(), 8).unwrap().try_into().unwrap()
        };
        assert_eq!(rotated(0x41, 1, Update::Rol), -126); // 0b1000_0010
        assert_eq!(rotated(1, 1, Update::Ror), -128);
        assert_eq!(rotated(1, -1, Update::Rol), -128);
        assert_eq!(rotated(-1, 3, Update::Rol), -1);
        assert_eq!(rotated(5, 16, Update::Rol), 5);
    }
}
