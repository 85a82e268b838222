//! What is stored where a form is left, and is what was loaded where it began: nothing else reaches such a cell, if it isn't stored
//! elsewhere, where a function is entered or left. Knows no other store.

use std::collections::{HashMap, HashSet};

use crate::form::{SsaEnd, SsaForm};
use crate::op::{OpKind, Space, SsaValue};

/// Drops the stores of exits that change nothing.
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
