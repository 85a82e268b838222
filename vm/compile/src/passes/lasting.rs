//! Finiteness-check sinking for arrays: drops checks of floats that loops accumulate in arrays. An infinite or NaN
//! cell stays so if everything stored to it is computed from its old content, as a sum is. Such cells are checked once
//! at exits, instead of in each iteration. Which check fails doesn't matter, because the interpreter finds the exact
//! trap. This pass knows no other check.

use std::collections::HashSet;

use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use super::facts::finite_operands;
use super::ranges::{FormRanges, KnownRanges};
use super::seen;
use crate::form::{Definition, Jump, SsaBlock, SsaEnd, SsaForm};
use crate::op::{OpKind, Space, SsaValue};
use crate::order::{dominators, loop_depths};
use crate::range::IntRange;

/// Upper bound on cells re-checked at each function exit; exits are frequent when interpreted steps separate compiled
/// regions.
const MOST_CELLS: i64 = 256;
/// Least loop depth: in shallower loops a cell is stored to about as often as it would be checked at exits.
const LEAST_DEPTH: u32 = 2;
/// Upper bound on cells checked in one iteration of a checking loop.
const MOST_AT_ONCE: i64 = 8;
/// Upper bound on checking loops that are added at exits.
const MOST_LOOKS: usize = 64;
/// Upper bound on stores to a region of cells that is analyzed.
const MOST_STORES: usize = 256;
/// Upper bound on the depth of operations that are analyzed to see that a cell's new content depends on its old one.
const MOST_DEPTH: u32 = 6;

/// Drops repeated checks of accumulated cells, and adds checks at exits.
pub(super) fn drop_repeated(form: &mut SsaForm) {
    if matches!(form.numbers.system, RealSystem::Fixed(_)) || !seen::ends_whatever_floats_are(form) {
        return;
    }
    let depths = loop_depths(form, &dominators(form));
    let exits = seen::exits(form);
    let mut needless = HashSet::new();
    let mut kept = Vec::new();
    for cells in arrays(form) {
        let dropped = checks(form, &cells, &depths);
        let left = MOST_CELLS - kept.iter().map(LastingCells::count).sum::<i64>();
        if !dropped.is_empty() && cells.count() <= left && (kept.len() + 1) * exits.len() <= MOST_LOOKS {
            needless.extend(dropped);
            kept.push(cells);
        }
    }
    for block in &mut form.blocks {
        block.ops.retain(|value| !needless.contains(value));
    }
    for exit in exits {
        look(form, exit, &kept);
    }
}

/// Region of adjacent cells, with all stores that may change one of them; these stores change no other cell.
struct LastingCells {
    space: Space,
    addresses: IntRange,
    /// Stores by block, and index in the block.
    stores: Vec<(u32, usize)>,
}

impl LastingCells {
    fn count(&self) -> i64 {
        self.addresses.high.saturating_sub(self.addresses.low).saturating_add(1)
    }
}

/// Returns the regions of real cells with computed store addresses. Cells that one store may change are in the same
/// region.
fn arrays(form: &SsaForm) -> Vec<LastingCells> {
    let mut all = Vec::new();
    for (number, block) in (0..).zip(&form.blocks) {
        for (place, &value) in block.ops.iter().enumerate() {
            let Some((space, address, _)) = store(form, value) else { continue };
            if matches!(space, Space::Reals | Space::Adjoints) {
                let addresses = FormRanges(form).range(address);
                all.push(LastingCells { space, addresses, stores: vec![(number, place)] });
            }
        }
    }
    all.sort_by_key(|cells| (cells.space, cells.addresses.low));
    let mut joined: Vec<LastingCells> = Vec::new();
    for cells in all {
        match joined.last_mut() {
            Some(last) if last.space == cells.space && !last.addresses.is_apart(cells.addresses) => {
                last.addresses = last.addresses.hull(cells.addresses);
                last.stores.extend(cells.stores);
            }
            _ => joined.push(cells),
        }
    }
    joined.retain(|cells| cells.addresses.low >= 0 && cells.addresses.high < form.cells.reals.into());
    joined
}

fn store(form: &SsaForm, value: SsaValue) -> Option<(Space, SsaValue, SsaValue)> {
    let op = form.op(value)?;
    match (op.kind, op.operands.as_slice()) {
        (OpKind::Store(space), &[address, stored]) => Some((space, address, stored)),
        _ => None,
    }
}

/// Returns the checks in loops that become redundant if these cells are checked at exits.
fn checks(form: &SsaForm, cells: &LastingCells, depths: &[u32]) -> Vec<SsaValue> {
    let is_repeated = |number: u32| depths.get(number as usize).is_some_and(|depth| *depth >= LEAST_DEPTH);
    let lasts = |&(number, place): &(u32, usize)| {
        let ops = form.blocks.get(number as usize).map_or(&[][..], |block| &block.ops);
        StoredCell::at(form, ops, place).is_some_and(|cell| cell.lasts(cell.stored, None, MOST_DEPTH))
    };
    let is_worth_it =
        cells.stores.len() <= MOST_STORES && cells.stores.iter().any(|(number, _)| is_repeated(*number));
    if !is_worth_it || !cells.stores.iter().all(lasts) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for &(number, place) in cells.stores.iter().filter(|(number, _)| is_repeated(*number)) {
        let Some(block) = form.blocks.get(number as usize) else { continue };
        let stored = block.ops.get(place).and_then(|&value| Some(store(form, value)?.2));
        found.extend(block.ops.iter().copied().filter(|&value| {
            let op = form.op(value).filter(|op| op.kind == OpKind::RequireAdmitted && op.guard.is_none());
            op.is_some_and(|op| op.operands.first().copied() == stored)
        }));
    }
    found
}

