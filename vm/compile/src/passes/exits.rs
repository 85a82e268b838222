//! Unchanged cells: drops a store at an exit of the value that was loaded at entry. No other access reaches such a
//! cell, unless it is also stored where an out-of-line callee is entered or left. This pass knows no other store.

use std::collections::{HashMap, HashSet};

use crate::form::{SsaEnd, SsaForm};
use crate::op::{OpKind, Space, SsaValue};

/// Drops stores at exits that don't change their cell.
pub(super) fn drop_unchanged(form: &mut SsaForm) {
    let mut loaded: HashMap<(Space, SsaValue), SsaValue> = HashMap::new();
    for &value in form.blocks.first().into_iter().flat_map(|block| &block.ops) {
        if let Some(op) = form.op(value)
            && let (OpKind::Load(space), [address]) = (op.kind, op.operands.as_slice())
        {
            loaded.insert((space, *address), value);
        }
    }
    let stored = |form: &SsaForm, value: SsaValue| {
        let op = form.op(value)?;
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Store(space), &[address, stored]) => Some(((space, address), stored)),
            _ => None,
        }
    };
    let within = form.blocks.iter().filter(|block| !matches!(block.end, SsaEnd::Exit { .. }));
    let changed = within.flat_map(|block| &block.ops).filter_map(|&value| Some(stored(form, value)?.0));
    let changed: HashSet<(Space, SsaValue)> = changed.collect();
    let is_unchanged = |form: &SsaForm, value: SsaValue| {
        stored(form, value)
            .is_some_and(|(cell, stored)| loaded.get(&cell) == Some(&stored) && !changed.contains(&cell))
    };
    let mut blocks = std::mem::take(&mut form.blocks);
    for block in &mut blocks {
        if matches!(block.end, SsaEnd::Exit { .. }) {
            block.ops.retain(|&value| !is_unchanged(form, value));
        }
    }
    form.blocks = blocks;
}
