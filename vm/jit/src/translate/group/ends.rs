//! Terminators of blocks: branches on which all lanes agree, safepoints, and the exit at the function's end. The code
//! abandons the group if lanes diverge, and at all other exits.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use reviver_compile::function::{Jump, SsaEnd};
use reviver_compile::group::divergence::Uniformity;
use reviver_compile::op::SsaValue;

use super::{ALL, GroupTranslation, IN_VECTOR, UNCHECKED_STEPS, VECTOR_BYTES, VECTORS, Vectors, unaligned};
use crate::context::{ContextField, GroupField};
use crate::translate::FAILED;

impl GroupTranslation<'_> {
    pub(super) fn end(&mut self, end: &SsaEnd) -> Option<()> {
        match end {
            SsaEnd::Jump(jump) => {
                let (to, arguments) = self.jump(jump)?;
                self.lane.builder.ins().jump(to, &arguments);
            }
            SsaEnd::Branch { condition, yes, no }
                if self.group.uniformity(*condition) == Uniformity::Uniform =>
            {
                let condition = self.lane.value(*condition)?;
                self.branch(condition, yes, no)?;
            }
            SsaEnd::Branch { condition, yes, no } => self.branch_of_lanes(*condition, yes, no)?,
            // The edge `stop` isn't translated, because the code abandons a group whose budget is exhausted.
            SsaEnd::Safepoint { steps, skipped, next, .. } => self.safepoint((*steps, *skipped), next)?,
            SsaEnd::Exit { .. } => self.leave()?,
        }
        Some(())
    }

    fn branch(&mut self, condition: ir::Value, yes: &Jump, no: &Jump) -> Option<()> {
        let ((yes, yes_arguments), (no, no_arguments)) = (self.jump(yes)?, self.jump(no)?);
        self.lane.builder.ins().brif(condition, yes, &yes_arguments, no, &no_arguments);
        Some(())
    }

    /// Translates a branch on a condition that may differ between lanes. If the lanes' conditions differ, the code
    /// stores each lane's direction in the context, and abandons the group.
    fn branch_of_lanes(&mut self, condition: SsaValue, yes: &Jump, no: &Jump) -> Option<()> {
        let masks = (0..VECTORS).map(|n| self.mask(condition, n)).collect::<Option<Vectors>>()?;
        let joined = |own: &mut Self, join: fn(&mut Self, ir::Value, ir::Value) -> ir::Value| {
            let joined = masks.iter().copied().reduce(|a, b| join(own, a, b))?;
            Some(own.lane.builder.ins().vhigh_bits(types::I32, joined))
        };
        let all = joined(self, |own, a, b| own.lane.builder.ins().band(a, b))?;
        let all = self.lane.builder.ins().icmp_imm(IntCC::Equal, all, ALL);
        let ((yes, yes_arguments), (no, no_arguments)) = (self.jump(yes)?, self.jump(no)?);
        let others = self.lane.builder.create_block();
        self.lane.builder.ins().brif(all, yes, &yes_arguments, others, &[]);
        self.lane.builder.switch_to_block(others);
        let any = joined(self, |own, a, b| own.lane.builder.ins().bor(a, b))?;
        let parted = self.lane.builder.create_block();
        self.lane.builder.set_cold_block(parted);
        self.lane.builder.ins().brif(any, parted, &[], no, &no_arguments);
        self.lane.builder.switch_to_block(parted);
        let mut conditions = self.lane.builder.ins().iconst(types::I64, 0);
        for (n, &mask) in masks.iter().enumerate() {
            let own = self.lane.builder.ins().vhigh_bits(types::I64, mask);
            let own = self.lane.builder.ins().ishl_imm(own, (n * IN_VECTOR) as i64);
            conditions = self.lane.builder.ins().bor(conditions, own);
        }
        self.lane.store(conditions, GroupField::CONDITIONS)?;
        self.lane.builder.ins().jump(self.lane.failed, &[]);
        Some(())
    }

    /// Returns the target block of a jump, and the arguments for its parameters.
    pub(super) fn jump(&mut self, jump: &Jump) -> Option<(ir::Block, Vec<BlockArg>)> {
        let parameters = &self.group.function().blocks.get(jump.to as usize)?.parameters;
        let mut arguments: Vec<BlockArg> = Vec::new();
        for (&parameter, &argument) in parameters.iter().zip(&jump.arguments) {
            match self.count(self.group.uniformity(parameter)) {
                None => arguments.push(self.lane.value(argument)?.into()),
                Some(count) => {
                    for n in 0..count {
                        arguments.push(self.vector(argument, n)?.into());
                    }
                }
            }
        }
        Some((*self.lane.blocks.get(jump.to as usize)?, arguments))
    }

    /// Translates a safepoint. The code continues if at least `steps` steps are left after the skipped ones. If
    /// deferred checks are due, it tests them first. It abandons the group if too few steps are left, or if a deferred
    /// check has failed.
    fn safepoint(&mut self, (steps, skipped): (u32, Option<SsaValue>), next: &Jump) -> Option<()> {
        let mut left = self.lane.held(ContextField::LEFT)?;
        if let Some(skipped) = skipped {
            // Step counts are far from overflow.
            let skipped = self.lane.value(skipped)?;
            left = self.lane.builder.ins().isub(left, skipped);
        }
        let unchecked = self.lane.builder.use_var(self.unchecked);
        // One comparison covers both the budget and the step at which deferred checks are due, because `unchecked`
        // isn't negative.
        let margin = self.lane.builder.ins().isub(left, unchecked);
        let [looks, continues, renews] = [(); 3].map(|()| self.lane.builder.create_block());
        self.lane.builder.set_cold_block(looks);
        self.lane.builder.set_cold_block(renews);
        let at_least = IntCC::SignedGreaterThanOrEqual;
        let is_early = self.lane.builder.ins().icmp_imm(at_least, margin, i64::from(steps));
        self.lane.builder.ins().brif(is_early, continues, &[], looks, &[]);
        self.lane.builder.switch_to_block(looks);
        self.check()?;
        let lasts = self.lane.builder.ins().icmp_imm(at_least, left, i64::from(steps));
        self.lane.builder.ins().brif(lasts, renews, &[], self.lane.failed, &[]);
        self.lane.builder.switch_to_block(renews);
        self.schedule_check(left, steps);
        self.lane.builder.ins().jump(continues, &[]);
        self.lane.builder.switch_to_block(continues);
        self.lane.hold(ContextField::LEFT, left)?;
        let (next, next_arguments) = self.jump(next)?;
        self.lane.builder.ins().jump(next, &next_arguments);
        Some(())
    }

    /// Schedules the next test of deferred checks, at least `steps` steps after this position.
    pub(super) fn schedule_check(&mut self, left: ir::Value, steps: u32) {
        let later = self.lane.builder.ins().iadd_imm(left, -UNCHECKED_STEPS.max(i64::from(steps)));
        let zero = self.lane.builder.ins().iconst(types::I64, 0);
        let later = self.lane.builder.ins().smax(later, zero);
        self.lane.builder.def_var(self.unchecked, later);
    }

    /// Emits a test of the deferred checks, which abandons the group if one of them has failed.
    fn check(&mut self) -> Option<()> {
        for sum in self.sums {
            let sum = self.lane.builder.use_var(sum);
            let bits = self.bits_unless_finite(sum);
            self.find(bits);
        }
        let found = self.lane.builder.use_var(self.found);
        let fails = self.lane.builder.ins().vany_true(found);
        let next = self.lane.builder.create_block();
        self.lane.builder.ins().brif(fails, self.lane.failed, &[], next, &[]);
        self.lane.builder.switch_to_block(next);
        Some(())
    }

    /// Returns from the function with the evidence, unless a deferred check has failed.
    fn leave(&mut self) -> Option<()> {
        self.check()?;
        self.lane.store_held()?;
        let context = self.lane.context?;
        for (ContextField(first), variables) in self.evidence() {
            for (offset, variable) in (first..).step_by(VECTOR_BYTES).zip(variables) {
                let found = self.lane.builder.use_var(variable);
                self.lane.builder.ins().store(unaligned(), found, context, offset);
            }
        }
        let answer = self.lane.builder.ins().iconst(types::I64, 1 - FAILED);
        self.lane.builder.ins().return_(&[answer]);
        Some(())
    }
}
