//! Liveness at exits: drops stores of memory that the caller doesn't read. This module knows no step.

use crate::form::{Observed, SsaEnd, SsaForm};
use crate::op::{OpKind, Space};

/// Drops dead stores at exits. Stores of open calls' arguments stay, because a machine at that exit finds its cells by
/// them.
pub(super) fn forget_others(form: &mut SsaForm) {
    let observed = form.version.observed;
    if observed == Observed::Anywhere {
        return;
    }
    let arrivals = form.arrivals();
    let mut blocks = std::mem::take(&mut form.blocks);
    for (number, block) in (0..).zip(&mut blocks) {
        if !matches!(block.end, SsaEnd::Exit { .. }) {
            continue;
        }
        let has_arrived = arrivals.contains(&number);
        block.ops.retain(|&value| match form.op(value).map(|op| op.kind) {
            Some(OpKind::Store(Space::Ints | Space::Reals)) => has_arrived && observed != Observed::Adjoints,
            Some(OpKind::Store(Space::Adjoints)) => has_arrived,
            _ => true,
        });
    }
    form.blocks = blocks;
}
