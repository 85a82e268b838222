//! Words and reals combined: the implementation of [`Arith`] with plain numbers, which the interpreter
//! computes with.

use super::reals::Reals;
use super::words::Words;
use crate::arith::{Arith, Elementary, Order};
use crate::fault::{Eval, Fault};

/// A width of integers combined with a number system of reals.
#[derive(Clone, Copy, Debug)]
pub struct Arithmetic<W, R> {
    /// The integers: wrapping words of one width.
    pub words: W,
    /// The reals: a number system with its rounding.
    pub reals: R,
}

impl<W: Words, R: Reals> Arith for Arithmetic<W, R> {
    type Int = i64;
    type Real = R::Cell;

    #[inline(always)]
    fn int(&self, value: i64) -> i64 {
        self.words.wrap(value)
    }
    #[inline(always)]
    fn int_add(&self, a: i64, b: i64) -> i64 {
        self.words.wrap(a.wrapping_add(b))
    }
    #[inline(always)]
    fn int_sub(&self, a: i64, b: i64) -> i64 {
        self.words.wrap(a.wrapping_sub(b))
    }
    #[inline(always)]
    fn int_neg(&self, a: i64) -> i64 {
        self.words.wrap(a.wrapping_neg())
    }
    #[inline(always)]
    fn int_mul(&self, a: i64, b: i64) -> i64 {
        self.words.wrap(a.wrapping_mul(b))
    }
    #[inline(always)]
    fn int_div(&self, a: i64, b: i64) -> Eval<i64> {
        self.words.div(a, b)
    }
    #[inline(always)]
    fn int_rem(&self, a: i64, b: i64) -> Eval<i64> {
        self.words.rem(a, b)
    }
    fn int_pow(&self, a: i64, exponent: i64) -> Eval<i64> {
        self.words.pow(a, exponent)
    }
    #[inline(always)]
    fn int_and(&self, a: i64, b: i64) -> i64 {
        a & b
    }
    #[inline(always)]
    fn int_or(&self, a: i64, b: i64) -> i64 {
        a | b
    }
    #[inline(always)]
    fn int_xor(&self, a: i64, b: i64) -> i64 {
        a ^ b
    }
    #[inline(always)]
    fn int_not(&self, a: i64) -> i64 {
        !a
    }
    #[inline(always)]
    fn int_rol(&self, a: i64, amount: i64) -> i64 {
        self.words.rol(a, amount)
    }
    #[inline(always)]
    fn int_ror(&self, a: i64, amount: i64) -> i64 {
        self.words.ror(a, amount)
    }
    #[inline(always)]
    fn int_shl(&self, a: i64, amount: i64) -> i64 {
        self.words.shl(a, amount)
    }
    #[inline(always)]
    fn int_shr(&self, a: i64, amount: i64) -> i64 {
        self.words.shr(a, amount)
    }
    #[inline(always)]
    fn int_sar(&self, a: i64, amount: i64) -> i64 {
        self.words.sar(a, amount)
    }
    #[inline(always)]
    fn int_test(&self, order: Order, a: i64, b: i64) -> i64 {
        self.words.test(order, a, b)
    }
    #[inline(always)]
    fn int_choose(&self, condition: i64, yes: i64, no: i64) -> i64 {
        if condition != 0 { yes } else { no }
    }

    #[inline(always)]
    fn real(&self, value: f64) -> Eval<R::Cell> {
        self.reals.literal(value)
    }
    #[inline(always)]
    fn add(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        self.reals.add(a, b)
    }
    #[inline(always)]
    fn sub(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        self.reals.sub(a, b)
    }
    #[inline(always)]
    fn mul(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        self.reals.mul(a, b)
    }
    #[inline(always)]
    fn div(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        self.reals.div(a, b)
    }
    #[inline(always)]
    fn neg(&self, a: R::Cell) -> Eval<R::Cell> {
        self.reals.neg(a)
    }
    fn pow(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        self.reals.pow(a, b)
    }
    fn powi(&self, a: R::Cell, exponent: i64) -> Eval<R::Cell> {
        self.reals.powi(a, exponent)
    }
    fn atan2(&self, y: R::Cell, x: R::Cell) -> Eval<R::Cell> {
        self.reals.atan2(y, x)
    }
    fn hypot(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        self.reals.hypot(a, b)
    }
    fn elementary(&self, function: Elementary, a: R::Cell) -> Eval<R::Cell> {
        self.reals.elementary(function, a)
    }
    fn rotate(&self, (x, y): (R::Cell, R::Cell), angle: R::Cell) -> Eval<(R::Cell, R::Cell)> {
        self.reals.rotate(x, y, angle)
    }
    fn rotate_back(&self, (x, y): (R::Cell, R::Cell), angle: R::Cell) -> Eval<(R::Cell, R::Cell)> {
        self.reals.rotate_back(x, y, angle)
    }
    #[inline(always)]
    fn test(&self, order: Order, a: R::Cell, b: R::Cell) -> i64 {
        i64::from(order.holds(a, b))
    }
    #[inline(always)]
    fn choose(&self, condition: i64, yes: R::Cell, no: R::Cell) -> R::Cell {
        if condition != 0 { yes } else { no }
    }
    fn real_of(&self, a: i64) -> Eval<R::Cell> {
        self.reals.of_int(a)
    }
    fn int_of(&self, a: R::Cell) -> Eval<i64> {
        let whole = self.reals.to_int(a)?;
        if self.words.wrap(whole) == whole { Ok(whole) } else { Err(Fault::OutOfRange) }
    }
}
