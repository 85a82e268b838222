//! What needn't be in memory where a form is left, as nobody looks there. Knows no step.

use crate::form::{Observed, SsaEnd, SsaForm};
use crate::op::{OpKind, Space};

/// Drops what is stored where the form is left and nobody looks at. What open calls pass is stored all the same: a machine that
/// stands there must know its cells by it.
pub(super) fn forget_others(form: &mut SsaForm) {
    let observed = form.version.observed;
    if observed == Observed::Anywhere {
        return;
    }
    let stops = form.stops();
    let mut blocks = std::mem::take(&mut form.blocks);
    for (number, block) in (0..).zip(&mut blocks) {
        let SsaEnd::Exit { exit } = block.end else { continue };
        let is_full = form.exits.get(exit as usize).is_some_and(|exit| exit.is_full);
        let has_arrived = !is_full && !stops.contains(&number);
        block.ops.retain(|&value| match form.op(value).map(|op| op.kind) {
            Some(OpKind::Store(Space::Ints | Space::Reals)) => has_arrived && observed != Observed::Adjoints,
            Some(OpKind::Store(Space::Adjoints)) => has_arrived,
            _ => true,
        });
    }
    form.blocks = blocks;
}
