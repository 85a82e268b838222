//! A cell in memory that each round of a loop reads, and may change, such as a sum, is a value while the loop runs: it is loaded before the loop,
//! and stored where that ends or is left, if it was changed. Of loops only whose rounds are one block. Knows no arithmetic.
//!
//! What is loaded before the loop is loaded before the checks of its rounds. So the address must be one that there is whatever they find.

use super::ranges::{FormRanges, KnownRanges};
use super::replacing::Replacements;
use crate::form::{Definition, Jump, SsaBlock, SsaEnd, SsaForm};
use crate::op::{OpKind, Space, SsaValue};
use crate::range::IntRange;

/// Holds them.
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

/// More cells aren't held in one loop: the processor has few registers.
const MOST_HELD: u32 = 8;

/// By block the blocks that lead to it, once for each way.
fn entries(form: &SsaForm) -> Vec<Vec<u32>> {
    let mut entries = vec![Vec::new(); form.blocks.len()];
    for (from, block) in (0..).zip(&form.blocks) {
        for jump in block.end.jumps() {
            if let Some(entries) = entries.get_mut(jump.to as usize) {
                entries.push(from);
            }
        }
    }
    entries
}

/// A loop whose rounds are one block.
struct SmallLoop {
    /// Leads to the header from outside, and nowhere else.
    before: u32,
    /// A pause.
    header: u32,
    /// Where the pause leads to if the steps don't last.
    stop: u32,
    body: u32,
    /// What leads to the next round: a block of its own, or the body.
    latch: u32,
    /// Where the last round leads to.
    behind: u32,
}

/// A cell that is held.
struct HeldCell {
    space: Space,
    address: SsaValue,
    /// What each round stores there, if it does, and by which operation.
    stored: Option<SsaValue>,
    store: Option<SsaValue>,
}

/// Whether all addresses of a range are those of cells that there always are.
fn are_there(form: &SsaForm, space: Space, addresses: IntRange) -> bool {
    let count = match space {
        Space::Ints => form.cells.ints,
        Space::Reals | Space::Adjoints => form.cells.reals,
        Space::References => return false,
    };
    addresses.low >= 0 && addresses.high < count.into()
}

impl SmallLoop {
    fn at(form: &SsaForm, entries: &[Vec<u32>], header: u32) -> Option<SmallLoop> {
        let end = |block: u32| form.blocks.get(block as usize).map(|block| &block.end);
        let only_from =
            |block: u32, from: u32| entries.get(block as usize).is_some_and(|ways| *ways == [from]);
        let SsaEnd::Pause { skipped: None, next: Jump { to: body, .. }, stop: Jump { to: stop, .. }, .. } =
            *end(header)?
        else {
            return None;
        };
        let SsaEnd::Branch { yes, no, .. } = end(body)? else { return None };
        let latch_of = |to: u32| match end(to) {
            _ if to == header => Some(body),
            Some(SsaEnd::Go(jump)) if jump.to == header && only_from(to, body) => Some(to),
            _ => None,
        };
        let (latch, behind) = match (latch_of(yes.to), latch_of(no.to)) {
            (Some(latch), None) => (latch, no.to),
            (None, Some(latch)) => (latch, yes.to),
            _ => return None,
        };
        let before = match *entries.get(header as usize)?.as_slice() {
            [a, b] if a == latch && b != latch => b,
            [a, b] if b == latch && a != latch => a,
            _ => return None,
        };
        let goes_in = matches!(end(before)?, SsaEnd::Go(_));
        let is_alone = only_from(body, header) && only_from(stop, header) && only_from(behind, body);
        let found = SmallLoop { before, header, stop, body, latch, behind };
        (goes_in && is_alone && body != header && behind != stop).then_some(found)
    }

    /// Its blocks, in the order in which a round goes through them.
    fn blocks(&self) -> impl Iterator<Item = u32> {
        [self.header, self.body].into_iter().chain((self.latch != self.body).then_some(self.latch))
    }

    /// The operations of a round.
    fn ops(&self, form: &SsaForm) -> Vec<SsaValue> {
        let blocks = self.blocks().filter_map(|block| form.blocks.get(block as usize));
        blocks.flat_map(|block| block.ops.iter().copied()).collect()
    }

    /// A cell that can be held: one that is changed, or else one that is read only.
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

    /// Whether a cell is read, stored to by that store at most, and the only one of those that a round touches that may lie there; and whether
    /// it is the same one in each round.
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

    /// Takes the loads and the store of a round away: what is read before the store is what was passed, and else what is stored.
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

    /// Whether each round checks a real, whatever holds.
    fn is_checked(&self, form: &SsaForm, real: SsaValue) -> bool {
        let ops = form.blocks.get(self.body as usize).map(|block| block.ops.as_slice()).unwrap_or_default();
        ops.iter().filter_map(|&value| form.op(value)).any(|op| {
            op.kind == OpKind::RequireAdmitted && op.guard.is_none() && op.operands.as_slice() == [real]
        })
    }
}

fn edit(form: &mut SsaForm, block: u32, edit: impl FnOnce(&mut SsaBlock)) {
    if let Some(block) = form.blocks.get_mut(block as usize) {
        edit(block);
    }
}

/// Passes one more value to a block.
fn pass(end: &mut SsaEnd, to: u32, value: SsaValue) {
    end.jumps_mut().filter(|jump| jump.to == to).for_each(|jump| jump.arguments.push(value));
}
