//! Store-to-load forwarding and redundant store elimination: replaces a load from a cell with known content by that
//! content, and drops a store of the value that the cell already holds. Facts from one block are used in the next block
//! only if it has a single predecessor. This pass is independent of arithmetic.

use std::collections::HashMap;

use super::ranges::{FunctionRanges, KnownRanges};
use super::replacements::Replacements;
use crate::function::{SsaEnd, SsaFunction};
use crate::op::{OpKind, Space, SsaValue};
use crate::order::postorder;
use crate::range::IntRange;

/// Forwards known contents of cells to loads, and drops redundant stores.
pub(super) fn forward(function: &mut SsaFunction) {
    let entered_by = sole_entries(function);
    let mut replacements = Replacements::of(function);
    let mut at_end: Vec<Option<HeldCells>> = vec![None; function.blocks.len()];
    // Reverse postorder: each block comes after its predecessors, except for back edges.
    for number in postorder(function, |_| true).into_iter().rev() {
        let before = entered_by[number as usize].and_then(|from| at_end[from as usize].clone());
        let mut held = before.unwrap_or_default();
        let ops = std::mem::take(&mut function.blocks[number as usize].ops);
        let kept = ops.into_iter().filter(|&value| held.is_kept(function, value, &mut replacements));
        function.blocks[number as usize].ops = kept.collect();
        at_end[number as usize] = Some(held);
    }
    replacements.apply(function);
}

/// Returns the predecessor of each block that has exactly one incoming edge; `None` for all other blocks. No cell
/// changes between the predecessor and the block.
fn sole_entries(function: &SsaFunction) -> Vec<Option<u32>> {
    let mut entries: Vec<(u32, Option<u32>)> = vec![(0, None); function.blocks.len()];
    for (from, block) in (0..).zip(&function.blocks) {
        for jump in block.end.jumps() {
            let leads_on = match block.end {
                SsaEnd::Jump(_) | SsaEnd::Branch { .. } | SsaEnd::Safepoint { .. } => Some(from),
                SsaEnd::Exit { .. } => None,
            };
            if let Some((edges, entry)) = entries.get_mut(jump.to as usize) {
                (*edges, *entry) = (*edges + 1, leads_on);
            }
        }
    }
    entries.into_iter().map(|(edges, entry)| entry.filter(|_| edges == 1)).collect()
}

/// Cells with known contents.
#[derive(Clone, Default)]
struct HeldCells(HashMap<(Space, SsaValue), (SsaValue, IntRange)>);

/// Upper bound on cells whose contents are recorded.
const MOST_CELLS: usize = 64;

impl HeldCells {
    /// Records the cell contents that an operation reveals. Returns false if the operation is redundant.
    fn is_kept(&mut self, function: &SsaFunction, value: SsaValue, replacements: &mut Replacements) -> bool {
        let Some(op) = function.op(value) else { return true };
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Load(space), &[address]) => {
                let address = replacements.find(address);
                match self.0.get(&(space, address)) {
                    Some(&(held, _)) => {
                        replacements.replace(value, held);
                        false
                    }
                    None => {
                        self.note((space, address), value, FunctionRanges(function).range(address));
                        true
                    }
                }
            }
            (OpKind::Store(space), &[address, stored]) => {
                let (address, stored) = (replacements.find(address), replacements.find(stored));
                if self.0.get(&(space, address)).is_some_and(|(held, _)| *held == stored) {
                    return false;
                }
                let range = FunctionRanges(function).range(address);
                self.0.retain(|&(other_space, _), (_, other)| other_space != space || range.is_apart(*other));
                self.note((space, address), stored, range);
                true
            }
            _ => true,
        }
    }

    fn note(&mut self, cell: (Space, SsaValue), value: SsaValue, range: IntRange) {
        if self.0.len() < MOST_CELLS {
            self.0.insert(cell, (value, range));
        }
    }
}
