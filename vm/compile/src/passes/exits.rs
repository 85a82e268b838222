//! What is stored where a form is left, and is what was loaded where it began: nothing else reaches such a cell. Knows no
//! other store.

use std::collections::HashMap;

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
    let is_unchanged = |form: &SsaForm, value: SsaValue| {
        let Some(op) = form.op(value) else { return false };
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Store(space), [address, stored]) => loaded.get(&(space, *address)) == Some(stored),
            _ => false,
        }
    };
    let mut blocks = std::mem::take(&mut form.blocks);
    for block in &mut blocks {
        if matches!(block.end, SsaEnd::Exit { .. }) {
            block.ops.retain(|&value| !is_unchanged(form, value));
        }
    }
    form.blocks = blocks;
}
