//! Translation of operations on reals. Reals are floats of the processor, or fixed-point numbers in integers.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{self, InstBuilder, types};
use reviver_compile::op::{OpKind, SsaOp};
use reviver_isa::arith::{Elementary, Order};
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};

use super::ints::comparison;
use super::{Translation, type_of};
use crate::context::ContextField;
use crate::functions;

pub(super) fn float_comparison(order: Order) -> FloatCC {
    match order {
        Order::Eq => FloatCC::Equal,
        Order::Ne => FloatCC::NotEqual,
        Order::Lt => FloatCC::LessThan,
        Order::Le => FloatCC::LessThanOrEqual,
        Order::Gt => FloatCC::GreaterThan,
        Order::Ge => FloatCC::GreaterThanOrEqual,
    }
}

impl Translation<'_> {
    /// Converts a float to binary64.
    pub(super) fn in_double(&mut self, a: ir::Value) -> ir::Value {
        match self.kinds.system {
            RealSystem::F32 => self.builder.ins().fpromote(types::F64, a),
            RealSystem::F64 | RealSystem::Fixed(_) => a,
        }
    }

    fn is_fixed(&self) -> bool {
        matches!(self.kinds.system, RealSystem::Fixed(_))
    }

    /// Returns the literal of the real with these bits.
    fn literal(&mut self, bits: u64) -> ir::Value {
        match self.kinds.system {
            RealSystem::F64 => self.builder.ins().f64const(Ieee64::with_bits(bits)),
            RealSystem::F32 => self.builder.ins().f32const(Ieee32::with_bits(bits as u32)),
            RealSystem::Fixed(_) => self.builder.ins().iconst(types::I64, bits as i64),
        }
    }

    pub(super) fn zero(&mut self) -> ir::Value {
        self.literal(0)
    }

    /// Returns a float literal that both widths can represent.
    fn float(&mut self, value: f64) -> ir::Value {
        match self.kinds.system {
            RealSystem::F32 => self.literal(u64::from((value as f32).to_bits())),
            RealSystem::F64 | RealSystem::Fixed(_) => self.literal(value.to_bits()),
        }
    }

    pub(super) fn real_op(&mut self, op: &SsaOp) -> Option<ir::Value> {
        match op.kind {
            OpKind::Real(bits) => Some(self.literal(bits)),
            OpKind::Choose => {
                let [condition, yes, no] = self.operands(op)?;
                Some(self.builder.ins().select(condition, yes, no))
            }
            OpKind::Test(order) => {
                let [a, b] = self.operands(op)?;
                let holds = match self.is_fixed() {
                    true => self.builder.ins().icmp(comparison(order), a, b),
                    false => self.builder.ins().fcmp(float_comparison(order), a, b),
                };
                Some(self.bit(holds))
            }
            _ if self.is_fixed() => self.fixed_op(op),
            _ => self.float_op(op),
        }
    }

    fn float_op(&mut self, op: &SsaOp) -> Option<ir::Value> {
        let pair = || self.operands::<2>(op);
        let one = || self.operands::<1>(op).map(|[a]| a);
        match op.kind {
            OpKind::Add => pair().map(|[a, b]| self.builder.ins().fadd(a, b)),
            OpKind::Sub => pair().map(|[a, b]| self.builder.ins().fsub(a, b)),
            OpKind::Mul => pair().map(|[a, b]| self.builder.ins().fmul(a, b)),
            OpKind::Div => pair().map(|[a, b]| self.builder.ins().fdiv(a, b)),
            OpKind::Neg => one().map(|a| self.builder.ins().fneg(a)),
            OpKind::Magnitude => one().map(|a| {
                let opposite = self.builder.ins().fneg(a);
                let is_greater = self.builder.ins().fcmp(FloatCC::LessThan, a, opposite);
                self.builder.ins().select(is_greater, opposite, a)
            }),
            OpKind::Powi => self.power(op),
            OpKind::Elementary(Elementary::Sqrt) => one().map(|a| self.builder.ins().sqrt(a)),
            OpKind::RealOf => {
                let type_ = type_of(Class::Real, self.kinds.system);
                one().map(|a| self.builder.ins().fcvt_from_sint(type_, a))
            }
            OpKind::IntOf => {
                let a = one()?;
                Some(self.whole(op, a))
            }
            _ => self.called(op),
        }
    }

    /// Calls the external function of an operation on floats.
    fn called(&mut self, op: &SsaOp) -> Option<ir::Value> {
        let address = functions::real(op.kind, self.kinds.system)?;
        let arguments: Option<Vec<ir::Value>> = op.operands.iter().map(|&value| self.value(value)).collect();
        self.call(address, &arguments?, Some(type_of(Class::Real, self.kinds.system)))
    }

    /// Translates a power with an integer exponent. For the exponents 0, 1 and 2 no function is called: the powers are
    /// 1, the base and its square.
    fn power(&mut self, op: &SsaOp) -> Option<ir::Value> {
        let [base, exponent] = self.operands(op)?;
        let [few, others, next] = [(); 3].map(|()| self.builder.create_block());
        let power = self.builder.append_block_param(next, type_of(Class::Real, self.kinds.system));
        let is_few = self.builder.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, exponent, 2);
        self.builder.ins().brif(is_few, few, &[], others, &[]);
        self.builder.switch_to_block(few);
        let (square, one) = (self.builder.ins().fmul(base, base), self.float(1.0));
        let is_one = self.builder.ins().icmp_imm(IntCC::Equal, exponent, 1);
        let up_to_one = self.builder.ins().select(is_one, base, one);
        let is_two = self.builder.ins().icmp_imm(IntCC::Equal, exponent, 2);
        let made = self.builder.ins().select(is_two, square, up_to_one);
        self.builder.ins().jump(next, &[made.into()]);
        self.builder.switch_to_block(others);
        let made = self.called(op)?;
        self.builder.ins().jump(next, &[made.into()]);
        self.builder.switch_to_block(next);
        Some(power)
    }

    /// Returns the integer part of a float. Emits a check that the integer part is a word of the program.
    fn whole(&mut self, op: &SsaOp, a: ir::Value) -> ir::Value {
        // The floats with an integer part that fits in 64 bits are those from -2^63 to below 2^63.
        let end = 9_223_372_036_854_775_808.0;
        let (start, end) = (self.float(-end), self.float(end));
        let is_below = self.builder.ins().fcmp(FloatCC::UnorderedOrLessThan, a, start);
        let is_above = self.builder.ins().fcmp(FloatCC::UnorderedOrGreaterThanOrEqual, a, end);
        let fails = self.builder.ins().bor(is_below, is_above);
        self.fail_if(fails, op);
        let whole = self.builder.ins().fcvt_to_sint_sat(types::I64, a);
        self.within_word(op, whole)
    }

    /// Emits a check that an integer is a word of the program.
    fn within_word(&mut self, op: &SsaOp, whole: ir::Value) -> ir::Value {
        if self.kinds.word != Word::W64 {
            let wrapped = self.wrap(whole);
            let fails = self.builder.ins().icmp(IntCC::NotEqual, wrapped, whole);
            self.fail_if(fails, op);
        }
        whole
    }

    fn fixed_op(&mut self, op: &SsaOp) -> Option<ir::Value> {
        if let OpKind::Add | OpKind::Sub = op.kind {
            let [a, b] = self.operands(op)?;
            return Some(self.fixed_sum(op, a, b));
        }
        let address = functions::real(op.kind, self.kinds.system)?;
        let own = op.operands.iter().map(|&value| self.value(value));
        let arguments: Vec<ir::Value> = std::iter::once(self.context).chain(own).collect::<Option<_>>()?;
        let made = self.call(address, &arguments, Some(types::I64))?;
        let fails = self.load(types::I64, ContextField::HAS_FAILED)?;
        let fails = self.builder.ins().icmp_imm(IntCC::NotEqual, fails, 0);
        self.fail_if(fails, op);
        match op.kind {
            OpKind::IntOf => Some(self.within_word(op, made)),
            _ => Some(made),
        }
    }

    /// Translates a fixed-point sum or difference, with a check that fails on overflow. The signs of the operands and
    /// the result show an overflow.
    fn fixed_sum(&mut self, op: &SsaOp, a: ir::Value, b: ir::Value) -> ir::Value {
        let is_sum = op.kind == OpKind::Add;
        let made = if is_sum { self.builder.ins().iadd(a, b) } else { self.builder.ins().isub(a, b) };
        let (from_a, from_b) = (self.builder.ins().bxor(made, a), self.builder.ins().bxor(made, b));
        // A difference a - b overflows if the sign of a differs from the sign of b and from the sign of the difference.
        let from_b = if is_sum { from_b } else { self.builder.ins().bnot(from_b) };
        let both = self.builder.ins().band(from_a, from_b);
        let fails = self.builder.ins().icmp_imm(IntCC::SignedLessThan, both, 0);
        self.fail_if(fails, op);
        made
    }

    /// Returns the condition under which a check of a real fails, without its guard.
    pub(super) fn real_requirement(&mut self, op: &SsaOp) -> Option<ir::Value> {
        let [a] = self.operands(op)?;
        if self.is_fixed() {
            return Some(match op.kind {
                OpKind::RequireVacant => self.builder.ins().icmp_imm(IntCC::NotEqual, a, 0),
                // Every fixed-point number may be stored in a cell.
                _ => self.builder.ins().iconst(types::I8, 0),
            });
        }
        Some(match op.kind {
            OpKind::RequireVacant => {
                let magnitude = self.builder.ins().fabs(a);
                // The tolerance is a binary64 number in both float systems.
                let magnitude = self.in_double(magnitude);
                let tolerance = self.builder.ins().f64const(self.kinds.tolerance);
                self.builder.ins().fcmp(FloatCC::UnorderedOrGreaterThan, magnitude, tolerance)
            }
            _ => {
                // a - a is NaN if a is infinite or NaN, otherwise 0.
                let difference = self.builder.ins().fsub(a, a);
                self.builder.ins().fcmp(FloatCC::Unordered, difference, difference)
            }
        })
    }
}
