//! Liveness at exits, and termination: finds the exits at which memory is read, and whether loops end for all values
//! of floats. This module knows no check.
//!
//! A check may be moved to a later place only if that place is reached. The step budget of a run ensures that. Code
//! that runs without a budget, such as C text, might loop forever on a NaN, unless no branch depends on reals.

use std::collections::BTreeSet;

use crate::form::{Observed, SsaEnd, SsaForm};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::order::reached;

/// Returns true if a budget ends loops that a NaN keeps going, or if there are no such loops.
pub(super) fn ends_whatever_floats_are(form: &SsaForm) -> bool {
    form.version.observed == Observed::Anywhere || !are_jumps_real(form)
}

/// Returns true if an integer depends on reals, other than as the condition of a select between reals or of a check.
fn are_jumps_real(form: &SsaForm) -> bool {
    let ops = || form.blocks.iter().flat_map(|block| &block.ops).filter_map(|&value| form.op(value));
    let is_real =
        |value: SsaValue| form.op(value).is_some_and(|op| matches!(op.kind, OpKind::Test(_) | OpKind::IntOf));
    let is_used = |op: &SsaOp| match (op.kind, op.operands.as_slice()) {
        (OpKind::RequireTrue, _) => false,
        (OpKind::Choose, &[_, yes, no]) => is_real(yes) || is_real(no),
        (_, operands) => operands.iter().any(|&operand| is_real(operand)),
    };
    let jumps = || form.blocks.iter().flat_map(|block| block.end.jumps());
    ops().any(is_used)
        || form.blocks.iter().filter_map(|block| block.end.value()).any(is_real)
        || jumps().flat_map(|jump| &jump.arguments).any(|&argument| is_real(argument))
}

/// Returns the exit blocks at which the caller reads cells.
pub(super) fn exits(form: &SsaForm) -> BTreeSet<u32> {
    let arrivals = form.arrivals();
    let is_anywhere = form.version.observed == Observed::Anywhere;
    let is_exit = |number: u32| {
        form.blocks.get(number as usize).is_some_and(|block| matches!(block.end, SsaEnd::Exit { .. }))
    };
    let exits = reached(form).into_iter().filter(|&number| is_exit(number));
    exits.filter(|number| is_anywhere || arrivals.contains(number)).collect()
}
