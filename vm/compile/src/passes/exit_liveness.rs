//! Liveness at exits, and termination: finds the exits at which the caller reads memory, and determines whether loops
//! end for all values of floats, including NaN. This module is independent of checks.
//!
//! A check may be moved to a later place only if every run reaches that place. The step budget of a run ensures this.
//! Code that runs without a budget, such as C text, might loop forever on a NaN, unless no branch depends on reals.

use std::collections::BTreeSet;

use crate::function::{LiveAtExits, SsaEnd, SsaFunction};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::order::reached;

/// Returns true if a NaN can't keep a loop going: the step budget ends the loop, or no branch depends on reals.
pub(super) fn terminates_for_all_floats(function: &SsaFunction) -> bool {
    function.specialization.live_at_exits == LiveAtExits::All || !are_jumps_real(function)
}

/// Returns true if an integer or a jump may depend on reals. A comparison whose result only selects between reals, or
/// is only checked, doesn't count.
fn are_jumps_real(function: &SsaFunction) -> bool {
    let ops = || function.blocks.iter().flat_map(|block| &block.ops).filter_map(|&value| function.op(value));
    let is_real = |value: SsaValue| {
        function.op(value).is_some_and(|op| matches!(op.kind, OpKind::Test(_) | OpKind::IntOf))
    };
    let is_used = |op: &SsaOp| match (op.kind, op.operands.as_slice()) {
        (OpKind::RequireTrue, _) => false,
        (OpKind::Choose, &[_, yes, no]) => is_real(yes) || is_real(no),
        (_, operands) => operands.iter().any(|&operand| is_real(operand)),
    };
    let jumps = || function.blocks.iter().flat_map(|block| block.end.jumps());
    ops().any(is_used)
        || function.blocks.iter().filter_map(|block| block.end.value()).any(is_real)
        || jumps().flat_map(|jump| &jump.arguments).any(|&argument| is_real(argument))
}

/// Returns the exit blocks at which the caller reads cells.
pub(super) fn exits(function: &SsaFunction) -> BTreeSet<u32> {
    let arrivals = function.arrivals();
    let is_anywhere = function.specialization.live_at_exits == LiveAtExits::All;
    let is_exit = |number: u32| {
        function.blocks.get(number as usize).is_some_and(|block| matches!(block.end, SsaEnd::Exit { .. }))
    };
    let exits = reached(function).into_iter().filter(|&number| is_exit(number));
    exits.filter(|number| is_anywhere || arrivals.contains(number)).collect()
}
