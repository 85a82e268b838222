//! Scalar promotion: a memory cell that each iteration of a loop reads and may change, such as a sum, is kept in a
//! register. It is loaded before the loop, and stored where the loop ends or exits, if it was changed. Only loops with
//! a body of one block are transformed. This pass knows no arithmetic.
//!
//! The load before the loop precedes the checks of the iterations. So the address must be valid regardless of their
//! outcome.

use super::ranges::{FormRanges, KnownRanges};
use super::replacing::Replacements;
use super::small_loop::{SmallLoop, edit, entries};
use crate::form::{Definition, SsaEnd, SsaForm};
use crate::op::{OpKind, Space, SsaValue};
use crate::range::IntRange;

/// Promotes memory cells of one-block loops to block parameters.
pub(super) fn hold(form: &mut SsaForm) {
    let entries = entries(form);
    let mut replacements = Replacements::of(form);
    for header in 0..form.blocks.len() as u32 {
        let Some(found) = SmallLoop::at(form, &entries, header) else { continue };
        for _ in 0..MOST_HELD {
            let Some(cell) = found.held(form, &mut replacements) else { break };
            found.hold(form, &cell, &mut replacements);
        }
    }
    replacements.apply(form);
}

/// Upper bound on promoted cells of a loop, because the processor has few registers.
const MOST_HELD: u32 = 8;

/// Memory cell that is promoted.
struct HeldCell {
    space: Space,
    address: SsaValue,
    /// Value stored in each iteration, if there is a store.
    stored: Option<SsaValue>,
    store: Option<SsaValue>,
}

/// Returns true if all addresses of a range belong to cells that always exist.
fn are_there(form: &SsaForm, space: Space, addresses: IntRange) -> bool {
    let count = match space {
        Space::Ints | Space::StartInts => form.cells.ints,
        Space::Reals | Space::Adjoints | Space::StartReals => form.cells.reals,
        Space::References | Space::Results => return false,
    };
    addresses.low >= 0 && addresses.high < count.into()
}

impl SmallLoop {
    /// Returns a cell that can be promoted; cells that are changed are preferred.
    fn held(&self, form: &SsaForm, replacements: &mut Replacements) -> Option<HeldCell> {
        let ops = self.ops(form);
        let body = form.blocks.get(self.body as usize)?;
        let mut cells = Vec::new();
        for &value in &body.ops {
            let Some(op) = form.op(value).filter(|op| op.guard.is_none()) else { continue };
            match (op.kind, op.operands.as_slice()) {
                (OpKind::Store(space), &[address, stored]) => {
                    let address = replacements.find(address);
                    cells.push(HeldCell { space, address, stored: Some(stored), store: Some(value) });
                }
                (OpKind::Load(space), &[address]) => {
                    let address = replacements.find(address);
                    cells.push(HeldCell { space, address, stored: None, store: None });
                }
                _ => {}
            }
        }
        cells.sort_by_key(|cell| cell.store.is_none());
        cells.into_iter().find(|cell| {
            are_there(form, cell.space, FormRanges(form).range(cell.address))
                && self.can_hold(form, cell, &ops, replacements)
        })
    }

    /// Returns true if a cell is read, is stored only by its one store, aliases no other access of the iteration, and
    /// has a loop-invariant address.
    fn can_hold(
        &self,
        form: &SsaForm,
        cell: &HeldCell,
        ops: &[SsaValue],
        replacements: &mut Replacements,
    ) -> bool {
        let parameters = self.blocks().filter_map(|block| form.blocks.get(block as usize));
        let is_made_here = ops.contains(&cell.address)
            || parameters.flat_map(|block| &block.parameters).any(|&parameter| parameter == cell.address);
        let range = FormRanges(form).range(cell.address);
        let mut is_read = false;
        let are_apart = ops.iter().all(|&value| {
            let Some(op) = form.op(value) else { return true };
            match (op.kind, op.operands.as_slice()) {
                (OpKind::Load(space), &[address]) if space == cell.space => {
                    let is_same = replacements.find(address) == cell.address;
                    is_read |= is_same;
                    is_same || cell.store.is_none() || range.is_apart(FormRanges(form).range(address))
                }
                (OpKind::Store(space), &[address, _]) if space == cell.space => {
                    Some(value) == cell.store || range.is_apart(FormRanges(form).range(address))
                }
                _ => true,
            }
        });
        !is_made_here && are_apart && is_read
    }

    fn hold(&self, form: &mut SsaForm, cell: &HeldCell, replacements: &mut Replacements) {
        let loaded = form.define(OpKind::Load(cell.space), &[cell.address]);
        edit(form, self.before, |block| block.ops.push(loaded));
        let Some(stored) = cell.stored else { return self.replace_loads(form, cell, loaded, replacements) };
        let held = SsaValue(form.definitions.len() as u32);
        form.definitions.push(Definition::Parameter(cell.space.class()));
        let stored_at_stop = form.define(OpKind::Store(cell.space), &[cell.address, held]);
        let stored_behind = form.define(OpKind::Store(cell.space), &[cell.address, stored]);
        self.replace_loads(form, cell, held, replacements);
        let mut last = vec![stored_behind];
        if self.is_checked(form, stored) {
            last.insert(0, form.define(OpKind::RequireAdmitted, &[stored]));
        }
        edit(form, self.before, |block| pass(&mut block.end, self.header, loaded));
        edit(form, self.latch, |block| pass(&mut block.end, self.header, stored));
        edit(form, self.header, |block| block.parameters.push(held));
        edit(form, self.stop, |block| block.ops.insert(0, stored_at_stop));
        edit(form, self.behind, |block| drop(block.ops.splice(0..0, last.iter().copied())));
    }

    /// Removes the loads and the store of an iteration: a load before the store becomes the passed value, a later one
    /// the stored value.
    fn replace_loads(
        &self,
        form: &mut SsaForm,
        cell: &HeldCell,
        held: SsaValue,
        replacements: &mut Replacements,
    ) {
        let mut value_now = held;
        for block in self.blocks() {
            let ops = form.blocks.get_mut(block as usize).map(|block| std::mem::take(&mut block.ops));
            let mut kept = Vec::new();
            for value in ops.unwrap_or_default() {
                match form.op(value).map(|op| (op.kind, op.operands.as_slice())) {
                    _ if Some(value) == cell.store => value_now = cell.stored.unwrap_or(held),
                    Some((OpKind::Load(space), &[address]))
                        if space == cell.space && replacements.find(address) == cell.address =>
                    {
                        replacements.replace(value, value_now);
                    }
                    _ => kept.push(value),
                }
            }
            edit(form, block, |block| block.ops = kept);
        }
    }

    /// Returns true if each iteration checks a real unconditionally.
    fn is_checked(&self, form: &SsaForm, real: SsaValue) -> bool {
        let ops = form.blocks.get(self.body as usize).map(|block| block.ops.as_slice()).unwrap_or_default();
        ops.iter().filter_map(|&value| form.op(value)).any(|op| {
            op.kind == OpKind::RequireAdmitted && op.guard.is_none() && op.operands.as_slice() == [real]
        })
    }
}

/// Adds an argument to the edges to a block.
fn pass(end: &mut SsaEnd, to: u32, value: SsaValue) {
    end.jumps_mut().filter(|jump| jump.to == to).for_each(|jump| jump.arguments.push(value));
}
