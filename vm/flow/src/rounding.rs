//! Branches that rounding may divert: in the reverse sweep they may take another direction than in the forward sweep.
//! The reals of the two sweeps may differ, because float operations are rounded. Integers differ only if some of them
//! are computed from reals. The mode bit differs, too, but Reviver doesn't differentiate a program that reads the mode
//! bit.

use reviver_isa::instruction::Class;
use reviver_isa::update::Action;

use crate::{Flow, Step, StepLink};

impl Flow {
    /// Returns true if the reverse sweep may first leave the path of the forward sweep at this branch half. Only
    /// rounding can cause the first divergence. So the half or its partner must compare reals, or it must compare
    /// integers in a program that computes some integers from reals. For all other halves the result is false.
    pub fn may_diverge(&self, half: u32) -> bool {
        let compares_reals = |at: u32| self.step(at).is_some_and(|step| has_real(step, 0));
        let partner = match self.step(half).map(|step| step.link) {
            Some(StepLink::Partner(partner)) => Some(partner),
            Some(StepLink::None | StepLink::Call(_)) | None => None,
        };
        self.ints_are_rounded || compares_reals(half) || partner.is_none_or(compares_reals)
    }
}

/// Returns true if some step computes integers from reals.
pub(crate) fn rounds_ints(steps: &[Step]) -> bool {
    steps.iter().any(|step| {
        let targets = step.operation.update.shape().targets();
        let changes_ints = step.slots.iter().take(targets).any(|slot| slot.class == Class::Int);
        changes_ints && !is_branch(step) && has_real(step, targets)
    })
}

fn is_branch(step: &Step) -> bool {
    matches!(step.operation.update.action(), Action::Jump | Action::Join)
}

/// Returns true if one of the operands from number `first` on is a real.
fn has_real(step: &Step, first: usize) -> bool {
    step.slots.iter().skip(first).any(|slot| slot.class == Class::Real)
}
