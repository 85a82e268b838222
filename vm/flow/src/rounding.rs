//! Branches that rounding may divert. In the reverse sweep numbers may differ from the forward sweep by the
//! bits that floats have lost. Integers don't differ unless some are computed from reals. The mode bit
//! differs in the two sweeps, but programs that read it aren't differentiated from outside. The module knows
//! no number system and no state.

use reviver_isa::instruction::Class;
use reviver_isa::update::Action;

use crate::{Flow, Step, StepLink};

impl Flow {
    /// Returns true if rounding may make the reverse sweep leave the forward path at this branch half,
    /// although both agreed so far. That is so if the half or its partner compares reals, or integers in a
    /// program that computes some from reals. If the sweeps diverge at all, the first divergence is at such a
    /// half.
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

/// Returns true if an operand from number `first` on is a real.
fn has_real(step: &Step, first: usize) -> bool {
    step.slots.iter().skip(first).any(|slot| slot.class == Class::Real)
}
