//! Liveness at exits: drops stores to memory that the caller doesn't read after the exit. This module is independent of
//! machine steps.

use crate::function::{LiveAtExits, SsaEnd, SsaFunction};
use crate::op::{OpKind, Space};

/// Drops dead stores at exits. Stores of open calls' arguments stay, because the machine's call stack is rebuilt from
/// them.
pub(super) fn drop_dead_stores(function: &mut SsaFunction) {
    let live_at_exits = function.specialization.live_at_exits;
    if live_at_exits == LiveAtExits::All {
        return;
    }
    let arrivals = function.arrivals();
    let mut blocks = std::mem::take(&mut function.blocks);
    for (number, block) in (0..).zip(&mut blocks) {
        if !matches!(block.end, SsaEnd::Exit { .. }) {
            continue;
        }
        let has_arrived = arrivals.contains(&number);
        block.ops.retain(|&value| match function.op(value).map(|op| op.kind) {
            Some(OpKind::Store(Space::Ints | Space::Reals)) => {
                has_arrived && live_at_exits != LiveAtExits::AdjointsOnReturn
            }
            Some(OpKind::Store(Space::Adjoints)) => has_arrived,
            _ => true,
        });
    }
    function.blocks = blocks;
}
