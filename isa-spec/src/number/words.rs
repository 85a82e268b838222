//! Integers: two's complement words of 8 to 64 bits, stored sign-extended in an `i64`. This module handles
//! widths and wrapping, and is independent of cells.

use crate::arith::Order;
use crate::fault::{Eval, Fault};
use crate::module::Word;
use crate::mutants::{self, Rule};

/// A width of integers. All operations take and return sign-extended words of that width.
pub trait Words: Copy + 'static {
    /// True if a word fills an `i64`, so that wrapping does nothing.
    const WHOLE: bool;

    /// Returns the width of a word in bits; results wrap to this width.
    fn bits(self) -> u32;

    /// Returns the word that is congruent to an `i64` modulo 2^width.
    fn wrap(self, value: i64) -> i64;

    /// Divides as specified by [`crate::arith::Arith::int_div`].
    #[inline(always)]
    fn div(self, a: i64, b: i64) -> Eval<i64> {
        if b == 0 { Err(Fault::DivisionByZero) } else { Ok(self.wrap(a.wrapping_div(b))) }
    }

    /// Computes the remainder as specified by [`crate::arith::Arith::int_rem`].
    #[inline(always)]
    fn rem(self, a: i64, b: i64) -> Eval<i64> {
        if b == 0 { Err(Fault::DivisionByZero) } else { Ok(self.wrap(a.wrapping_rem(b))) }
    }

    /// Raises to a power by repeated squaring. Faults on a negative exponent.
    fn pow(self, a: i64, exponent: i64) -> Eval<i64> {
        let mut exponent = u64::try_from(exponent).map_err(|_| Fault::NegativeExponent)?;
        let (mut power, mut square) = (1i64, a);
        while exponent != 0 {
            if exponent & 1 == 1 {
                power = power.wrapping_mul(square);
            }
            square = square.wrapping_mul(square);
            exponent >>= 1;
        }
        Ok(self.wrap(power))
    }

    /// Returns true if the shift amount is at least 0 and below the width.
    #[inline(always)]
    fn in_width(self, amount: i64) -> bool {
        (0..i64::from(self.bits())).contains(&amount)
    }

    /// Returns the bits of a word without its sign extension.
    #[inline(always)]
    fn unsigned(self, a: i64) -> u64 {
        a as u64 & (u64::MAX >> (64 - self.bits()))
    }

    /// Shifts as specified by [`crate::arith::Arith::int_shl`].
    #[inline(always)]
    fn shl(self, a: i64, amount: i64) -> i64 {
        if self.in_width(amount) { self.wrap(a << amount) } else { 0 }
    }

    /// Shifts as specified by [`crate::arith::Arith::int_shr`].
    #[inline(always)]
    fn shr(self, a: i64, amount: i64) -> i64 {
        if self.in_width(amount) { self.wrap((self.unsigned(a) >> amount) as i64) } else { 0 }
    }

    /// Shifts as specified by [`crate::arith::Arith::int_sar`].
    #[inline(always)]
    fn sar(self, a: i64, amount: i64) -> i64 {
        a >> if self.in_width(amount) { amount } else { 63 }
    }

    /// Rotates left by the amount modulo the width.
    #[inline(always)]
    fn rol(self, a: i64, amount: i64) -> i64 {
        let bits = self.bits();
        let left = amount.rem_euclid(i64::from(bits)) as u32;
        let word = self.unsigned(a);
        // Two shifts, because a single shift by a width of 64 would be out of range.
        self.wrap((word << left | (word >> (bits - 1 - left)) >> 1) as i64)
    }

    /// Rotates right by the amount modulo the width.
    #[inline(always)]
    fn ror(self, a: i64, amount: i64) -> i64 {
        let bits = i64::from(self.bits());
        self.rol(a, bits - amount.rem_euclid(bits))
    }

    /// Returns 1 if the ordering holds, otherwise 0.
    #[inline(always)]
    fn test(self, order: Order, a: i64, b: i64) -> i64 {
        i64::from(order.holds(a, b))
    }
}

/// 64-bit words: the default width, for which wrapping costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wide;

impl Words for Wide {
    const WHOLE: bool = true;

    #[inline(always)]
    fn bits(self) -> u32 {
        64
    }

    #[inline(always)]
    fn wrap(self, value: i64) -> i64 {
        value
    }
}

/// Words of a width that is known when the program is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Narrow(pub Word);

impl Words for Narrow {
    const WHOLE: bool = false;

    #[inline(always)]
    fn bits(self) -> u32 {
        self.0.bits()
    }

    #[inline(always)]
    fn wrap(self, value: i64) -> i64 {
        if !mutants::keeps(Rule::WordsWrap) {
            return value;
        }
        let shift = 64 - self.bits();
        value << shift >> shift
    }
}
