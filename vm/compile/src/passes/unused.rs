//! Values that nothing needs, and blocks that nothing leads to. Knows no operation but whether its place counts.

use super::parameters::remove;
use crate::form::{Definition, SsaEnd, SsaForm};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::order::postorder;

/// Drops operations that do nothing but give a value which nothing needs, and parameters that nothing needs.
pub(super) fn drop_unused(form: &mut SsaForm) {
    let is_used = used(form);
    let is_needed = |value: SsaValue| is_used.get(value.0 as usize).copied().unwrap_or(false);
    let mut blocks = std::mem::take(&mut form.blocks);
    for block in &mut blocks {
        block.ops.retain(|&value| is_needed(value));
    }
    form.blocks = blocks;
    remove(form, |parameter| !is_needed(parameter));
}

/// Whether an operation is there for more than what it gives.
fn acts(form: &SsaForm, op: &SsaOp) -> bool {
    let is_load = matches!(op.kind, OpKind::Load(_));
    // An engine finds what a form is given by its place among these.
    let is_given = matches!(op.kind, OpKind::Input(_));
    is_given || op.kind.may_fail(form.numbers.system) || op.kind.facts().is_placed && !is_load
}

/// Which values something needs.
fn used(form: &SsaForm) -> Vec<bool> {
    let mut is_used = vec![false; form.definitions.len()];
    let mut open: Vec<SsaValue> = Vec::new();
    let order = postorder(form, |_| true);
    let reached = order.iter().position(|&block| block == 0).map_or(0, |end| end + 1);
    // By parameter what is passed for it.
    let mut passed: Vec<Vec<SsaValue>> = vec![Vec::new(); form.definitions.len()];
    for block in order.iter().take(reached).filter_map(|&block| form.blocks.get(block as usize)) {
        open.extend(
            block.ops.iter().copied().filter(|&value| form.op(value).is_some_and(|op| acts(form, op))),
        );
        if let SsaEnd::Branch { condition, .. } = block.end {
            open.push(condition);
        }
        for jump in block.end.jumps() {
            let parameters =
                form.blocks.get(jump.to as usize).into_iter().flat_map(|block| &block.parameters);
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
        match form.definition(value) {
            Some(Definition::Op(op)) => open.extend(op.operands.iter().copied().chain(op.guard)),
            Some(Definition::Parameter(_)) => open.extend(&passed[value.0 as usize]),
            None => {}
        }
    }
    is_used
}
