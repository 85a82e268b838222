//! Arithmetic on SSA values. SSA construction executes the rows of the instruction table on SSA values instead of
//! numbers. Each call of an [`Arith`] method appends an operation to the draft.

use reviver_isa::arith::{Arith, Elementary, Order};
use reviver_isa::fault::Eval;
use reviver_isa::number::try_literal_bits;

use super::draft::Draft;
use crate::op::{Coordinate, OpKind, SsaValue};

/// Arithmetic on the values of an SSA function under construction.
#[derive(Clone, Copy)]
pub(super) struct SsaNumbers<'d>(pub &'d Draft);

impl Arith for SsaNumbers<'_> {
    type Int = SsaValue;
    type Real = SsaValue;

    fn int(&self, value: i64) -> SsaValue {
        let unused = i64::BITS - self.0.numbers().word.bits();
        self.0.int(value << unused >> unused)
    }
    fn int_add(&self, a: SsaValue, b: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntAdd, [a, b])
    }
    fn int_sub(&self, a: SsaValue, b: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntSub, [a, b])
    }
    fn int_neg(&self, a: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntNeg, [a])
    }
    fn int_mul(&self, a: SsaValue, b: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntMul, [a, b])
    }
    fn int_div(&self, a: SsaValue, b: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::IntDiv, [a, b]))
    }
    fn int_rem(&self, a: SsaValue, b: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::IntRem, [a, b]))
    }
    fn int_pow(&self, a: SsaValue, exponent: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::IntPow, [a, exponent]))
    }
    fn int_and(&self, a: SsaValue, b: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntAnd, [a, b])
    }
    fn int_or(&self, a: SsaValue, b: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntOr, [a, b])
    }
    fn int_xor(&self, a: SsaValue, b: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntXor, [a, b])
    }
    fn int_not(&self, a: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntNot, [a])
    }
    fn int_rol(&self, a: SsaValue, amount: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntRol, [a, amount])
    }
    fn int_ror(&self, a: SsaValue, amount: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntRor, [a, amount])
    }
    fn int_shl(&self, a: SsaValue, amount: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntShl, [a, amount])
    }
    fn int_shr(&self, a: SsaValue, amount: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntShr, [a, amount])
    }
    fn int_sar(&self, a: SsaValue, amount: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntSar, [a, amount])
    }
    fn int_test(&self, order: Order, a: SsaValue, b: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntTest(order), [a, b])
    }
    fn int_choose(&self, condition: SsaValue, yes: SsaValue, no: SsaValue) -> SsaValue {
        self.0.op(OpKind::IntChoose, [condition, yes, no])
    }

    fn real(&self, value: f64) -> Eval<SsaValue> {
        try_literal_bits(self.0.numbers().system, value).map(|bits| self.0.real(bits))
    }
    fn add(&self, a: SsaValue, b: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::Add, [a, b]))
    }
    fn sub(&self, a: SsaValue, b: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::Sub, [a, b]))
    }
    fn mul(&self, a: SsaValue, b: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::Mul, [a, b]))
    }
    fn div(&self, a: SsaValue, b: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::Div, [a, b]))
    }
    fn neg(&self, a: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::Neg, [a]))
    }
    fn pow(&self, a: SsaValue, b: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::Pow, [a, b]))
    }
    fn powi(&self, a: SsaValue, exponent: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::Powi, [a, exponent]))
    }
    fn atan2(&self, y: SsaValue, x: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::Atan2, [y, x]))
    }
    fn hypot(&self, a: SsaValue, b: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::Hypot, [a, b]))
    }
    fn elementary(&self, function: Elementary, a: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::Elementary(function), [a]))
    }
    fn rotate(&self, point: (SsaValue, SsaValue), angle: SsaValue) -> Eval<(SsaValue, SsaValue)> {
        Ok(self.turned(false, point, angle))
    }
    fn rotate_back(&self, point: (SsaValue, SsaValue), angle: SsaValue) -> Eval<(SsaValue, SsaValue)> {
        Ok(self.turned(true, point, angle))
    }
    fn test(&self, order: Order, a: SsaValue, b: SsaValue) -> SsaValue {
        self.0.op(OpKind::Test(order), [a, b])
    }
    fn choose(&self, condition: SsaValue, yes: SsaValue, no: SsaValue) -> SsaValue {
        self.0.op(OpKind::Choose, [condition, yes, no])
    }
    fn real_of(&self, a: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::RealOf, [a]))
    }
    fn int_of(&self, a: SsaValue) -> Eval<SsaValue> {
        Ok(self.0.op(OpKind::IntOf, [a]))
    }
}

impl SsaNumbers<'_> {
    fn turned(&self, back: bool, (x, y): (SsaValue, SsaValue), angle: SsaValue) -> (SsaValue, SsaValue) {
        let turn = |axis| self.0.op(OpKind::Turn { back, axis }, [x, y, angle]);
        (turn(Coordinate::X), turn(Coordinate::Y))
    }
}
