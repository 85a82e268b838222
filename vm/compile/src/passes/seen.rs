//! Where a form is left so that somebody sees what it has come to, and whether it comes to an end whatever floats are. Knows no check.
//!
//! A check may be left to a later place only if that place is come to. An interpreter's budget sees to that. Where somebody goes on whatever the
//! budget is, as C text does, a number that is none might keep a loop going, unless no jump depends on reals.

use std::collections::BTreeSet;

use crate::form::{Observed, SsaEnd, SsaForm};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::order::reached;

/// Whether somebody stops loops that numbers which are none would keep going, or there are no such loops.
pub(super) fn ends_whatever_floats_are(form: &SsaForm) -> bool {
    form.version.observed == Observed::Anywhere || !are_jumps_real(form)
}

/// Whether an integer is made of reals for more than a choice of reals or a check.
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

/// The blocks of the exits where somebody sees what cells hold.
pub(super) fn exits(form: &SsaForm) -> BTreeSet<u32> {
    let arrivals = form.arrivals();
    let is_anywhere = form.version.observed == Observed::Anywhere;
    let is_exit = |number: u32| {
        form.blocks.get(number as usize).is_some_and(|block| matches!(block.end, SsaEnd::Exit { .. }))
    };
    let exits = reached(form).into_iter().filter(|&number| is_exit(number));
    exits.filter(|number| is_anywhere || arrivals.contains(number)).collect()
}
