//! The whole run of a lane as one SSA function. Cells without a word in a lane's memory are values from the start to the
//! arrival. In a gradient, the reverse sweep follows the primal sweep. Independent of shader text.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use reviver_compile::form::{Definition, Jump, SsaBlock, SsaEnd, SsaForm};
use reviver_compile::op::{OpKind, Space, SsaValue};
use reviver_compile::passes::range_where_it_counts;
use reviver_compile::rows::AdjointRows;
use reviver_compile::written::TextPlan;
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use crate::cells::{LaneMemory, SpacedCell, StartCells, StartWord, literal};

/// The place of a cell's content, at an arrival or at the turning point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellHome {
    Value(SsaValue),
    /// The word of this number in the lane's memory.
    Memory(u32),
}

/// The losses of a gradient, each with a row of adjoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LossRows {
    /// The addresses of the losses, one for each row.
    pub losses: Vec<u32>,
    /// The distance from a row's adjoint of a real to that of the next row.
    pub stride: u32,
}

impl LossRows {
    pub fn count(&self) -> u32 {
        self.losses.len() as u32
    }

    /// Returns the layout of the rows.
    pub fn layout(&self) -> AdjointRows {
        AdjointRows { count: self.count(), stride: self.stride }
    }

    /// Returns the address of a real's adjoint in a row.
    pub fn adjoint(&self, row: u32, real: u32) -> u32 {
        self.layout().adjoint(row, real)
    }

    /// Iterates over the addresses of the seeds: for each row, the adjoint of the row's loss. All other adjoints are 0 at the
    /// turning point.
    pub fn seeds(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.losses).map(|(row, &loss)| self.adjoint(row, loss))
    }
}

/// The run of a lane as one SSA function.
#[derive(Debug)]
pub(crate) struct LaneJourney {
    pub form: SsaForm,
    /// The first block of a gradient's reverse sweep. The later blocks are those of the reverse sweep, too.
    pub back: Option<u32>,
    /// The block at the turning point of a gradient.
    pub turn: Option<u32>,
    /// The blocks of arrivals, each with the values that it stores to cells outside of memory.
    pub arrivals: BTreeMap<u32, BTreeMap<SpacedCell, SsaValue>>,
    /// Pairs of a value and its replacement, for loads from cells outside of memory.
    pub stands_for: Vec<(SsaValue, SsaValue)>,
    /// The loads of input words, each with the number of the word.
    pub given: BTreeMap<SsaValue, u32>,
    /// Values at the turning point of the cells outside of memory that the primal sweep stores, and of the seeds.
    turned: HashMap<SpacedCell, SsaValue>,
    /// The losses, with the layout of their adjoints.
    pub adjoints: LossRows,
    /// Values of cells at the start.
    starts: HashMap<SpacedCell, SsaValue>,
}

/// Returns true if an operation only counts for statistics, which lanes don't have.
fn is_count(kind: OpKind) -> bool {
    matches!(kind, OpKind::CountErased(_) | OpKind::CountDiscarded | OpKind::CountDropped)
}

impl LaneJourney {
    /// Builds the run of a lane from the SSA function of a whole run, or from those of both sweeps of a gradient.
    pub fn of(
        there: SsaForm,
        back: Option<(SsaForm, LossRows)>,
        start: &StartCells,
        memory: &LaneMemory,
    ) -> LaneJourney {
        let mut journey = LaneJourney {
            form: there,
            back: None,
            turn: None,
            arrivals: BTreeMap::new(),
            stands_for: Vec::new(),
            given: BTreeMap::new(),
            turned: HashMap::new(),
            adjoints: LossRows::default(),
            starts: HashMap::new(),
        };
        let order = TextPlan::of(&journey.form).order;
        journey.lower(&order, start, memory);
        if let Some((back, adjoints)) = back {
            journey.adjoints = adjoints;
            let order = TextPlan::of(&back).order;
            let first = journey.turn_round(back, start);
            let order: Vec<u32> = order.into_iter().map(|block| block + first).collect();
            journey.lower(&order, start, memory);
        }
        journey
    }

