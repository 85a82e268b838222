//! Dead store elimination: drops a store if a later store of the same block overwrites the cell before anything reads
//! it. Checks between both stores don't matter, because memory isn't read after a failed check. This pass is
//! independent of arithmetic.

use std::collections::HashMap;

use super::ranges::{FunctionRanges, KnownRanges};
use crate::function::SsaFunction;
use crate::op::{OpKind, Space, SsaValue};
use crate::range::IntRange;

/// Eliminates dead stores within each block.
pub(super) fn eliminate(function: &mut SsaFunction) {
    let mut blocks = std::mem::take(&mut function.blocks);
    for block in &mut blocks {
        let mut later = LaterStores::default();
        let mut kept: Vec<SsaValue> =
            block.ops.iter().rev().copied().filter(|&value| later.is_kept(function, value)).collect();
        kept.reverse();
        block.ops = kept;
    }
    function.blocks = blocks;
}

/// Upper bound on addresses that are remembered.
const MOST_STORES: usize = 64;

/// Cells that later code of the block stores to before any read, by address.
#[derive(Default)]
struct LaterStores(HashMap<(Space, SsaValue), IntRange>);

impl LaterStores {
    /// Transfers the state backward over an operation. Returns false if the operation is a dead store.
    fn is_kept(&mut self, function: &SsaFunction, value: SsaValue) -> bool {
        let Some(op) = function.op(value) else { return true };
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Store(space), &[address, _]) => {
                if self.0.contains_key(&(space, address)) {
                    return false;
                }
                if self.0.len() < MOST_STORES {
                    self.0.insert((space, address), FunctionRanges(function).range(address));
                }
                true
            }
            (OpKind::Load(space), &[address]) => {
                let range = FunctionRanges(function).range(address);
                self.0.retain(|&(stored, at), other| {
                    stored != space || at != address && range.is_apart(*other)
                });
                true
            }
            _ => true,
        }
    }
}
