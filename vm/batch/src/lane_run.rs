//! The whole run of a lane as one SSA function. A cell without a word in the lane's memory is an SSA value from the
//! start of the run to its end. This module is independent of shader text.

use std::collections::{BTreeMap, HashMap};

use reviver_compile::call::region::{Region, regions};
use reviver_compile::emit_plan::EmitPlan;
use reviver_compile::function::{SsaEnd, SsaFunction};
use reviver_compile::op::{OpKind, Space, SsaValue};
use reviver_compile::passes::range_at_uses;
use reviver_compile::rows::{AdjointRows, RowSeeds};
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use crate::cells::{LaneMemory, SpacedCell, StartCells, StartWord, literal, own_space};

/// The place of a cell's content at a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellHome {
    Value(SsaValue),
    /// The content is in the word of the lane's memory with this number.
    Memory(u32),
}

/// The losses of a call function. In a gradient, each loss has a row of the Jacobian, and each real has an adjoint in
/// each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LossRows {
    /// The seeds of each row: addresses of reals, with the bits of their adjoints at the turning point.
    pub losses: Vec<RowSeeds>,
    /// The layout of the adjoints of all rows; `None` for a run.
    pub rows: Option<AdjointRows>,
    /// The number of coefficients of each real.
    pub lanes: u32,
}

impl LossRows {
    pub fn count(&self) -> u32 {
        self.losses.len() as u32
    }

    /// Returns the address of coefficient 0 of a real's adjoint in row `row`. The higher coefficients follow.
    pub fn adjoint(&self, row: u32, real: u32) -> u32 {
        self.rows.map_or(real, |rows| rows.adjoint(row, real)).saturating_mul(self.lanes)
    }
}

/// The run of a lane as one SSA function.
#[derive(Debug)]
pub(crate) struct LaneRun {
    pub function: SsaFunction,
    /// The sweep that a lane is in at the start of each block.
    regions: HashMap<u32, Region>,
    /// The blocks where the run ends. Each has the values of the cells without a memory word at the end of the block.
    pub lane_ends: BTreeMap<u32, BTreeMap<SpacedCell, SsaValue>>,
    /// Pairs of a load from a cell without a word in memory, and the value that replaces the load.
    pub replacements: Vec<(SsaValue, SsaValue)>,
    /// The loads of input words, each with the number of the word.
    pub inputs: BTreeMap<SsaValue, u32>,
    /// The losses, with the layout of their adjoints.
    pub adjoints: LossRows,
    /// The SSA value of each cell at the start, once it is defined.
    starts: HashMap<SpacedCell, SsaValue>,
}

/// Returns true if an operation only updates statistics of a run. Such operations are dropped, because lanes report no
/// statistics.
fn is_count(kind: OpKind) -> bool {
    matches!(kind, OpKind::CountErased(_) | OpKind::CountDiscarded | OpKind::CountDropped)
}

impl LaneRun {
    /// Builds the run of a lane from an SSA function. Each exit of the function must be an end of the run.
    pub fn of(function: SsaFunction, adjoints: LossRows, start: &StartCells, memory: &LaneMemory) -> LaneRun {
        let mut lane_run = LaneRun {
            regions: regions(&function),
            function,
            lane_ends: BTreeMap::new(),
            replacements: Vec::new(),
            inputs: BTreeMap::new(),
            adjoints,
            starts: HashMap::new(),
        };
        let order = EmitPlan::of(&lane_run.function).order;
        lane_run.lower(&order, start, memory);
        lane_run
    }

    /// Returns the sweep that a lane is in at the start of a block.
    pub fn region(&self, block: u32) -> Region {
        self.regions.get(&block).copied().unwrap_or(Region::Forward)
    }

    /// Returns the SSA value of a cell at the start of the run, and defines it if needed.
    pub fn at_start(&mut self, cell: SpacedCell, start: &StartCells) -> SsaValue {
        if let Some(&known) = self.starts.get(&cell) {
            return known;
        }
        let value = match start.word(cell) {
            StartWord::Same(bits) => self.literal(cell.0, bits),
            StartWord::Input(word) => {
                let address = self.function.define(OpKind::Int(cell.1.into()), &[]);
                let value = self.function.define(OpKind::Load(cell.0), &[address]);
                self.inputs.insert(value, word);
                value
            }
        };
        self.starts.insert(cell, value);
        value
    }

