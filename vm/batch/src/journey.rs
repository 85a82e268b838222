//! The whole way of a lane as one form: cells that no memory has are values from where lanes begin to where they arrive, and of a gradient
//! the way back follows the way there. Knows no text.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use reviver_compile::form::{Definition, Jump, SsaBlock, SsaEnd, SsaForm};
use reviver_compile::op::{OpKind, Space, SsaValue};
use reviver_compile::passes::range_where_it_counts;
use reviver_compile::rows::AdjointRows;
use reviver_compile::written::TextPlan;
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use crate::cells::{LaneMemory, SpacedCell, StartCells, StartWord, literal};

/// Where a cell is that somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellHome {
    Value(SsaValue),
    /// The word of the lane's memory.
    Memory(u32),
}

/// The losses of a Jacobian, each with a row of adjoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LossRows {
    /// The cells of the losses, one a row.
    pub losses: Vec<u32>,
    /// The distance from a row's adjoint of a real to that of the next row.
    pub stride: u32,
}

impl LossRows {
    pub fn count(&self) -> u32 {
        self.losses.len() as u32
    }

    /// Where the rows are among all adjoints.
    pub fn layout(&self) -> AdjointRows {
        AdjointRows { count: self.count(), stride: self.stride }
    }

    /// The adjoint of a real in a row.
    pub fn adjoint(&self, row: u32, real: u32) -> u32 {
        self.layout().adjoint(row, real)
    }

    /// The adjoints that aren't 0 where a reverse sweep begins: each loss's, of itself.
    pub fn seeds(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.losses).map(|(row, &loss)| self.adjoint(row, loss))
    }
}

/// The way of a lane.
#[derive(Debug)]
pub(crate) struct LaneJourney {
    pub form: SsaForm,
    /// Blocks from this one on are of the way back of a gradient.
    pub back: Option<u32>,
    /// The block where a gradient turns.
    pub turn: Option<u32>,
    /// Where lanes arrive, each with what it leaves in cells.
    pub arrivals: BTreeMap<u32, BTreeMap<SpacedCell, SsaValue>>,
    /// Values that stand for others.
    pub stands_for: Vec<(SsaValue, SsaValue)>,
    /// Values that lanes are given, by the number of the word.
    pub given: BTreeMap<SsaValue, u32>,
    /// Cells that the way there of a gradient leaves in values.
    turned: HashMap<SpacedCell, SsaValue>,
    /// Where the adjoints of each loss are.
    pub adjoints: LossRows,
    starts: HashMap<SpacedCell, SsaValue>,
}

/// What only statistics are made of.
fn is_count(kind: OpKind) -> bool {
    matches!(kind, OpKind::CountErased(_) | OpKind::CountDiscarded | OpKind::CountDropped)
}

impl LaneJourney {
    /// Of a form, and of another one that leads back with the adjoints of losses.
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

    /// What a cell holds where lanes begin.
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

    /// What a cell that isn't in memory holds where a gradient has turned; on a way of one form, where lanes begin.
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

    /// Where a cell is where a lane arrives in a block.
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

    /// Whether a value is a literal of other bits.
    pub fn is_never(&self, value: SsaValue, class: Class, bits: u64) -> bool {
        match self.form.op(value).map(|op| op.kind) {
            Some(OpKind::Int(literal)) => class == Class::Int && literal as u64 != bits,
            // Floats may be close.
            _ => false,
        }
    }

    /// The values of reals that the way there of a gradient leaves.
    pub fn turned_reals(&self) -> impl Iterator<Item = SsaValue> {
        let mut reals: Vec<(SpacedCell, SsaValue)> =
            self.turned.iter().map(|(&cell, &value)| (cell, value)).collect();
        reals.retain(|((space, _), _)| *space == Space::Reals);
        reals.sort_unstable();
        reals.into_iter().map(|(_, value)| value)
    }

    /// The cells that ways leave in values.
    pub fn left(&self) -> BTreeSet<SpacedCell> {
        let arrived = self.arrivals.values().flat_map(BTreeMap::keys);
        arrived.chain(self.turned.keys()).copied().collect()
    }

    /// A literal, as cells of a space have it.
    pub fn literal(&mut self, space: Space, bits: u64) -> SsaValue {
        let kind = match space.class() {
            Class::Int => OpKind::Int(bits as i64),
            Class::Real => OpKind::Real(bits),
        };
        self.form.define(kind, &[])
    }

    /// Makes values of the cells that aren't in memory, and notes what is left in them where blocks arrive. What is counted
    /// alone goes.
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

    /// A load at a computed address among cells that aren't in memory, as a choice among their values; of any other operation nothing but itself.
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

    /// Has the arrivals of the way there lead to the way back, by a block that is given what they leave. The number of the way back's
    /// first block.
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
