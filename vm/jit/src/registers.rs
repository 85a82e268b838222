//! Choice of Cranelift's register allocator for an SSA function. The backtracking allocator takes more than quadratic
//! time for long blocks with many live values. The single-pass allocator takes time proportional to blocks × live
//! values. This module is independent of target machines.

use reviver_compile::function::{Definition, SsaFunction};
use reviver_compile::op::OpKind;

/// Upper bound on the number of operations of the longest block times the average number of live values, for the
/// backtracking allocator. Beyond this bound, the allocator takes more than about a second.
const MOST_CROWDED: u64 = 40_000;

/// Returns true if only the single-pass allocator is fast enough for the function.
pub fn needs_single_pass(function: &SsaFunction) -> bool {
    let longest = function.blocks.iter().map(|block| block.ops.len() as u64).max().unwrap_or(0);
    let live = total_live_range(function) / function.length().max(1) as u64;
    longest.saturating_mul(live) > MOST_CROWDED
}

/// Returns the sum of the lengths of all values' live ranges, in operations, with the blocks in their order of layout.
/// Literals don't count, because Cranelift rematerializes them.
fn total_live_range(function: &SsaFunction) -> u64 {
    let mut begun = vec![u64::MAX; function.definitions.len()];
    let mut ended = vec![0; function.definitions.len()];
    let mut at = 0;
    for block in &function.blocks {
        for value in &block.parameters {
            begun[value.0 as usize] = at;
        }
        for value in &block.ops {
            if let Some(op) = function.op(*value) {
                op.operands.iter().chain(&op.guard).for_each(|used| ended[used.0 as usize] = at);
            }
            begun[value.0 as usize] = at;
            at += 1;
        }
        let passed = block.end.jumps().flat_map(|jump| &jump.arguments).copied();
        passed.chain(block.end.value()).for_each(|used| ended[used.0 as usize] = at);
    }
    let is_literal = |definition: &Definition| matches!(definition, Definition::Op(op) if matches!(op.kind, OpKind::Int(_) | OpKind::Real(_)));
    let spans = begun.into_iter().zip(ended).zip(&function.definitions);
    spans
        .filter(|(_, definition)| !is_literal(definition))
        .map(|((begun, ended), _)| ended.saturating_sub(begun))
        .sum()
}
