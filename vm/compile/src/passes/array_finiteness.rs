//! Finiteness-check sinking for arrays: drops checks of floats that loops accumulate in arrays. A cell that is infinite
//! or NaN stays so if each store computes the new content from the old one, as a sum does. The transformed code checks
//! such cells once at exits, instead of in each iteration. A failure at another place does no harm, because the
//! interpreter finds the exact trap. This pass handles no other checks.

use std::collections::HashSet;

use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use super::exit_liveness;
use super::ranges::{FunctionRanges, KnownRanges};
use super::simplification::finite_operands;
use crate::function::{Definition, Jump, SsaBlock, SsaEnd, SsaFunction};
use crate::op::{OpKind, Space, SsaValue};
use crate::order::{dominators, loop_depths};
use crate::range::IntRange;

/// Upper bound on cells re-checked at each function exit. Exits are frequent if interpreted steps separate compiled
/// regions.
const MOST_CELLS: i64 = 256;
/// Least loop depth at which checks are dropped. In shallower loops, stores to a cell are about as frequent as checks
/// of the cell at exits would be.
const LEAST_DEPTH: u32 = 2;
/// Upper bound on cells checked in one iteration of a checking loop.
const MOST_AT_ONCE: i64 = 8;
/// Upper bound on checking loops that are added at exits.
const MOST_CHECK_LOOPS: usize = 64;
/// Upper bound on stores to a region of cells that is analyzed.
const MOST_STORES: usize = 256;
/// Upper bound on the depth of operations that are analyzed to find whether a cell's new content depends on the old
/// one.
const MOST_DEPTH: u32 = 6;

/// Drops repeated checks of accumulated cells, and adds checks at exits.
pub(super) fn drop_repeated(function: &mut SsaFunction) {
    if matches!(function.numbers.system, RealSystem::Fixed(_))
        || !exit_liveness::terminates_for_all_floats(function)
    {
        return;
    }
    let depths = loop_depths(function, &dominators(function));
    let exits = exit_liveness::exits(function);
    let mut needless = HashSet::new();
    let mut kept = Vec::new();
    for cells in arrays(function) {
        let dropped = checks(function, &cells, &depths);
        let left = MOST_CELLS - kept.iter().map(AccumulatedCells::count).sum::<i64>();
        if !dropped.is_empty() && cells.count() <= left && (kept.len() + 1) * exits.len() <= MOST_CHECK_LOOPS
        {
            needless.extend(dropped);
            kept.push(cells);
        }
    }
    for block in &mut function.blocks {
        block.ops.retain(|value| !needless.contains(value));
    }
    for exit in exits {
        look(function, exit, &kept);
    }
}

/// Region of adjacent cells, with all stores that may change a cell of the region. These stores change no cell outside
/// of the region.
struct AccumulatedCells {
    space: Space,
    addresses: IntRange,
    /// For each store, its block, and its index among the block's operations.
    stores: Vec<(u32, usize)>,
}

impl AccumulatedCells {
    fn count(&self) -> i64 {
        self.addresses.high.saturating_sub(self.addresses.low).saturating_add(1)
    }
}

/// Returns the regions of real cells with computed store addresses. Cells that one store may change are in the same
/// region.
fn arrays(function: &SsaFunction) -> Vec<AccumulatedCells> {
    let mut all = Vec::new();
    for (number, block) in (0..).zip(&function.blocks) {
        for (place, &value) in block.ops.iter().enumerate() {
            let Some((space, address, _)) = store(function, value) else { continue };
            if matches!(space, Space::Reals | Space::Adjoints) {
                let addresses = FunctionRanges(function).range(address);
                all.push(AccumulatedCells { space, addresses, stores: vec![(number, place)] });
            }
        }
    }
    all.sort_by_key(|cells| (cells.space, cells.addresses.low));
    let mut joined: Vec<AccumulatedCells> = Vec::new();
    for cells in all {
        match joined.last_mut() {
            Some(last) if last.space == cells.space && !last.addresses.is_apart(cells.addresses) => {
                last.addresses = last.addresses.hull(cells.addresses);
                last.stores.extend(cells.stores);
            }
            _ => joined.push(cells),
        }
    }
    joined.retain(|cells| cells.addresses.low >= 0 && cells.addresses.high < function.cells.reals.into());
    joined
}

