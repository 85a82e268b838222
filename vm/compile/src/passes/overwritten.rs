//! Dead store elimination: drops a store that a later store of the same block overwrites before a read. A block ends
//! only at its terminator, or at a failed check, after which memory isn't read. This pass knows no arithmetic.

use std::collections::HashMap;

use super::ranges::{FormRanges, KnownRanges};
use crate::form::SsaForm;
use crate::op::{OpKind, Space, SsaValue};
use crate::range::IntRange;

/// Eliminates dead stores within each block.
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

/// Upper bound on addresses that are remembered.
const MOST_STORES: usize = 64;

/// Cells that later code of the block stores to before any read, by address.
#[derive(Default)]
struct LaterStores(HashMap<(Space, SsaValue), IntRange>);

impl LaterStores {
    /// Transfers the state backward over an operation. Returns false if the operation is a dead store.
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
