//! The content of cells at the start of a lane, for loads whose address is computed. These cells have no word in a
//! lane's memory: a helper function of the shader finds the input word or the constant. This module is independent of
//! shader text.

use std::collections::BTreeMap;

use reviver_compile::emit_plan::EmitPlan;
use reviver_compile::function::SsaFunction;
use reviver_compile::op::{OpKind, Space, SsaValue};
use reviver_compile::passes::range_at_uses;

use crate::cells::{CellCounts, StartCells, literal, own_space};
use crate::words::{WordRun, word_runs};

/// The cells that an address may refer to: their space, the first address, and the end address, which is exclusive.
pub(crate) type CellRange = (Space, u32, u32);

/// The sources of cells at the start of a lane, as runs of words for each range of cells. Word 0 of a range is its
/// first cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartTables {
    counts: CellCounts,
    pub ranges: BTreeMap<CellRange, Vec<WordRun>>,
}

impl StartTables {
    /// Collects the ranges of cells to which loads of start values at computed addresses may refer. Appends constants
    /// that these cells hold to `constants`.
    pub fn of(
        function: &SsaFunction,
        start: &StartCells,
        counts: CellCounts,
        constants: &mut Vec<u64>,
    ) -> StartTables {
        let mut tables = StartTables { counts, ranges: BTreeMap::new() };
        for &number in &EmitPlan::of(function).order {
            let ops = function.blocks.get(number as usize).map_or(&[][..], |block| &block.ops);
            for op in ops.iter().filter_map(|&value| function.op(value)) {
                let OpKind::Load(space @ (Space::StartInts | Space::StartReals)) = op.kind else { continue };
                let (None, Some(&address)) = (literal(function, op), op.operands.first()) else { continue };
                let range = range_at_uses(function, address);
                let Some((first, end)) = counts.clipped(space, range) else { continue };
                tables.ranges.entry((space, first, end)).or_insert_with(|| {
                    let words = (first..end).map(|address| start.word((own_space(space), address)));
                    word_runs(0, words, constants)
                });
            }
        }
        tables
    }

    /// Returns the range of cells that an address may refer to; `None` if this range wasn't collected.
    pub fn range(&self, function: &SsaFunction, space: Space, address: SsaValue) -> Option<CellRange> {
        let (first, end) = self.counts.clipped(space, range_at_uses(function, address))?;
        Some((space, first, end)).filter(|range| self.ranges.contains_key(range))
    }
}
