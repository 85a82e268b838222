//! Translation of operations on vectors of numbers, by a vector instruction or lane after lane.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use reviver_compile::group::divergence::Uniformity;
use reviver_compile::op::{OpKind, SsaOp, SsaValue};
use reviver_isa::arith::{Elementary, Order};
use reviver_isa::module::Word;

use super::{GroupTranslation, IN_VECTOR, Vectors, vector_type};
use crate::translate::ints::comparison;
use crate::translate::reals::float_comparison;

impl GroupTranslation<'_> {
    /// Returns the mask of a comparison for the lanes of vector `n`. A lane has all bits set if the comparison holds.
    pub(super) fn test(&mut self, op: &SsaOp, n: usize) -> Option<ir::Value> {
        if let (OpKind::IntTest(order), &[a, b]) = (op.kind, op.operands.as_slice())
            && let Some(mask) = self.test_of_truth(order, a, b, n)
        {
            return Some(mask);
        }
        let [a, b] = self.vectors(op, n)?;
        Some(match op.kind {
            OpKind::Test(order) => self.lane.builder.ins().fcmp(float_comparison(order), a, b),
            OpKind::IntTest(order) => self.lane.builder.ins().icmp(comparison(order), a, b),
            _ => return None,
        })
    }

    /// Returns the mask of a comparison of a truth value with 0, derived from the mask of the truth value. Returns
    /// `None` for any other comparison.
    fn test_of_truth(&mut self, order: Order, a: SsaValue, b: SsaValue, n: usize) -> Option<ir::Value> {
        let is_zero = matches!(self.group.function().op(b)?.kind, OpKind::Int(0));
        let is_known = is_zero && !self.masks.get(a.0 as usize)?.is_empty();
        match order {
            Order::Ne if is_known => self.mask(a, n),
            Order::Eq if is_known => {
                let mask = self.mask(a, n)?;
                Some(self.lane.builder.ins().bnot(mask))
            }
            _ => None,
        }
    }

    /// Returns the result of an operation in the lanes of vector `n`.
    pub(super) fn made(&mut self, op: &SsaOp, n: usize) -> Option<ir::Value> {
        let is_whole = self.lane.kinds.word == Word::W64;
        match op.kind {
            OpKind::Add | OpKind::Sub | OpKind::Mul | OpKind::Div => {
                let [a, b] = self.vectors(op, n)?;
                let ins = self.lane.builder.ins();
                Some(match op.kind {
                    OpKind::Add => ins.fadd(a, b),
                    OpKind::Sub => ins.fsub(a, b),
                    OpKind::Mul => ins.fmul(a, b),
                    _ => ins.fdiv(a, b),
                })
            }
            OpKind::Neg => {
                let [a] = self.vectors(op, n)?;
                Some(self.opposite(a))
            }
            OpKind::Elementary(Elementary::Sqrt) => {
                let [a] = self.vectors(op, n)?;
                Some(self.lane.builder.ins().sqrt(a))
            }
            OpKind::Magnitude => {
                let [a] = self.vectors(op, n)?;
                let opposite = self.opposite(a);
                let is_greater = self.lane.builder.ins().fcmp(FloatCC::LessThan, a, opposite);
                Some(self.chosen(is_greater, [opposite, a], types::F64X2))
            }
            OpKind::Choose | OpKind::IntChoose => {
                let &[condition, yes, no] = op.operands.as_slice() else { return None };
                let (yes, no) = (self.vector(yes, n)?, self.vector(no, n)?);
                let mask = self.mask(condition, n)?;
                Some(self.chosen(mask, [yes, no], vector_type(op.kind.facts().result?)))
            }
            OpKind::IntAdd | OpKind::IntSub if is_whole => {
                let [a, b] = self.vectors(op, n)?;
                let ins = self.lane.builder.ins();
                Some(if op.kind == OpKind::IntAdd { ins.iadd(a, b) } else { ins.isub(a, b) })
            }
            OpKind::IntAnd | OpKind::IntOr | OpKind::IntXor => {
                let [a, b] = self.vectors(op, n)?;
                let ins = self.lane.builder.ins();
                Some(match op.kind {
                    OpKind::IntAnd => ins.band(a, b),
                    OpKind::IntOr => ins.bor(a, b),
                    _ => ins.bxor(a, b),
                })
            }
            _ => self.each_lane(op, n),
        }
    }

    /// Returns all vectors of a power with an integer exponent. The code calls no function if all lanes have the same
    /// exponent and it is 0, 1 or 2.
    pub(super) fn powers(&mut self, op: &SsaOp, count: usize) -> Option<Vectors> {
        let &[base, exponent] = op.operands.as_slice() else { return None };
        if self.group.uniformity(exponent) != Uniformity::Uniform || op.guard.is_some() {
            return (0..count).map(|n| self.each_lane(op, n)).collect();
        }
        let exponent = self.lane.value(exponent)?;
        let bases = (0..count).map(|n| self.vector(base, n)).collect::<Option<Vectors>>()?;
        let one = self.constant(types::F64X2, 1.0_f64.to_bits());
        let [few, others, next] = [(); 3].map(|()| self.lane.builder.create_block());
        let is_few = self.lane.builder.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, exponent, 2);
        let is_one = self.lane.builder.ins().icmp_imm(IntCC::Equal, exponent, 1);
        let is_two = self.lane.builder.ins().icmp_imm(IntCC::Equal, exponent, 2);
        self.lane.builder.ins().brif(is_few, few, &[], others, &[]);
        self.lane.builder.switch_to_block(few);
        let mut made: Vec<BlockArg> = Vec::with_capacity(count);
        for base in bases {
            let square = self.lane.builder.ins().fmul(base, base);
            let up_to_one = self.lane.builder.ins().select(is_one, base, one);
            made.push(self.lane.builder.ins().select(is_two, square, up_to_one).into());
        }
        self.lane.builder.ins().jump(next, &made);
        self.lane.builder.switch_to_block(others);
        made.clear();
        for n in 0..count {
            made.push(self.each_lane(op, n)?.into());
        }
        self.lane.builder.ins().jump(next, &made);
        self.lane.builder.switch_to_block(next);
        Some((0..count).map(|_| self.lane.builder.append_block_param(next, types::F64X2)).collect())
    }

    /// Executes an operation lane after lane, by the translation for one lane, and returns the results as a vector.
    fn each_lane(&mut self, op: &SsaOp, n: usize) -> Option<ir::Value> {
        let type_ = vector_type(op.kind.facts().result?);
        let used: Vec<SsaValue> = op.operands.iter().chain(&op.guard).copied().collect();
        let used: Vec<SsaValue> =
            used.into_iter().filter(|&value| self.group.uniformity(value) != Uniformity::Uniform).collect();
        let mut made = None;
        for lane in 0..IN_VECTOR as u8 {
            for &value in &used {
                let vector = self.vector(value, n)?;
                let number = self.lane.builder.ins().extractlane(vector, lane);
                self.lane.define(value, number);
            }
            let number = self.lane.op(op)??;
            made = Some(match made {
                None => self.lane.builder.ins().splat(type_, number),
                Some(made) => self.lane.builder.ins().insertlane(made, number, lane),
            });
        }
        used.into_iter().for_each(|value| self.lane.undefine(value));
        made
    }
}
