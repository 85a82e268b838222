//! Which jumps rounding can lead elsewhere. On the way back numbers may differ from what they were on the way there, by what floats
//! have lost; integers don't, as long as none is made of a real, nor of the mode, which differs on the two ways: programs that look at that
//! aren't differentiated from outside. Knows no number system, and no state.

use reviver_isa::instruction::Class;
use reviver_isa::update::Action;

use crate::{Flow, Step, StepLink};

impl Flow {
    /// Whether the way back through a branch half may be another than the way there, though both were the same so far: it or its
    /// partner compares reals, or integers in a program that makes some of reals. If there is such a difference at all, the first one is
    /// at one of these.
    pub fn may_stray(&self, half: u32) -> bool {
        let compares_reals = |at: u32| self.step(at).is_some_and(|step| has_real(step, 0));
        let partner = match self.step(half).map(|step| step.link) {
            Some(StepLink::Partner(partner)) => Some(partner),
            Some(StepLink::None | StepLink::Call(_)) | None => None,
        };
        self.ints_are_rounded || compares_reals(half) || partner.is_none_or(compares_reals)
    }
}

/// Whether some step makes integers of reals.
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

/// Whether an operand from this one on is a real.
fn has_real(step: &Step, first: usize) -> bool {
    step.slots.iter().skip(first).any(|slot| slot.class == Class::Real)
}
