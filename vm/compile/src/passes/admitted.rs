//! Checks of floats that a later one in the block makes needless: what is infinite or no number stays so in sums, differences
//! and products, and in quotients that it is divided in. Which check fails is all the same, because the interpreter finds
//! the place. Knows no other check.

use std::collections::HashSet;

use crate::form::SsaForm;
use crate::op::{OpKind, SsaValue};

/// Drops them.
pub(super) fn drop_implied(form: &mut SsaForm) {
    let mut blocks = std::mem::take(&mut form.blocks);
    for block in &mut blocks {
        let mut is_needless = HashSet::new();
        // Values that are finite where the block is passed.
        let mut finite: HashSet<SsaValue> = HashSet::new();
        for &value in block.ops.iter().rev() {
            let Some(op) = form.op(value).filter(|op| op.guard.is_none()) else { continue };
            match (op.kind, op.operands.as_slice()) {
                (OpKind::RequireAdmitted, &[real]) if !finite.insert(real) => {
                    is_needless.insert(value);
                }
                (OpKind::Add | OpKind::Sub | OpKind::Mul, operands) if finite.contains(&value) => {
                    finite.extend(operands);
                }
                (OpKind::Div, &[divided, _]) if finite.contains(&value) => {
                    finite.insert(divided);
                }
                _ => {}
            }
        }
        block.ops.retain(|value| !is_needless.contains(value));
    }
    form.blocks = blocks;
}
