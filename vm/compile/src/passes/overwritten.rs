//! Stores of what nobody reads before another store in the same block puts something else in its place. A block is left at its end only,
//! or by a check that fails, and then nobody asks what cells hold. Knows no arithmetic.

use std::collections::HashMap;

use super::ranges::{FormRanges, KnownRanges};
use crate::form::SsaForm;
use crate::op::{OpKind, Space, SsaValue};
use crate::range::IntRange;

/// Drops them.
pub(super) fn drop_overwritten(form: &mut SsaForm) {
    let mut blocks = std::mem::take(&mut form.blocks);
    for block in &mut blocks {
        let mut later = LaterStores::default();
        let mut kept: Vec<SsaValue> =
            block.ops.iter().rev().copied().filter(|&value| later.is_kept(form, value)).collect();
        kept.reverse();
        block.ops = kept;
    }
    form.blocks = blocks;
}

/// More of them aren't remembered.
const MOST_STORES: usize = 64;

/// The cells that are stored to further on, before they are read, by their addresses.
#[derive(Default)]
struct LaterStores(HashMap<(Space, SsaValue), IntRange>);

impl LaterStores {
    /// Looks at the operation in front of those that it knows; whether it is still needed.
    fn is_kept(&mut self, form: &SsaForm, value: SsaValue) -> bool {
        let Some(op) = form.op(value) else { return true };
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Store(space), &[address, _]) => {
                if self.0.contains_key(&(space, address)) {
                    return false;
                }
                if self.0.len() < MOST_STORES {
                    self.0.insert((space, address), FormRanges(form).range(address));
                }
                true
            }
            (OpKind::Load(space), &[address]) => {
                let range = FormRanges(form).range(address);
                self.0.retain(|&(stored, at), other| {
                    stored != space || at != address && range.is_apart(*other)
                });
                true
            }
            _ => true,
        }
    }
}
