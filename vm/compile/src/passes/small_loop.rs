//! One-block loops: loops with a body of one block, one entering edge and one leaving edge. This module is independent
//! of operations.

use crate::function::{Jump, SsaBlock, SsaEnd, SsaFunction};
use crate::op::SsaValue;

/// Returns the predecessors of each block, once for each edge.
pub(super) fn entries(function: &SsaFunction) -> Vec<Vec<u32>> {
    let mut entries = vec![Vec::new(); function.blocks.len()];
    for (from, block) in (0..).zip(&function.blocks) {
        for jump in block.end.jumps() {
            if let Some(entries) = entries.get_mut(jump.to as usize) {
                entries.push(from);
            }
        }
    }
    entries
}

/// Loop with a body of one block.
pub(super) struct SmallLoop {
    /// Preheader: its only successor is the header.
    pub before: u32,
    /// Header, which ends in a safepoint.
    pub header: u32,
    /// Exit target of the header's safepoint.
    pub stop: u32,
    pub body: u32,
    /// Latch: the source of the back edge, which is a separate block or the body.
    pub latch: u32,
    /// Target of the loop's exit edge.
    pub exit: u32,
}

impl SmallLoop {
    pub fn at(function: &SsaFunction, entries: &[Vec<u32>], header: u32) -> Option<SmallLoop> {
        let end = |block: u32| function.blocks.get(block as usize).map(|block| &block.end);
        let only_from =
            |block: u32, from: u32| entries.get(block as usize).is_some_and(|edges| *edges == [from]);
        let SsaEnd::Safepoint {
            skipped: None, next: Jump { to: body, .. }, stop: Jump { to: stop, .. }, ..
        } = *end(header)?
        else {
            return None;
        };
        let SsaEnd::Branch { yes, no, .. } = end(body)? else { return None };
        let latch_of = |to: u32| match end(to) {
            _ if to == header => Some(body),
            Some(SsaEnd::Jump(jump)) if jump.to == header && only_from(to, body) => Some(to),
            _ => None,
        };
        let (latch, exit) = match (latch_of(yes.to), latch_of(no.to)) {
            (Some(latch), None) => (latch, no.to),
            (None, Some(latch)) => (latch, yes.to),
            _ => return None,
        };
        let before = match *entries.get(header as usize)?.as_slice() {
            [a, b] if a == latch && b != latch => b,
            [a, b] if b == latch && a != latch => a,
            _ => return None,
        };
        let goes_in = matches!(end(before)?, SsaEnd::Jump(_));
        let is_alone = only_from(body, header) && only_from(stop, header) && only_from(exit, body);
        let found = SmallLoop { before, header, stop, body, latch, exit };
        (goes_in && is_alone && body != header && exit != stop).then_some(found)
    }

    /// Iterates over the blocks of the loop in execution order.
    pub fn blocks(&self) -> impl Iterator<Item = u32> {
        [self.header, self.body].into_iter().chain((self.latch != self.body).then_some(self.latch))
    }

    /// Returns the operations of an iteration.
    pub fn ops(&self, function: &SsaFunction) -> Vec<SsaValue> {
        let blocks = self.blocks().filter_map(|block| function.blocks.get(block as usize));
        blocks.flat_map(|block| block.ops.iter().copied()).collect()
    }
}

/// Applies an edit to a block, if the block exists.
pub(super) fn edit(function: &mut SsaFunction, block: u32, edit: impl FnOnce(&mut SsaBlock)) {
    if let Some(block) = function.blocks.get_mut(block as usize) {
        edit(block);
    }
}
