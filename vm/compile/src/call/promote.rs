//! Scalar promotion in one sweep of a gradient: memory cells that only literal addresses reach become SSA values. Like
//! the cells of variables, promoted cells are loaded at the beginning of the sweep, and stored at its end. An array is
//! promoted if all loops over it were unrolled.
//!
//! R. Cytron et al., "Efficiently computing static single assignment form and the control dependence graph" (1991). A
//! block gets a parameter for a cell if several edges lead to the block and the cell is live in it.

use std::collections::HashMap;

use super::memory::{SpacedCell, literal_address};
use crate::function::{Definition, SsaFunction};
use crate::op::{OpKind, SsaValue};
use crate::order::reached;
use crate::passes::replacements::Replacements;

/// Upper bound on promoted cells of a call function: the number of bits of a [`CellSet`].
pub(super) const MOST_PROMOTED: usize = 64;

/// Set of promoted cells: bit n is the cell of number n.
type CellSet = u64;

/// Promotes the first [`MOST_PROMOTED`] of the given cells. The caller ensures that no computed address of the sweep
/// reaches these cells.
pub(super) fn promote(function: &mut SsaFunction, cells: &[SpacedCell]) {
    let cells = &cells[..cells.len().min(MOST_PROMOTED)];
    if cells.is_empty() {
        return;
    }
    let promotion = Promotion { cells, accesses: accesses(function, cells) };
    let order: Vec<u32> = reached(function).into_iter().rev().collect();
    let is_live = promotion.live(function, &order);
    promotion.rewrite(function, &order, &is_live);
}

/// An access to a promoted cell: the cell's number, and the stored value.
#[derive(Clone, Copy)]
struct CellAccess {
    cell: usize,
    stored: Option<SsaValue>,
}

struct Promotion<'c> {
    cells: &'c [SpacedCell],
    accesses: HashMap<SsaValue, CellAccess>,
}

/// Finds the accesses to cells.
fn accesses(function: &SsaFunction, cells: &[SpacedCell]) -> HashMap<SsaValue, CellAccess> {
    let numbers: HashMap<SpacedCell, usize> = cells.iter().copied().zip(0..).collect();
    let all = function.blocks.iter().flat_map(|block| block.ops.iter().copied());
    let access = |value: SsaValue| {
        let op = function.op(value)?;
        let (OpKind::Load(space) | OpKind::Store(space)) = op.kind else { return None };
        let &cell = numbers.get(&(space, literal_address(function, op)?))?;
        Some((value, CellAccess { cell, stored: op.operands.get(1).copied() }))
    };
    all.filter_map(access).collect()
}

impl Promotion<'_> {
    /// Returns the cells that the sweep stores.
    fn changed(&self) -> CellSet {
        let stores = self.accesses.values().filter(|access| access.stored.is_some());
        stores.fold(0, |all, access| all | 1 << access.cell)
    }

    /// Returns the cells whose contents are needed at the beginning of each block. `order` has the reached blocks in
    /// reverse postorder.
    fn live(&self, function: &SsaFunction, order: &[u32]) -> Vec<CellSet> {
        let (arrivals, changed) = (function.arrivals(), self.changed());
        let mut live: Vec<CellSet> = vec![0; function.blocks.len()];
        let mut has_changed = true;
        while std::mem::replace(&mut has_changed, false) {
            for &number in order.iter().rev() {
                let Some(block) = function.blocks.get(number as usize) else { continue };
                let successors = block.end.jumps().map(|jump| live[jump.to as usize]);
                let at_end = if arrivals.contains(&number) { changed } else { 0 };
                let mut now = successors.fold(at_end, |all, live| all | live);
                for access in block.ops.iter().rev().filter_map(|value| self.accesses.get(value)) {
                    match access.stored {
                        Some(_) => now &= !(1 << access.cell),
                        None => now |= 1 << access.cell,
                    }
                }
                has_changed |= std::mem::replace(&mut live[number as usize], now) != now;
            }
        }
        live
    }

    /// Replaces loads by SSA values, drops stores, and adds block parameters to blocks with several incoming edges.
    fn rewrite(&self, function: &mut SsaFunction, order: &[u32], is_live: &[CellSet]) {
        let mut edges = vec![0_u32; function.blocks.len()];
        for &number in order {
            function.blocks[number as usize].end.jumps().for_each(|jump| edges[jump.to as usize] += 1);
        }
        let (arrivals, changed) = (function.arrivals(), self.changed());
        let mut replacements = Replacements::of(function);
        let mut ends: Vec<HashMap<usize, SsaValue>> = vec![HashMap::new(); function.blocks.len()];
        let numbers = |set: CellSet| (0..self.cells.len()).filter(move |cell| set >> cell & 1 == 1);
        for &number in order {
            let live = is_live[number as usize];
            let mut held = std::mem::take(&mut ends[number as usize]);
            let ops = std::mem::take(&mut function.blocks[number as usize].ops);
            let mut kept = Vec::with_capacity(ops.len());
            if number == 0 {
                for cell in numbers(live) {
                    let (space, address) = self.cells[cell];
                    let address = function.define(OpKind::Int(address.into()), &[]);
                    let loaded = function.define(OpKind::Load(space), &[address]);
                    kept.extend([address, loaded]);
                    held.insert(cell, loaded);
                }
            } else if edges[number as usize] > 1 {
                held.clear();
                for cell in numbers(live) {
                    let parameter = SsaValue(function.definitions.len() as u32);
                    function.definitions.push(Definition::Parameter(self.cells[cell].0.class()));
                    function.blocks[number as usize].parameters.push(parameter);
                    held.insert(cell, parameter);
                }
            }
            for value in ops {
                match self.accesses.get(&value) {
                    Some(&CellAccess { cell, stored: Some(stored) }) => _ = held.insert(cell, stored),
                    Some(&CellAccess { cell, stored: None }) => {
                        held.get(&cell).into_iter().for_each(|&now| replacements.replace(value, now));
                    }
                    None => kept.push(value),
                }
            }
            if arrivals.contains(&number) {
                for cell in numbers(changed) {
                    let (space, address) = self.cells[cell];
                    let address = function.define(OpKind::Int(address.into()), &[]);
                    let Some(&now) = held.get(&cell) else { continue };
                    let store = function.define(OpKind::Store(space), &[address, now]);
                    kept.extend([address, store]);
                }
            }
            function.blocks[number as usize].ops = kept;
            let mut end = function.blocks[number as usize].end.clone();
            for jump in end.jumps_mut() {
                if edges[jump.to as usize] > 1 {
                    let passed = numbers(is_live[jump.to as usize]).filter_map(|cell| held.get(&cell));
                    jump.arguments.extend(passed);
                } else {
                    ends[jump.to as usize].clone_from(&held);
                }
            }
            function.blocks[number as usize].end = end;
        }
        replacements.apply(function);
    }
}
