//! Integers: two's complement words of 8 to 64 bits, held sign-extended in an `i64`.
//! Knows widths and wrapping; knows no cells.

use crate::arith::Order;
use crate::fault::{Eval, Fault};
use crate::module::Word;
use crate::mutants::{self, Rule};

/// A width of integers. Every operation takes and gives sign-extended words of that width.
pub trait Words: Copy + 'static {
    /// Whether a word fills an `i64`, so that wrapping does nothing.
    const WHOLE: bool;

    /// How many bits a word has: results are wrapped to so many.
    fn bits(self) -> u32;

    /// The word that an `i64` is congruent to.
    fn wrap(self, value: i64) -> i64;

    /// Faults as [`crate::arith::Arith::int_div`] says.
    #[inline(always)]
    fn div(self, a: i64, b: i64) -> Eval<i64> {
        if b == 0 { Err(Fault::DivisionByZero) } else { Ok(self.wrap(a.wrapping_div(b))) }
    }

    /// Faults as [`crate::arith::Arith::int_rem`] says.
    #[inline(always)]
    fn rem(self, a: i64, b: i64) -> Eval<i64> {
        if b == 0 { Err(Fault::DivisionByZero) } else { Ok(self.wrap(a.wrapping_rem(b))) }
    }

    /// Square and multiply. Faults on a negative exponent.
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

    /// Whether a shift by this amount leaves any bits.
    #[inline(always)]
    fn in_width(self, amount: i64) -> bool {
        (0..i64::from(self.bits())).contains(&amount)
    }

    /// The bits of a word without its sign extension.
    #[inline(always)]
    fn unsigned(self, a: i64) -> u64 {
        a as u64 & (u64::MAX >> (64 - self.bits()))
    }

    /// See [`crate::arith::Arith::int_shl`].
    #[inline(always)]
    fn shl(self, a: i64, amount: i64) -> i64 {
        if self.in_width(amount) { self.wrap(a << amount) } else { 0 }
    }

    /// See [`crate::arith::Arith::int_shr`].
    #[inline(always)]
    fn shr(self, a: i64, amount: i64) -> i64 {
        if self.in_width(amount) { self.wrap((self.unsigned(a) >> amount) as i64) } else { 0 }
    }

    /// See [`crate::arith::Arith::int_sar`].
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
        // A shift by the whole width would be a shift by 64 where the width is 64.
        self.wrap((word << left | (word >> (bits - 1 - left)) >> 1) as i64)
    }

    /// Rotates right by the amount modulo the width.
    #[inline(always)]
    fn ror(self, a: i64, amount: i64) -> i64 {
        let bits = i64::from(self.bits());
        self.rol(a, bits - amount.rem_euclid(bits))
    }

    /// 1 if the ordering holds, else 0.
    #[inline(always)]
    fn test(self, order: Order, a: i64, b: i64) -> i64 {
        i64::from(order.holds(a, b))
    }
}

/// 64-bit words: nothing to wrap, so the default width pays nothing for the others.
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
