//! CFG simplification: merges two blocks if the edge between them is the only edge out of the first block and the only
//! edge into the second. The pass treats all operations alike, except those that depend on the number of steps before
//! them.

use super::replacements::Replacements;
use crate::function::{Definition, SsaEnd, SsaFunction};
use crate::op::{OpKind, SsaOp};
use crate::order::postorder;

/// Merges each block into its only predecessor, if the block is the predecessor's only successor.
pub(super) fn merge_blocks(function: &mut SsaFunction) {
    let mut entries = vec![0_u32; function.blocks.len()];
    for jump in function.blocks.iter().flat_map(|block| block.end.jumps()) {
        if let Some(entries) = entries.get_mut(jump.to as usize) {
            *entries += 1;
        }
    }
    let mut replacements = Replacements::of(function);
    // Reverse postorder: each block comes before its successors, so operations are moved once.
    for block in postorder(function, |_| true).into_iter().rev() {
        while let Some(next) = joined(function, block, &entries) {
            join(function, block, next, &mut replacements);
        }
    }
    replacements.apply(function);
}

/// Returns the successor that can be merged into a block.
fn joined(function: &SsaFunction, block: u32, entries: &[u32]) -> Option<u32> {
    let SsaEnd::Jump(jump) = &function.blocks.get(block as usize)?.end else { return None };
    let next = function.blocks.get(jump.to as usize)?;
    // These operations need the step count of preceding blocks, and steps are counted at the end of a block.
    let asks = |value| {
        function.op(value).is_some_and(|op| matches!(op.kind, OpKind::Jumped | OpKind::Turned { .. }))
    };
    let is_only = entries.get(jump.to as usize) == Some(&1) && jump.to != block;
    (is_only && !next.ops.iter().copied().any(asks)).then_some(jump.to)
}

fn join(function: &mut SsaFunction, block: u32, next: u32, replacements: &mut Replacements) {
    let Some(next) = function.blocks.get_mut(next as usize) else { return };
    let (parameters, ops) = (std::mem::take(&mut next.parameters), std::mem::take(&mut next.ops));
    let (steps, calls) = (std::mem::take(&mut next.steps), std::mem::take(&mut next.calls));
    let end = std::mem::replace(&mut next.end, SsaEnd::Exit { exit: 0 });
    let before = function.blocks.get(block as usize).map_or(0, |block| block.steps);
    for &value in &ops {
        if let Some(Definition::Op(SsaOp { kind: OpKind::Clock { here }, .. })) =
            function.definitions.get_mut(value.0 as usize)
        {
            *here += before;
        }
    }
    let Some(block) = function.blocks.get_mut(block as usize) else { return };
    block.ops.extend(ops);
    block.steps += steps;
    block.calls += calls;
    if let SsaEnd::Jump(jump) = std::mem::replace(&mut block.end, end) {
        for (parameter, argument) in parameters.into_iter().zip(jump.arguments) {
            replacements.replace(parameter, argument);
        }
    }
}