    /// Returns the place of a cell's content when a run ends in a block.
    pub fn at_end(
        &mut self,
        block: u32,
        cell: SpacedCell,
        start: &StartCells,
        memory: &LaneMemory,
    ) -> CellHome {
        if let Some(word) = memory.word(cell) {
            return CellHome::Memory(word);
        }
        let stored = self.lane_ends.get(&block).and_then(|stored| stored.get(&cell)).copied();
        CellHome::Value(stored.unwrap_or_else(|| self.at_start(cell, start)))
    }

    /// Returns true if a value is known to differ from `bits`: it is an integer literal with other bits. Returns false
    /// for all reals.
    pub fn is_never(&self, value: SsaValue, class: Class, bits: u64) -> bool {
        match self.function.op(value).map(|op| op.kind) {
            Some(OpKind::Int(literal)) => class == Class::Int && literal as u64 != bits,
            // A real with other bits may still equal the expected one, within the tolerance.
            _ => false,
        }
    }

    /// Defines a literal of the class that the cells of `space` have.
    pub fn literal(&mut self, space: Space, bits: u64) -> SsaValue {
        let kind = match space.class() {
            Class::Int => OpKind::Int(bits as i64),
            Class::Real => OpKind::Real(bits),
        };
        self.function.define(kind, &[])
    }

    /// Replaces the loads and stores of cells without a memory word by SSA values. Records the stored values in each
    /// block where a run ends. Removes operations that only count.
    fn lower(&mut self, order: &[u32], start: &StartCells, memory: &LaneMemory) {
        for &number in order {
            let Some(block) = self.function.blocks.get_mut(number as usize) else { continue };
            let is_arrival = matches!(block.end, SsaEnd::Exit { .. });
            let ops = std::mem::take(&mut block.ops);
            let ops: Vec<SsaValue> =
                ops.into_iter().flat_map(|value| self.choice(value, start, memory)).collect();
            let mut stored: BTreeMap<SpacedCell, SsaValue> = BTreeMap::new();
            let kept = ops.into_iter().filter(|&value| {
                let Some(op) = self.function.op(value) else { return true };
                let (kind, place, second) =
                    (op.kind, literal(&self.function, op), op.operands.get(1).copied());
                let cell =
                    |space| place.map(|address| (space, address)).filter(|&cell| memory.word(cell).is_none());
                match kind {
                    OpKind::Store(Space::Results) => true,
                    OpKind::Load(space @ (Space::StartInts | Space::StartReals)) => {
                        let Some(address) = place else { return true };
                        let held = self.at_start((own_space(space), address), start);
                        self.replacements.push((value, held));
                        false
                    }
                    OpKind::Load(space) => {
                        let Some(cell) = cell(space) else { return true };
                        let held = stored.get(&cell).copied();
                        let held = held.unwrap_or_else(|| self.at_start(cell, start));
                        self.replacements.push((value, held));
                        false
                    }
                    OpKind::Store(space) => {
                        let (Some(cell), Some(second)) = (cell(space), second) else { return true };
                        stored.insert(cell, second);
                        false
                    }
                    kind => !is_count(kind),
                }
            });
            let kept = kept.collect();
            if let Some(block) = self.function.blocks.get_mut(number as usize) {
                block.ops = kept;
            }
            if is_arrival {
                self.lane_ends.insert(number, stored);
            }
        }
    }

    /// Replaces a load at a computed address by a selection among SSA values, if all cells that the load may read have
    /// no memory word. Returns the operations of the selection. Returns any other operation unchanged.
    fn choice(&mut self, value: SsaValue, start: &StartCells, memory: &LaneMemory) -> Vec<SsaValue> {
        let load = self.function.op(value).and_then(|op| match (op.kind, op.operands.first()) {
            (OpKind::Load(space), Some(&address)) if literal(&self.function, op).is_none() => {
                Some((space, address))
            }
            _ => None,
        });
        let cells = load.and_then(|(space, address)| {
            let cells = memory.chosen(space, range_at_uses(&self.function, address))?;
            Some((own_space(space), address, cells))
        });
        let Some((space, address, mut cells)) = cells else { return vec![value] };
        let choose = match space.class() {
            Class::Int => OpKind::IntChoose,
            Class::Real => OpKind::Choose,
        };
        let Some(first) = cells.next() else { return vec![value] };
        let mut held = self.at_start((space, first), start);
        let mut made = Vec::new();
        for cell in cells {
            let number = self.function.define(OpKind::Int(cell.into()), &[]);
            let is_here = self.function.define(OpKind::IntTest(Order::Eq), &[address, number]);
            let other = self.at_start((space, cell), start);
            held = self.function.define(choose, &[is_here, other, held]);
            made.extend([number, is_here, held]);
        }
        self.replacements.push((value, held));
        made
    }
}