    /// Returns the value of a cell at the start of lanes.
    pub fn at_start(&mut self, cell: SpacedCell, start: &StartCells) -> SsaValue {
        if let Some(&known) = self.starts.get(&cell) {
            return known;
        }
        let value = match start.word(cell) {
            StartWord::Same(bits) => self.literal(cell.0, bits),
            StartWord::Given(word) => {
                let address = self.form.define(OpKind::Int(cell.1.into()), &[]);
                let value = self.form.define(OpKind::Load(cell.0), &[address]);
                self.given.insert(value, word);
                value
            }
        };
        self.starts.insert(cell, value);
        value
    }

    /// Returns the value that a cell outside of memory has at the turning point of a gradient. Without a turning point, returns
    /// the value at the start.
    pub fn at_turn(&mut self, cell: SpacedCell, start: &StartCells) -> SsaValue {
        if let Some(&known) = self.turned.get(&cell) {
            return known;
        }
        let value = match cell {
            (Space::Adjoints, address)
                if self.turn.is_some() && self.adjoints.seeds().any(|seed| seed == address) =>
            {
                let one = reviver_isa::number::literal_bits(self.form.numbers.system, 1.0);
                self.literal(Space::Adjoints, one)
            }
            _ => return self.at_start(cell, start),
        };
        self.turned.insert(cell, value);
        value
    }

    /// Returns the place of a cell's content when a lane arrives in a block.
    pub fn at_arrival(
        &mut self,
        block: u32,
        cell: SpacedCell,
        start: &StartCells,
        memory: &LaneMemory,
    ) -> CellHome {
        if let Some(word) = memory.word(cell) {
            return CellHome::Memory(word);
        }
        let stored = self.arrivals.get(&block).and_then(|stored| stored.get(&cell)).copied();
        CellHome::Value(stored.unwrap_or_else(|| self.at_turn(cell, start)))
    }

    /// Returns true if a value is known to be an integer other than these bits. Reals are never known to be wrong.
    pub fn is_never(&self, value: SsaValue, class: Class, bits: u64) -> bool {
        match self.form.op(value).map(|op| op.kind) {
            Some(OpKind::Int(literal)) => class == Class::Int && literal as u64 != bits,
            // A real that isn't equal may still be close enough.
            _ => false,
        }
    }

    /// Iterates over the values at the turning point of reals that the primal sweep stores outside of memory, in order of their
    /// addresses.
    pub fn turned_reals(&self) -> impl Iterator<Item = SsaValue> {
        let mut reals: Vec<(SpacedCell, SsaValue)> =
            self.turned.iter().map(|(&cell, &value)| (cell, value)).collect();
        reals.retain(|((space, _), _)| *space == Space::Reals);
        reals.sort_unstable();
        reals.into_iter().map(|(_, value)| value)
    }

    /// Returns the cells outside of memory that have a value at an arrival or at the turning point.
    pub fn left(&self) -> BTreeSet<SpacedCell> {
        let arrived = self.arrivals.values().flat_map(BTreeMap::keys);
        arrived.chain(self.turned.keys()).copied().collect()
    }

    /// Defines a literal of the class of a space.
    pub fn literal(&mut self, space: Space, bits: u64) -> SsaValue {
        let kind = match space.class() {
            Class::Int => OpKind::Int(bits as i64),
            Class::Real => OpKind::Real(bits),
        };
        self.form.define(kind, &[])
    }

