//! Unchanged cells: drops a store at an exit if it stores the value that was loaded from the same cell at entry. The
//! entry or return of an out-of-line callee may also store a cell, so cells that are stored at such a place are
//! excluded. This pass handles no other stores.

use std::collections::{HashMap, HashSet};

use crate::function::{SsaEnd, SsaFunction};
use crate::op::{OpKind, Space, SsaValue};

/// Drops stores at exits that don't change their cell.
pub(super) fn drop_unchanged(function: &mut SsaFunction) {
    let mut loaded: HashMap<(Space, SsaValue), SsaValue> = HashMap::new();
    for &value in function.blocks.first().into_iter().flat_map(|block| &block.ops) {
        if let Some(op) = function.op(value)
            && let (OpKind::Load(space), [address]) = (op.kind, op.operands.as_slice())
        {
            loaded.insert((space, *address), value);
        }
    }
    let stored = |function: &SsaFunction, value: SsaValue| {
        let op = function.op(value)?;
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Store(space), &[address, stored]) => Some(((space, address), stored)),
            _ => None,
        }
    };
    let within = function.blocks.iter().filter(|block| !matches!(block.end, SsaEnd::Exit { .. }));
    let changed = within.flat_map(|block| &block.ops).filter_map(|&value| Some(stored(function, value)?.0));
    let changed: HashSet<(Space, SsaValue)> = changed.collect();
    let is_unchanged = |function: &SsaFunction, value: SsaValue| {
        stored(function, value)
            .is_some_and(|(cell, stored)| loaded.get(&cell) == Some(&stored) && !changed.contains(&cell))
    };
    let mut blocks = std::mem::take(&mut function.blocks);
    for block in &mut blocks {
        if matches!(block.end, SsaEnd::Exit { .. }) {
            block.ops.retain(|&value| !is_unchanged(function, value));
        }
    }
    function.blocks = blocks;
}