/// Memory cell at a store to it.
struct StoredCell<'f> {
    form: &'f SsaForm,
    /// Operations of the store's block.
    ops: &'f [SsaValue],
    place: usize,
    space: Space,
    address: SsaValue,
    stored: SsaValue,
}

impl<'f> StoredCell<'f> {
    fn at(form: &'f SsaForm, ops: &'f [SsaValue], place: usize) -> Option<StoredCell<'f>> {
        let (space, address, stored) = store(form, *ops.get(place)?)?;
        Some(StoredCell { form, ops, place, space, address, stored })
    }

    /// Returns true if a value is finite only if the cell's content just before the store is. `told` is the index of
    /// an earlier store that might alias the cell, but is known not to.
    fn lasts(&self, value: SsaValue, told: Option<usize>, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if self.is_stored_before(value, told) {
            return true;
        }
        let Some(op) = self.form.op(value).filter(|op| op.guard.is_none()) else { return false };
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Load(space), &[address]) if space == self.space && address == self.address => {
                let loaded = self.ops.iter().position(|&op| op == value);
                loaded.is_some_and(|loaded| loaded < self.place && self.is_unchanged(loaded, told))
            }
            (OpKind::Choose, &[condition, yes, no]) => match self.other_name(condition, yes) {
                Some(store) => told.is_none() && self.lasts(no, Some(store), depth),
                None => self.lasts(yes, told, depth) && self.lasts(no, told, depth),
            },
            _ => finite_operands(op).iter().any(|&operand| self.lasts(operand, told, depth)),
        }
    }

    /// Returns true if no store between a place and this store changes the cell, except for the store `told`.
    fn is_unchanged(&self, behind: usize, told: Option<usize>) -> bool {
        let range = FormRanges(self.form).range(self.address);
        let between = self.ops.iter().enumerate().take(self.place).skip(behind + 1);
        between.filter(|(place, _)| Some(*place) != told).all(|(_, &op)| match store(self.form, op) {
            Some((space, address, _)) => {
                space != self.space || range.is_apart(FormRanges(self.form).range(address))
            }
            None => true,
        })
    }

    /// Returns true if a value was stored to the cell earlier in the block, and is still there.
    fn is_stored_before(&self, value: SsaValue, told: Option<usize>) -> bool {
        let before = self.ops.iter().enumerate().take(self.place);
        let mut same =
            before.filter(|&(_, &op)| store(self.form, op) == Some((self.space, self.address, value)));
        same.next_back().is_some_and(|(place, _)| self.is_unchanged(place, told))
    }

    /// Returns the index of an earlier store of a value through another address, if a condition says that it is the
    /// same cell.
    fn other_name(&self, condition: SsaValue, stored: SsaValue) -> Option<usize> {
        let test = self.form.op(condition).filter(|op| op.kind == OpKind::IntTest(Order::Eq))?;
        let other = match *test.operands.as_slice() {
            [a, b] if a == self.address => b,
            [a, b] if b == self.address => a,
            _ => return None,
        };
        let wanted = Some((self.space, other, stored));
        self.ops.iter().take(self.place).rposition(|&op| store(self.form, op) == wanted)
    }
}

/// Adds checks of cells before an exit.
fn look(form: &mut SsaForm, exit: u32, all: &[LastingCells]) {
    let Some(end) = form.blocks.get(exit as usize).map(|block| block.end.clone()) else { return };
    let mut then = end;
    for cells in all {
        let ops = passed(&then);
        let last = add_block(form, SsaBlock { parameters: vec![], ops, steps: 0, calls: 0, end: then });
        then = SsaEnd::Go(look_at(form, cells, last));
    }
    if let Some(block) = form.blocks.get_mut(exit as usize) {
        block.ops.extend(passed(&then));
        block.end = then;
    }
}

/// Returns the literal arguments of a terminator: the start address of a checking loop.
fn passed(end: &SsaEnd) -> Vec<SsaValue> {
    end.jumps().flat_map(|jump| jump.arguments.iter().copied()).collect()
}

/// Adds a loop that checks cells and then continues with a block. Returns the edge that enters the loop.
fn look_at(form: &mut SsaForm, cells: &LastingCells, last: u32) -> Jump {
    let address = SsaValue(form.definitions.len() as u32);
    form.definitions.push(Definition::Parameter(Class::Int));
    let at_once = (1..=MOST_AT_ONCE).rev().find(|at_once| cells.count() % at_once == 0).unwrap_or(1);
    let mut ops = Vec::new();
    let mut op = |form: &mut SsaForm, kind: OpKind, operands: &[SsaValue]| {
        let value = form.define(kind, operands);
        ops.push(value);
        value
    };
    let one = op(form, OpKind::Int(1), &[]);
    let mut next = address;
    for _ in 0..at_once {
        let loaded = op(form, OpKind::Load(cells.space), &[next]);
        op(form, OpKind::RequireAdmitted, &[loaded]);
        next = op(form, OpKind::Place, &[next, one, one]);
    }
    let most = op(form, OpKind::Int(cells.addresses.high), &[]);
    let goes_on = op(form, OpKind::IntTest(Order::Le), &[next, most]);
    let head = form.blocks.len() as u32;
    let end = SsaEnd::Branch {
        condition: goes_on,
        yes: Jump { to: head, arguments: vec![next] },
        no: Jump { to: last, arguments: vec![] },
    };
    add_block(form, SsaBlock { parameters: vec![address], ops, steps: 0, calls: 0, end });
    let first = form.define(OpKind::Int(cells.addresses.low), &[]);
    Jump { to: head, arguments: vec![first] }
}

fn add_block(form: &mut SsaForm, block: SsaBlock) -> u32 {
    form.blocks.push(block);
    form.blocks.len() as u32 - 1
}
