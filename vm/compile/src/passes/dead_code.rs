//! Dead code elimination: drops unused values and unreachable blocks. In unchecked code, the pass also drops the
//! finiteness check of an unused value, and the operations that compute the value, even if they may fail. For this
//! pass, operations differ only in whether they have an effect.

use std::collections::HashMap;

use super::trivial_phis::remove;
use crate::function::{Definition, SsaFunction};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::order::reached;

/// Drops operations without effect if their value is unused, and unused block parameters.
pub(super) fn eliminate(function: &mut SsaFunction) {
    let is_used = used(function);
    let is_needed = |value: SsaValue| is_used.get(value.0 as usize).copied().unwrap_or(false);
    let mut blocks = std::mem::take(&mut function.blocks);
    for block in &mut blocks {
        block.ops.retain(|&value| is_needed(value));
    }
    function.blocks = blocks;
    remove(function, |parameter| !is_needed(parameter));
}

/// Returns true if an operation has an effect apart from its value.
fn has_effect(function: &SsaFunction, op: &SsaOp) -> bool {
    let is_read = matches!(op.kind, OpKind::Load(_) | OpKind::Clock { .. });
    // Engines identify an input by its index among all inputs, so no input is dropped.
    let is_given = matches!(op.kind, OpKind::Input(_));
    // Index checks always stay, because passes may have dropped other checks that the index checks imply. Checks of
    // integers also stay. For example, index checks of a slice rely on the check that its length is at least 0.
    let is_looked_at = function.specialization.level.is_checked() || matches!(op.kind, OpKind::Index { .. });
    let is_asked = is_looked_at && op.kind.may_fail(function.numbers.system);
    is_given || is_asked || op.kind.facts().is_placed && !is_read && !is_for_its_value(function, op)
}

/// Returns true if an operation is a finiteness check that is needed only if its operand is used. Checked code needs
/// every check. Unchecked code always needs the checks of loaded values, because they also check the contents of
/// memory.
fn is_for_its_value(function: &SsaFunction, op: &SsaOp) -> bool {
    let is_loaded = |value: &SsaValue| matches!(function.op(*value).map(|op| op.kind), Some(OpKind::Load(_)));
    !function.specialization.level.is_checked()
        && op.kind == OpKind::RequireAdmitted
        && !op.operands.first().is_some_and(is_loaded)
}

/// Returns for each value whether it is used.
fn used(function: &SsaFunction) -> Vec<bool> {
    let mut is_used = vec![false; function.definitions.len()];
    let mut open: Vec<SsaValue> = Vec::new();
    // Checks that are needed only if their operand is used; the key is that operand.
    let mut checks: HashMap<SsaValue, Vec<SsaValue>> = HashMap::new();
    // Arguments of each block parameter.
    let mut passed: Vec<Vec<SsaValue>> = vec![Vec::new(); function.definitions.len()];
    for block in reached(function).into_iter().filter_map(|block| function.blocks.get(block as usize)) {
        for (value, op) in block.ops.iter().filter_map(|&value| Some((value, function.op(value)?))) {
            match op.operands.first() {
                _ if has_effect(function, op) => open.push(value),
                Some(&checked) if is_for_its_value(function, op) => {
                    checks.entry(checked).or_default().push(value)
                }
                _ => {}
            }
        }
        open.extend(block.end.value());
        for jump in block.end.jumps() {
            let parameters =
                function.blocks.get(jump.to as usize).into_iter().flat_map(|block| &block.parameters);
            for (&parameter, &argument) in parameters.zip(&jump.arguments) {
                if let Some(passed) = passed.get_mut(parameter.0 as usize) {
                    passed.push(argument);
                }
            }
        }
    }
    while let Some(value) = open.pop() {
        match is_used.get_mut(value.0 as usize) {
            Some(is_used @ false) => *is_used = true,
            _ => continue,
        }
        open.extend(checks.get(&value).into_iter().flatten());
        match function.definition(value) {
            Some(Definition::Op(op)) => open.extend(op.operands.iter().copied().chain(op.guard)),
            Some(Definition::Parameter(_)) => open.extend(&passed[value.0 as usize]),
            None => {}
        }
    }
    is_used
}