fn store(function: &SsaFunction, value: SsaValue) -> Option<(Space, SsaValue, SsaValue)> {
    let op = function.op(value)?;
    match (op.kind, op.operands.as_slice()) {
        (OpKind::Store(space), &[address, stored]) => Some((space, address, stored)),
        _ => None,
    }
}

/// Returns the checks in loops that become redundant if these cells are checked at exits.
fn checks(function: &SsaFunction, cells: &AccumulatedCells, depths: &[u32]) -> Vec<SsaValue> {
    let is_repeated = |number: u32| depths.get(number as usize).is_some_and(|depth| *depth >= LEAST_DEPTH);
    let depends_on_cell = |&(number, place): &(u32, usize)| {
        let ops = function.blocks.get(number as usize).map_or(&[][..], |block| &block.ops);
        StoredCell::at(function, ops, place)
            .is_some_and(|cell| cell.depends_on_cell(cell.stored, None, MOST_DEPTH))
    };
    let pays_off =
        cells.stores.len() <= MOST_STORES && cells.stores.iter().any(|(number, _)| is_repeated(*number));
    if !pays_off || !cells.stores.iter().all(depends_on_cell) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for &(number, place) in cells.stores.iter().filter(|(number, _)| is_repeated(*number)) {
        let Some(block) = function.blocks.get(number as usize) else { continue };
        let stored = block.ops.get(place).and_then(|&value| Some(store(function, value)?.2));
        found.extend(block.ops.iter().copied().filter(|&value| {
            let op = function.op(value).filter(|op| op.kind == OpKind::RequireAdmitted && op.guard.is_none());
            op.is_some_and(|op| op.operands.first().copied() == stored)
        }));
    }
    found
}

/// Memory cell at a store to it.
struct StoredCell<'f> {
    function: &'f SsaFunction,
    /// Operations of the store's block.
    ops: &'f [SsaValue],
    place: usize,
    space: Space,
    address: SsaValue,
    stored: SsaValue,
}

impl<'f> StoredCell<'f> {
    fn at(function: &'f SsaFunction, ops: &'f [SsaValue], place: usize) -> Option<StoredCell<'f>> {
        let (space, address, stored) = store(function, *ops.get(place)?)?;
        Some(StoredCell { function, ops, place, space, address, stored })
    }

    /// Returns true if the cell's content just before the store is finite whenever `value` is finite. `unaliased` is
    /// the index of an earlier store that might alias the cell, but is known not to.
    fn depends_on_cell(&self, value: SsaValue, unaliased: Option<usize>, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if self.is_stored_before(value, unaliased) {
            return true;
        }
        let Some(op) = self.function.op(value).filter(|op| op.guard.is_none()) else { return false };
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Load(space), &[address]) if space == self.space && address == self.address => {
                let loaded = self.ops.iter().position(|&op| op == value);
                loaded.is_some_and(|loaded| loaded < self.place && self.is_unchanged(loaded, unaliased))
            }
            (OpKind::Choose, &[condition, yes, no]) => match self.other_name(condition, yes) {
                Some(store) => unaliased.is_none() && self.depends_on_cell(no, Some(store), depth),
                None => {
                    self.depends_on_cell(yes, unaliased, depth) && self.depends_on_cell(no, unaliased, depth)
                }
            },
            _ => finite_operands(op).iter().any(|&operand| self.depends_on_cell(operand, unaliased, depth)),
        }
    }

    /// Returns true if no store from index `after` to this store changes the cell. The store `unaliased` is known not
    /// to change it.
    fn is_unchanged(&self, after: usize, unaliased: Option<usize>) -> bool {
        let range = FunctionRanges(self.function).range(self.address);
        let between = self.ops.iter().enumerate().take(self.place).skip(after + 1);
        between.filter(|(place, _)| Some(*place) != unaliased).all(|(_, &op)| {
            match store(self.function, op) {
                Some((space, address, _)) => {
                    space != self.space || range.is_apart(FunctionRanges(self.function).range(address))
                }
                None => true,
            }
        })
    }

    /// Returns true if a value was stored to the cell earlier in the block, and is still there.
    fn is_stored_before(&self, value: SsaValue, unaliased: Option<usize>) -> bool {
        let before = self.ops.iter().enumerate().take(self.place);
        let mut same =
            before.filter(|&(_, &op)| store(self.function, op) == Some((self.space, self.address, value)));
        same.next_back().is_some_and(|(place, _)| self.is_unchanged(place, unaliased))
    }

    /// Returns the index of an earlier store of `stored` to another address, if `condition` tests whether this address
    /// equals the cell's address.
    fn other_name(&self, condition: SsaValue, stored: SsaValue) -> Option<usize> {
        let test = self.function.op(condition).filter(|op| op.kind == OpKind::IntTest(Order::Eq))?;
        let other = match *test.operands.as_slice() {
            [a, b] if a == self.address => b,
            [a, b] if b == self.address => a,
            _ => return None,
        };
        let wanted = Some((self.space, other, stored));
        self.ops.iter().take(self.place).rposition(|&op| store(self.function, op) == wanted)
    }
}

