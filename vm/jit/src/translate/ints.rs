//! Translation of integer operations. Integers are words of the program, sign-extended to 64 bits.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use reviver_compile::op::{OpKind, SsaOp};
use reviver_isa::arith::Order;
use reviver_isa::module::Word;
use reviver_isa::mutants::{Rule, keeps};

use super::Translation;
use crate::functions;

/// Returns Cranelift's signed comparison for an order.
pub(super) fn comparison(order: Order) -> IntCC {
    match order {
        Order::Eq => IntCC::Equal,
        Order::Ne => IntCC::NotEqual,
        Order::Lt => IntCC::SignedLessThan,
        Order::Le => IntCC::SignedLessThanOrEqual,
        Order::Gt => IntCC::SignedGreaterThan,
        Order::Ge => IntCC::SignedGreaterThanOrEqual,
    }
}

fn narrow(word: Word) -> ir::Type {
    match word {
        Word::W8 => types::I8,
        Word::W16 => types::I16,
        Word::W32 => types::I32,
        Word::W64 => types::I64,
    }
}

impl Translation<'_> {
    /// Wraps an integer to the word and sign-extends it.
    pub(super) fn wrap(&mut self, value: ir::Value) -> ir::Value {
        let word = narrow(self.kinds.word);
        if word == types::I64 || !keeps(Rule::WordsWrap) {
            return value;
        }
        let value = self.builder.ins().ireduce(word, value);
        self.builder.ins().sextend(types::I64, value)
    }

    pub(super) fn int_op(&mut self, op: &SsaOp) -> Option<ir::Value> {
        if let OpKind::IntNeg | OpKind::IntNot = op.kind {
            let [a] = self.operands(op)?;
            return Some(match op.kind {
                OpKind::IntNeg => {
                    let negated = self.builder.ins().ineg(a);
                    self.wrap(negated)
                }
                _ => self.builder.ins().bnot(a),
            });
        }
        if op.kind == OpKind::IntChoose {
            let [condition, yes, no] = self.operands(op)?;
            return Some(self.builder.ins().select(condition, yes, no));
        }
        let [a, b] = self.operands(op)?;
        let ins = self.builder.ins();
        let made = match op.kind {
            OpKind::IntAdd => ins.iadd(a, b),
            OpKind::IntSub => ins.isub(a, b),
            OpKind::IntMul => ins.imul(a, b),
            OpKind::IntAnd => return Some(ins.band(a, b)),
            OpKind::IntOr => return Some(ins.bor(a, b)),
            OpKind::IntXor => return Some(ins.bxor(a, b)),
            OpKind::IntTest(order) => {
                let holds = ins.icmp(comparison(order), a, b);
                return Some(self.bit(holds));
            }
            OpKind::IntDiv | OpKind::IntRem => self.divided(op, a, b),
            OpKind::IntPow => {
                let fails = self.builder.ins().icmp_imm(IntCC::SignedLessThan, b, 0);
                self.fail_if(fails, op);
                self.call(functions::int_pow(), &[a, b], Some(types::I64))?
            }
            OpKind::IntRol | OpKind::IntRor => self.rotated(op.kind, a, b),
            _ => self.shifted(op.kind, a, b),
        };
        Some(self.wrap(made))
    }

    /// Translates a quotient or remainder. The processor would trap in two cases: a division by 0, which is a failed
    /// check, and a division of the least number by -1, whose result must wrap.
    fn divided(&mut self, op: &SsaOp, a: ir::Value, b: ir::Value) -> ir::Value {
        let is_zero = self.builder.ins().icmp_imm(IntCC::Equal, b, 0);
        self.fail_if(is_zero, op);
        let is_minus_one = self.builder.ins().icmp_imm(IntCC::Equal, b, -1);
        // If the guard is 0, the divisor may still be 0.
        let is_special = self.builder.ins().bor(is_zero, is_minus_one);
        let one = self.builder.ins().iconst(types::I64, 1);
        let divisor = self.builder.ins().select(is_special, one, b);
        match op.kind {
            OpKind::IntDiv => {
                let (quotient, negated) = (self.builder.ins().sdiv(a, divisor), self.builder.ins().ineg(a));
                self.builder.ins().select(is_minus_one, negated, quotient)
            }
            _ => self.builder.ins().srem(a, divisor),
        }
    }

    /// Translates a rotation by an amount modulo the word's width, which is a power of two.
    fn rotated(&mut self, kind: OpKind, a: ir::Value, amount: ir::Value) -> ir::Value {
        let word = narrow(self.kinds.word);
        let is_whole = word == types::I64;
        let a = if is_whole { a } else { self.builder.ins().ireduce(word, a) };
        let amount = self.builder.ins().band_imm(amount, i64::from(word.bits()) - 1);
        let rotated = match kind {
            OpKind::IntRol => self.builder.ins().rotl(a, amount),
            _ => self.builder.ins().rotr(a, amount),
        };
        if is_whole { rotated } else { self.builder.ins().sextend(types::I64, rotated) }
    }

    /// Translates a shift by an amount that may be out of range.
    fn shifted(&mut self, kind: OpKind, a: ir::Value, amount: ir::Value) -> ir::Value {
        let bits = self.kinds.word.bits();
        let fits = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, amount, i64::from(bits));
        let zero = self.builder.ins().iconst(types::I64, 0);
        match kind {
            OpKind::IntSar => {
                let most = self.builder.ins().iconst(types::I64, 63);
                let amount = self.builder.ins().select(fits, amount, most);
                self.builder.ins().sshr(a, amount)
            }
            OpKind::IntShr => {
                let unsigned = match bits {
                    64 => a,
                    bits => self.builder.ins().band_imm(a, (1 << bits) - 1),
                };
                let shifted = self.builder.ins().ushr(unsigned, amount);
                self.builder.ins().select(fits, shifted, zero)
            }
            _ => {
                let shifted = self.builder.ins().ishl(a, amount);
                self.builder.ins().select(fits, shifted, zero)
            }
        }
    }
}
