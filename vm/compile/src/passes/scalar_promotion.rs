//! Scalar promotion: a memory cell that each iteration of a loop reads and may change, such as a sum, is kept in a
//! register. The cell is loaded before the loop. If the loop changes the cell, the cell is stored after the loop, and
//! at the exit of the loop's safepoint. The pass transforms only loops with a body of one block. This pass is
//! independent of arithmetic.
//!
//! The load before the loop is executed before any check in an iteration. So the cell's address must be valid even if
//! such a check would fail.

use super::ranges::{FunctionRanges, KnownRanges};
use super::replacements::Replacements;
use super::small_loop::{SmallLoop, edit, entries};
use crate::function::{Definition, SsaEnd, SsaFunction};
use crate::op::{OpKind, Space, SsaValue};
use crate::range::IntRange;

/// Promotes memory cells of one-block loops to block parameters.
pub(super) fn promote(function: &mut SsaFunction) {
    let entries = entries(function);
    let mut replacements = Replacements::of(function);
    for header in 0..function.blocks.len() as u32 {
        let Some(found) = SmallLoop::at(function, &entries, header) else { continue };
        for _ in 0..MOST_HELD {
            let Some(cell) = found.held(function, &mut replacements) else { break };
            found.promote(function, &cell, &mut replacements);
        }
    }
    replacements.apply(function);
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

/// Returns true if all addresses of a range belong to cells that exist throughout every run.
fn are_there(function: &SsaFunction, space: Space, addresses: IntRange) -> bool {
    let count = match space {
        Space::Ints | Space::StartInts => function.cells.ints,
        Space::Reals | Space::Adjoints | Space::StartReals => function.cells.reals,
        Space::References | Space::Results => return false,
    };
    addresses.low >= 0 && addresses.high < count.into()
}

impl SmallLoop {
    /// Returns a cell that can be promoted; cells that are changed are preferred.
    fn held(&self, function: &SsaFunction, replacements: &mut Replacements) -> Option<HeldCell> {
        let ops = self.ops(function);
        let body = function.blocks.get(self.body as usize)?;
        let mut cells = Vec::new();
        for &value in &body.ops {
            let Some(op) = function.op(value).filter(|op| op.guard.is_none()) else { continue };
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
            are_there(function, cell.space, FunctionRanges(function).range(cell.address))
                && self.can_hold(function, cell, &ops, replacements)
        })
    }

    /// Returns true if a cell can be promoted. Each iteration must read the cell, only the store `stored` may write it,
    /// no other access of the iteration may alias it, and its address must be loop-invariant.
    fn can_hold(
        &self,
        function: &SsaFunction,
        cell: &HeldCell,
        ops: &[SsaValue],
        replacements: &mut Replacements,
    ) -> bool {
        let parameters = self.blocks().filter_map(|block| function.blocks.get(block as usize));
        let is_made_here = ops.contains(&cell.address)
            || parameters.flat_map(|block| &block.parameters).any(|&parameter| parameter == cell.address);
        let range = FunctionRanges(function).range(cell.address);
        let mut is_read = false;
        let are_apart = ops.iter().all(|&value| {
            let Some(op) = function.op(value) else { return true };
            match (op.kind, op.operands.as_slice()) {
                (OpKind::Load(space), &[address]) if space == cell.space => {
                    let is_same = replacements.find(address) == cell.address;
                    is_read |= is_same;
                    is_same || cell.store.is_none() || range.is_apart(FunctionRanges(function).range(address))
                }
                (OpKind::Store(space), &[address, _]) if space == cell.space => {
                    Some(value) == cell.store || range.is_apart(FunctionRanges(function).range(address))
                }
                _ => true,
            }
        });
        !is_made_here && are_apart && is_read
    }

    fn promote(&self, function: &mut SsaFunction, cell: &HeldCell, replacements: &mut Replacements) {
        let loaded = function.define(OpKind::Load(cell.space), &[cell.address]);
        edit(function, self.before, |block| block.ops.push(loaded));
        let Some(stored) = cell.stored else {
            return self.replace_loads(function, cell, loaded, replacements);
        };
        let held = SsaValue(function.definitions.len() as u32);
        function.definitions.push(Definition::Parameter(cell.space.class()));
        let stored_at_stop = function.define(OpKind::Store(cell.space), &[cell.address, held]);
        let stored_behind = function.define(OpKind::Store(cell.space), &[cell.address, stored]);
        self.replace_loads(function, cell, held, replacements);
        let mut last = vec![stored_behind];
        if self.is_checked(function, stored) {
            last.insert(0, function.define(OpKind::RequireAdmitted, &[stored]));
        }
        edit(function, self.before, |block| pass(&mut block.end, self.header, loaded));
        edit(function, self.latch, |block| pass(&mut block.end, self.header, stored));
        edit(function, self.header, |block| block.parameters.push(held));
        edit(function, self.stop, |block| block.ops.insert(0, stored_at_stop));
        edit(function, self.exit, |block| drop(block.ops.splice(0..0, last.iter().copied())));
    }

    /// Removes an iteration's loads of the cell, and its store. The value from the previous iteration replaces a load
    /// before the store, and the stored value replaces a load after the store.
    fn replace_loads(
        &self,
        function: &mut SsaFunction,
        cell: &HeldCell,
        held: SsaValue,
        replacements: &mut Replacements,
    ) {
        let mut value_now = held;
        for block in self.blocks() {
            let ops = function.blocks.get_mut(block as usize).map(|block| std::mem::take(&mut block.ops));
            let mut kept = Vec::new();
            for value in ops.unwrap_or_default() {
                match function.op(value).map(|op| (op.kind, op.operands.as_slice())) {
                    _ if Some(value) == cell.store => value_now = cell.stored.unwrap_or(held),
                    Some((OpKind::Load(space), &[address]))
                        if space == cell.space && replacements.find(address) == cell.address =>
                    {
                        replacements.replace(value, value_now);
                    }
                    _ => kept.push(value),
                }
            }
            edit(function, block, |block| block.ops = kept);
        }
    }

    /// Returns true if each iteration checks a real unconditionally.
    fn is_checked(&self, function: &SsaFunction, real: SsaValue) -> bool {
        let ops =
            function.blocks.get(self.body as usize).map(|block| block.ops.as_slice()).unwrap_or_default();
        ops.iter().filter_map(|&value| function.op(value)).any(|op| {
            op.kind == OpKind::RequireAdmitted && op.guard.is_none() && op.operands.as_slice() == [real]
        })
    }
}

/// Adds an argument to all edges of a terminator that lead to a block.
fn pass(end: &mut SsaEnd, to: u32, value: SsaValue) {
    end.jumps_mut().filter(|jump| jump.to == to).for_each(|jump| jump.arguments.push(value));
}