    /// Replaces the loads and stores of cells outside of memory by values, and records the values that blocks of arrivals
    /// store. Removes operations that only count.
    fn lower(&mut self, order: &[u32], start: &StartCells, memory: &LaneMemory) {
        for &number in order {
            let Some(block) = self.form.blocks.get_mut(number as usize) else { continue };
            let is_arrival = matches!(block.end, SsaEnd::Exit { .. });
            let ops = std::mem::take(&mut block.ops);
            let ops: Vec<SsaValue> =
                ops.into_iter().flat_map(|value| self.choice(value, start, memory)).collect();
            let mut stored: BTreeMap<SpacedCell, SsaValue> = BTreeMap::new();
            let kept = ops.into_iter().filter(|&value| {
                let Some(op) = self.form.op(value) else { return true };
                let (kind, place, second) = (op.kind, literal(&self.form, op), op.operands.get(1).copied());
                let cell =
                    |space| place.map(|address| (space, address)).filter(|&cell| memory.word(cell).is_none());
                match kind {
                    OpKind::Load(space) => {
                        let Some(cell) = cell(space) else { return true };
                        let held = stored.get(&cell).copied();
                        let held = held.unwrap_or_else(|| self.at_turn(cell, start));
                        self.stands_for.push((value, held));
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
            if let Some(block) = self.form.blocks.get_mut(number as usize) {
                block.ops = kept;
            }
            if is_arrival {
                self.arrivals.insert(number, stored);
            }
        }
    }

    /// Replaces a load at a computed address among cells outside of memory by a selection among their values, and returns the
    /// operations of the selection. Returns any other operation unchanged.
    fn choice(&mut self, value: SsaValue, start: &StartCells, memory: &LaneMemory) -> Vec<SsaValue> {
        let load = self.form.op(value).and_then(|op| match (op.kind, op.operands.first()) {
            (OpKind::Load(space), Some(&address)) if literal(&self.form, op).is_none() => {
                Some((space, address))
            }
            _ => None,
        });
        let cells = load.and_then(|(space, address)| {
            let cells = memory.chosen(space, range_where_it_counts(&self.form, address))?;
            Some((space, address, cells))
        });
        let Some((space, address, mut cells)) = cells else { return vec![value] };
        let choose = match space.class() {
            Class::Int => OpKind::IntChoose,
            Class::Real => OpKind::Choose,
        };
        let Some(first) = cells.next() else { return vec![value] };
        let mut held = self.at_turn((space, first), start);
        let mut made = Vec::new();
        for cell in cells {
            let number = self.form.define(OpKind::Int(cell.into()), &[]);
            let is_here = self.form.define(OpKind::IntTest(Order::Eq), &[address, number]);
            let other = self.at_turn((space, cell), start);
            held = self.form.define(choose, &[is_here, other, held]);
            made.extend([number, is_here, held]);
        }
        self.stands_for.push((value, held));
        made
    }

    /// Appends the reverse sweep, and returns the number of its first block. The arrivals of the primal sweep lead there through
    /// a block at the turning point. The parameters of this block are the cells that the arrivals store.
    fn turn_round(&mut self, back: SsaForm, start: &StartCells) -> u32 {
        let turn = self.form.blocks.len() as u32;
        let first = turn + 1;
        let arrivals = std::mem::take(&mut self.arrivals);
        let cells: BTreeSet<SpacedCell> = arrivals.values().flat_map(BTreeMap::keys).copied().collect();
        let parameters: Vec<SsaValue> = cells.iter().map(|cell| self.parameter(*cell)).collect();
        self.turned = cells.iter().copied().zip(parameters.iter().copied()).collect();
        self.turn = Some(turn);
        self.back = Some(first);
        for (block, stored) in arrivals {
            let mut arguments = Vec::with_capacity(cells.len());
            for &cell in &cells {
                arguments.push(match stored.get(&cell) {
                    Some(&value) => value,
                    None => self.at_start(cell, start),
                });
            }
            if let Some(block) = self.form.blocks.get_mut(block as usize) {
                block.end = SsaEnd::Go(Jump { to: turn, arguments });
            }
        }
        let end = SsaEnd::Go(Jump { to: first, arguments: Vec::new() });
        self.form.blocks.push(SsaBlock { parameters, ops: Vec::new(), steps: 0, calls: 0, end });
        self.form.append(back)
    }

    fn parameter(&mut self, (space, _): SpacedCell) -> SsaValue {
        let value = SsaValue(self.form.definitions.len() as u32);
        self.form.definitions.push(Definition::Parameter(space.class()));
        value
    }
}
