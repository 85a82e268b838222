//! Translation of checks, and of the evidence for verification: the turning point, freed cells and differences from the
//! start.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, types};
use cranelift_frontend::Variable;
use reviver_compile::op::{OpKind, SsaOp};
use reviver_isa::module::RealSystem;
use reviver_vm::watch::Rounding;

use super::{ALL, GroupTranslation, VECTORS};

impl GroupTranslation<'_> {
    /// Translates a check of integers. The code abandons the group at once unless the check passes in all lanes.
    pub(super) fn require_at_once(&mut self, op: &SsaOp, count: usize) -> Option<()> {
        let mut all = None;
        for n in 0..count {
            let holds = match (op.kind, op.operands.as_slice()) {
                (OpKind::RequireTrue, &[condition]) => self.mask(condition, n)?,
                _ => {
                    let [a, b] = self.vectors(op, n)?;
                    self.lane.builder.ins().icmp(IntCC::NotEqual, a, b)
                }
            };
            let holds = match op.guard {
                Some(guard) => {
                    let counts = self.mask(guard, n)?;
                    self.lane.builder.ins().bor_not(holds, counts)
                }
                None => holds,
            };
            all = Some(match all {
                Some(all) => self.lane.builder.ins().band(all, holds),
                None => holds,
            });
        }
        let all = self.lane.builder.ins().vhigh_bits(types::I32, all?);
        let holds = self.lane.builder.ins().icmp_imm(IntCC::Equal, all, ALL);
        let next = self.lane.builder.create_block();
        self.lane.builder.ins().brif(holds, next, &[], self.lane.failed, &[]);
        self.lane.builder.switch_to_block(next);
        Some(())
    }

    /// Emits code that records a failed check of a real in the lanes of vector `n`. The next test of deferred checks
    /// then abandons the group.
    pub(super) fn require(&mut self, op: &SsaOp, n: usize) -> Option<()> {
        let first = *op.operands.first()?;
        let fails = match op.kind {
            OpKind::RequireVacant => {
                let a = self.vector(first, n)?;
                let magnitude = self.magnitude(a);
                let tolerance = self.constant(types::F64X2, self.lane.kinds.tolerance.to_bits());
                self.lane.builder.ins().fcmp(FloatCC::UnorderedOrGreaterThan, magnitude, tolerance)
            }
            _ if op.guard.is_none() => {
                let (a, sum) = (self.vector(first, n)?, *self.sums.get(n)?);
                let before = self.lane.builder.use_var(sum);
                let after = self.lane.builder.ins().fadd(before, a);
                self.lane.builder.def_var(sum, after);
                return Some(());
            }
            _ => {
                let a = self.vector(first, n)?;
                self.bits_unless_finite(a)
            }
        };
        let fails = match op.guard {
            Some(guard) => {
                let counts = self.mask(guard, n)?;
                self.lane.builder.ins().band(fails, counts)
            }
            None => fails,
        };
        self.find(fails);
        Some(())
    }

    /// Returns a vector whose bits are 0 in each finite lane, and other than 0 in each lane that is infinite or NaN.
    pub(super) fn bits_unless_finite(&mut self, a: ir::Value) -> ir::Value {
        // The difference is NaN in each lane that is infinite or NaN, and 0 in all others.
        let difference = self.lane.builder.ins().fsub(a, a);
        self.bits(types::I64X2, difference)
    }

    /// Records failed checks: bits other than 0 in a lane mean that its check failed.
    pub(super) fn find(&mut self, bits: ir::Value) {
        let found = self.lane.builder.use_var(self.found);
        let found = self.lane.builder.ins().bor(found, bits);
        self.lane.builder.def_var(self.found, found);
    }

    /// Records the magnitude of a real at the turning point, in the lanes of vector `n`.
    pub(super) fn record_largest(&mut self, op: &SsaOp, n: usize) -> Option<()> {
        let number = self.vector(*op.operands.first()?, n)?;
        let (magnitude, variable) = (self.magnitude(number), *self.largest.get(n)?);
        self.keep_greater(variable, magnitude);
        Some(())
    }

    /// Records a freed number in the lanes of vector `n`: its magnitude, and its effect on a row's loss to first order.
    pub(super) fn freed(&mut self, op: &SsaOp, row: u32, n: usize) -> Option<()> {
        let &[value, adjoint] = op.operands.as_slice() else { return None };
        let number = self.vector(value, n)?;
        if row == 0 {
            let (magnitude, variable) = (self.magnitude(number), *self.freed.get(n)?);
            self.keep_greater(variable, magnitude);
        }
        // If the adjoint is the literal 0, the product adds nothing.
        if self.group.function().op(adjoint).is_some_and(|op| op.kind == OpKind::Real(0)) {
            return Some(());
        }
        let adjoint = self.vector(adjoint, n)?;
        let variable = *self.freed_errors.get(row as usize * VECTORS + n)?;
        self.add_product(variable, [number, adjoint]);
        Some(())
    }

    /// Compares a real at the start with the same cell after the reverse sweep, in the lanes of vector `n`. Records the
    /// difference, and a failed check if rounding doesn't explain it.
    pub(super) fn missed(&mut self, op: &SsaOp, row: u32, n: usize) -> Option<()> {
        let &[from, to, adjoint] = op.operands.as_slice() else { return None };
        let (from, to) = (self.vector(from, n)?, self.vector(to, n)?);
        let difference = self.lane.builder.ins().fsub(to, from);
        if row == 0 {
            let (by, size) = (self.magnitude(difference), self.magnitude(from));
            let part = self.constant(types::F64X2, Rounding::of(RealSystem::F64).part.to_bits());
            let zero = self.constant(types::F64X2, 0);
            let bound = self.lane.builder.ins().fmul(size, part);
            let is_beyond = self.lane.builder.ins().fcmp(FloatCC::UnorderedOrGreaterThan, by, bound);
            let counts = self.lane.builder.ins().fcmp(FloatCC::NotEqual, from, zero);
            let fails = self.lane.builder.ins().band(is_beyond, counts);
            self.find(fails);
            self.keep_greater(*self.missed.get(n)?, by);
        }
        if self.group.function().op(adjoint).is_some_and(|op| op.kind == OpKind::Real(0)) {
            return Some(());
        }
        let adjoint = self.vector(adjoint, n)?;
        let variable = *self.missed_errors.get(row as usize * VECTORS + n)?;
        self.add_product(variable, [difference, adjoint]);
        Some(())
    }

    /// Raises a variable to a magnitude in the lanes where the magnitude is greater. NaN changes nothing.
    fn keep_greater(&mut self, variable: Variable, magnitude: ir::Value) {
        let before = self.lane.builder.use_var(variable);
        let is_larger = self.lane.builder.ins().fcmp(FloatCC::LessThan, before, magnitude);
        let after = self.chosen(is_larger, [magnitude, before], types::F64X2);
        self.lane.builder.def_var(variable, after);
    }

    /// Adds |a·b| to a variable, in each lane.
    fn add_product(&mut self, variable: Variable, [a, b]: [ir::Value; 2]) {
        let product = self.lane.builder.ins().fmul(a, b);
        let product = self.magnitude(product);
        let sum = self.lane.builder.use_var(variable);
        let sum = self.lane.builder.ins().fadd(sum, product);
        self.lane.builder.def_var(variable, sum);
    }
}