/// Adds finiteness checks of cells before an exit.
fn look(function: &mut SsaFunction, exit: u32, all: &[AccumulatedCells]) {
    let Some(end) = function.blocks.get(exit as usize).map(|block| block.end.clone()) else { return };
    let mut then = end;
    for cells in all {
        let ops = passed(&then);
        let last = add_block(function, SsaBlock { parameters: vec![], ops, steps: 0, calls: 0, end: then });
        then = SsaEnd::Jump(add_check_loop(function, cells, last));
    }
    if let Some(block) = function.blocks.get_mut(exit as usize) {
        block.ops.extend(passed(&then));
        block.end = then;
    }
}

/// Returns the arguments of a terminator's jumps. They are literals: the start addresses of checking loops.
fn passed(end: &SsaEnd) -> Vec<SsaValue> {
    end.jumps().flat_map(|jump| jump.arguments.iter().copied()).collect()
}

/// Adds a loop that checks cells and then continues with a block. Returns the edge that enters the loop.
fn add_check_loop(function: &mut SsaFunction, cells: &AccumulatedCells, last: u32) -> Jump {
    let address = SsaValue(function.definitions.len() as u32);
    function.definitions.push(Definition::Parameter(Class::Int));
    let at_once = (1..=MOST_AT_ONCE).rev().find(|at_once| cells.count() % at_once == 0).unwrap_or(1);
    let mut ops = Vec::new();
    let mut op = |function: &mut SsaFunction, kind: OpKind, operands: &[SsaValue]| {
        let value = function.define(kind, operands);
        ops.push(value);
        value
    };
    let one = op(function, OpKind::Int(1), &[]);
    let mut next = address;
    for _ in 0..at_once {
        let loaded = op(function, OpKind::Load(cells.space), &[next]);
        op(function, OpKind::RequireAdmitted, &[loaded]);
        next = op(function, OpKind::Place, &[next, one, one]);
    }
    let most = op(function, OpKind::Int(cells.addresses.high), &[]);
    let continues = op(function, OpKind::IntTest(Order::Le), &[next, most]);
    let head = function.blocks.len() as u32;
    let end = SsaEnd::Branch {
        condition: continues,
        yes: Jump { to: head, arguments: vec![next] },
        no: Jump { to: last, arguments: vec![] },
    };
    add_block(function, SsaBlock { parameters: vec![address], ops, steps: 0, calls: 0, end });
    let first = function.define(OpKind::Int(cells.addresses.low), &[]);
    Jump { to: head, arguments: vec![first] }
}

fn add_block(function: &mut SsaFunction, block: SsaBlock) -> u32 {
    function.blocks.push(block);
    function.blocks.len() as u32 - 1
}
