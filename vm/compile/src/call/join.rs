//! Joins the primal and the reverse sweep of a gradient into one SSA function. Cells that aren't in memory become SSA
//! values that live across both sweeps.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use reviver_flow::layout::MODE;
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;
use reviver_vm::Program;

use super::memory::{CellHome, MemoryCells, SpacedCell, literal_address};
use crate::function::{Definition, Jump, SsaBlock, SsaEnd, SsaFunction, ZerosAtEntry};
use crate::op::{OpKind, Space, SsaValue};
use crate::order::reached;
use crate::passes::replacements::Replacements;
use crate::passes::{PASSES, Pass, range_at_uses};
use crate::range::IntRange;
use crate::rows::{AdjointRows, RowSeeds};

/// Least number of neighbouring cells for which a loop is emitted. For fewer cells, the operations are emitted one by
/// one.
const SHORTEST_LOOP: usize = 8;

/// The program of a call function, and the known properties of its cells.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    pub program: &'p Program,
    /// Cells that hold 0 at the start.
    pub zeros: ZerosAtEntry,
    pub memory: &'p MemoryCells,
    pub rows: AdjointRows,
}

/// The reals whose magnitudes are recorded at the turning point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargestScan {
    /// No magnitude is recorded.
    None,
    /// Only reals in cells that are SSA values. Verification then uses a lower bound of the largest magnitude.
    Values,
    /// All reals of the program that the primal sweep changes.
    All,
}

/// Options of a call function that depend on the engine. The defaults are those of native code.
#[derive(Clone, Copy, Debug)]
pub struct CallNeeds<'n> {
    /// The reals whose magnitudes the code records for verification.
    pub largest: LargestScan,
    /// The fixed seeds of each row: addresses of reals, with the bits of their adjoints at the turning point; all other
    /// adjoints are 0. The caller sets only seeded adjoints that are in memory. `None` means that seeds differ between
    /// calls, so the caller sets the adjoints of all seeded cells.
    pub seeds: Option<&'n [RowSeeds]>,
    /// Upper bounds on the integers and reals of all frames, for engines that reserve the memory of calls in advance.
    pub frames: Option<[u32; 2]>,
    /// The optimization passes for the function.
    pub passes: &'n [Pass],
}

impl Default for CallNeeds<'_> {
    fn default() -> Self {
        CallNeeds { largest: LargestScan::None, seeds: None, frames: None, passes: &PASSES }
    }
}

/// A call function under construction.
pub(super) struct CallBuilder<'p> {
    pub function: SsaFunction,
    pub place: Place<'p>,
    /// The reals that may have a seed, in the order of the results.
    pub seeded: &'p [u32],
    is_seeded: HashSet<u32>,
    /// The adjoints at the turning point, if [`CallNeeds::seeds`] fixes them. The key is the adjoint's address;
    /// adjoints without an entry are 0.
    seeds: Option<HashMap<u32, u64>>,
    /// Operations for the beginning of the function: literals, and loads of the start.
    entry: Vec<SsaValue>,
    /// The value of each literal.
    literals: HashMap<OpKind, SsaValue>,
    /// Values of cells at the start.
    starts: HashMap<SpacedCell, SsaValue>,
    /// The final blocks of the sweep that was added last, each with the values of cells at its end.
    arrivals: Vec<(u32, BTreeMap<SpacedCell, SsaValue>)>,
    /// True if the operations that count freed cells are kept, because lifting replaces them by checks.
    pub keeps_discards: bool,
    /// The last block of the code at the turning point.
    turn: Option<u32>,
    /// Values of cells at the turning point that differ from those at the start.
    turned: HashMap<SpacedCell, SsaValue>,
    /// Values of the seeded cells at the turning point, for those cells whose results were stored without a loop.
    pub results: Vec<SsaValue>,
    /// Loads, each with the value that replaces it.
    loads: Vec<(SsaValue, SsaValue)>,
}

impl<'p> CallBuilder<'p> {
    /// Creates a builder from the SSA function of a primal sweep.
    pub fn new(
        primal: SsaFunction,
        place: Place<'p>,
        (seeded, seeds): (&'p [u32], Option<&[RowSeeds]>),
    ) -> CallBuilder<'p> {
        CallBuilder {
            function: primal,
            place,
            seeded,
            is_seeded: seeded.iter().copied().collect(),
            seeds: seeds.map(|seeds| place.rows.seeded(seeds).collect()),
            entry: Vec::new(),
            literals: HashMap::new(),
            starts: HashMap::new(),
            arrivals: Vec::new(),
            keeps_discards: false,
            turn: None,
            turned: HashMap::new(),
            results: Vec::new(),
            loads: Vec::new(),
        }
    }

    /// Replaces the primal sweep's loads and stores of cells that aren't in memory by SSA values. The sweep ends at the
    /// position `to`.
    pub fn primal(&mut self, to: u32) {
        self.lower(&reached(&self.function), to, 0);
    }

    /// Adds the turning point after the primal sweep.
    pub fn turn(&mut self, slack: u32, largest: LargestScan) {
        let (block, turned) = self.meet();
        self.turn = Some(block);
        self.turned = turned;
        self.put(block, OpKind::Turned { slack }, &[]);
        if largest != LargestScan::None {
            let mut reals: Vec<(SpacedCell, SsaValue)> =
                self.turned.iter().map(|(&cell, &value)| (cell, value)).collect();
            reals.retain(|((space, _), _)| *space == Space::Reals);
            reals.sort_unstable();
            for (_, value) in reals {
                self.put(block, OpKind::Largest, &[value]);
            }
        }
        if largest == LargestScan::All {
            self.scan_memory(block);
        }
        self.store_results();
    }

    /// Emits operations after a block that record the magnitudes of the program's reals in working memory.
    fn scan_memory(&mut self, block: u32) {
        let own = self.place.memory.own(Class::Real);
        let runs: Vec<Range<u32>> = self.place.memory.working_reals().collect();
        let last = runs.into_iter().fold(block, |block, run| {
            self.each_in_memory(
                block,
                (Space::Reals, run.start..run.end.min(own)),
                |builder, block, address| {
                    let value = builder.put(block, OpKind::Load(Space::Reals), &[address]);
                    builder.put(block, OpKind::Largest, &[value]);
                },
            )
        });
        self.turn = Some(last);
    }

    /// Stores the values of the seeded cells at the turning point as results. A loop copies neighbouring cells in
    /// memory, so the function's length doesn't depend on the length of an array. Cells with fixed seeds are stored one
    /// by one.
    fn store_results(&mut self) {
        let is_working =
            |own: &Self, cell: u32| own.place.memory.home((Space::Reals, cell)) == CellHome::Working;
        let mut next = 0;
        while let Some(rest) = self.seeded.get(next..).filter(|rest| !rest.is_empty()) {
            let (Some(turn), first) = (self.turn, rest[0]) else { return };
            let number = next as u32;
            if is_working(self, first) && self.seeds.is_none() {
                let run = (first..)
                    .zip(rest)
                    .take_while(|&(cell, &seeded)| cell == seeded && is_working(self, cell));
                let cells = first..first + run.count() as u32;
                next += cells.len();
                let last = self.each_cell(turn, cells, |builder, block, address| {
                    let value = builder.put(block, OpKind::Load(Space::Reals), &[address]);
                    let result = builder.moved(block, address, i64::from(number) - i64::from(first));
                    builder.put(block, OpKind::Store(Space::Results), &[result, value]);
                });
                self.turn = Some(last);
            } else {
                let value = match is_working(self, first) {
                    true => {
                        let address = self.literal(OpKind::Int(first.into()));
                        self.put(turn, OpKind::Load(Space::Reals), &[address])
                    }
                    false => self.at_turn((Space::Reals, first)),
                };
                self.results.push(value);
                let number = self.literal(OpKind::Int(number.into()));
                self.put(turn, OpKind::Store(Space::Results), &[number, value]);
                next += 1;
            }
        }
    }

    /// Returns the address that is `by` cells after `address`.
    pub fn moved(&mut self, block: u32, address: SsaValue, by: i64) -> SsaValue {
        if by == 0 {
            return address;
        }
        let (by, one) = (self.literal(OpKind::Int(by)), self.literal(OpKind::Int(1)));
        self.put(block, OpKind::Place, &[by, address, one])
    }

    /// Joins the reverse sweep, which ends at the position `to`, to the turning point. Renumbers the sweep's values,
    /// and returns the number that was added to each value number.
    pub fn reverse(&mut self, reverse: SsaFunction, to: u32) -> u32 {
        let order = reached(&reverse);
        let by = self.function.definitions.len() as u32;
        let exits = self.function.exits.len() as u32;
        let first = self.function.append(reverse);
        if let Some(turn) = self.turn {
            self.set_end(turn, SsaEnd::Jump(Jump { to: first, arguments: Vec::new() }));
        }
        let order: Vec<u32> = order.into_iter().map(|block| block + first).collect();
        self.lower(&order, to, exits);
        by
    }

    /// Adds the block at which the reverse sweep ends. Returns the block, and the values of cells in this block.
    pub fn arrive(&mut self) -> (u32, HashMap<SpacedCell, SsaValue>) {
        let (block, mut cells) = self.meet();
        for (&cell, &value) in &self.turned {
            cells.entry(cell).or_insert(value);
        }
        self.put(block, OpKind::Arrived, &[]);
        (block, cells)
    }

    /// Ends a run without a reverse sweep: stores the results. Returns the last block.
    pub fn end_run(&mut self) -> u32 {
        let (block, cells) = self.meet();
        (self.turn, self.turned) = (Some(block), cells);
        self.store_results();
        self.turn.unwrap_or(block)
    }

    /// Ends the function after the block `last`. Returns the function and the number of its exit.
    pub fn finish(mut self, last: u32) -> (SsaFunction, u32) {
        let end = self.function.exits.len() as u32;
        self.set_end(last, SsaEnd::Exit { exit: end });
        if let Some(first) = self.function.blocks.first_mut() {
            first.ops.splice(0..0, self.entry);
        }
        let mut replacements = Replacements::of(&self.function);
        for (load, value) in self.loads {
            replacements.replace(load, value);
        }
        replacements.apply(&mut self.function);
        (self.function, end)
    }

    /// Stores the adjoints of those globals that are SSA values, so that the adjoints are in memory. If `checks` is
    /// true, also emits a check that each stored adjoint is finite.
    pub fn store_adjoints(&mut self, (block, checks): (u32, bool), cells: &HashMap<SpacedCell, SsaValue>) {
        let layout = self.place.program.flow().layout();
        let (frame, constants) = (layout.main_frame(Class::Real), layout.constants(Class::Real));
        let named = |cell: &u32| !frame.contains(cell) && !constants.contains(&(*cell as usize));
        for cell in (0..self.place.memory.own(Class::Real)).filter(named) {
            for row in 0..self.place.rows.count {
                let adjoint = (Space::Adjoints, self.place.rows.adjoint(row, cell));
                if self.place.memory.home(adjoint) == CellHome::Value {
                    let value = cells.get(&adjoint).copied().unwrap_or_else(|| self.at_turn(adjoint));
                    let address = self.literal(OpKind::Int(adjoint.1.into()));
                    if checks {
                        self.put(block, OpKind::RequireAdmitted, &[value]);
                    }
                    self.put(block, OpKind::Store(Space::Adjoints), &[address, value]);
                }
            }
        }
    }

    /// Emits, after a block, the operations that `put` adds for each cell of a range in memory. A loop may handle cells
    /// that computed addresses reach. All other cells get separate operations with literal addresses, so that engines
    /// may hold these cells in variables. Returns the last emitted block.
    pub fn each_in_memory(
        &mut self,
        block: u32,
        (space, cells): (Space, Range<u32>),
        put: impl Fn(&mut CallBuilder<'p>, u32, SsaValue),
    ) -> u32 {
        let parts = self.place.memory.parts(space, cells);
        parts.into_iter().fold(block, |block, (cells, is_computed)| {
            if is_computed {
                return self.each_cell(block, cells, &put);
            }
            for cell in cells {
                let address = self.literal(OpKind::Int(cell.into()));
                put(self, block, address);
            }
            block
        })
    }

    /// Emits, after a block, the operations that `put` adds for each cell of a range, in ascending order. If there are
    /// at least [`SHORTEST_LOOP`] cells, emits a loop. Returns the last emitted block.
    pub fn each_cell(
        &mut self,
        block: u32,
        cells: Range<u32>,
        put: impl Fn(&mut CallBuilder<'p>, u32, SsaValue),
    ) -> u32 {
        if cells.len() < SHORTEST_LOOP {
            for cell in cells {
                let address = self.literal(OpKind::Int(cell.into()));
                put(self, block, address);
            }
            return block;
        }
        let address = self.parameter(Class::Int);
        let last = i64::from(cells.end) - 1;
        self.function.ranges.insert(address, IntRange { low: cells.start.into(), high: last });
        let (body, after) = (self.block(vec![address]), self.block(Vec::new()));
        let first = self.literal(OpKind::Int(cells.start.into()));
        self.set_end(block, SsaEnd::Jump(Jump { to: body, arguments: vec![first] }));
        put(self, body, address);
        let (one, last) = (self.literal(OpKind::Int(1)), self.literal(OpKind::Int(last)));
        let next = self.put(body, OpKind::Place, &[one, address, one]);
        let condition = self.put(body, OpKind::IntTest(Order::Lt), &[address, last]);
        let yes = Jump { to: body, arguments: vec![next] };
        self.set_end(body, SsaEnd::Branch { condition, yes, no: Jump { to: after, arguments: Vec::new() } });
        after
    }

    /// Adds a block to which all final blocks of a sweep jump. Returns the block, and the values of cells in this
    /// block.
    fn meet(&mut self) -> (u32, HashMap<SpacedCell, SsaValue>) {
        let arrivals = std::mem::take(&mut self.arrivals);
        let cells: BTreeSet<SpacedCell> =
            arrivals.iter().flat_map(|(_, stored)| stored.keys().copied()).collect();
        let parameters: Vec<SsaValue> = cells.iter().map(|cell| self.parameter(cell.0.class())).collect();
        let met = cells.iter().copied().zip(parameters.iter().copied()).collect();
        let block = self.block(parameters);
        for (arrival, stored) in arrivals {
            let mut arguments = Vec::with_capacity(cells.len());
            for &cell in &cells {
                let value = stored.get(&cell).copied();
                arguments.push(value.unwrap_or_else(|| self.at_turn(cell)));
            }
            self.set_end(arrival, SsaEnd::Jump(Jump { to: block, arguments }));
        }
        (block, met)
    }

    /// Adds a block without operations; the caller sets its terminator later.
    pub fn block(&mut self, parameters: Vec<SsaValue>) -> u32 {
        let number = self.function.blocks.len() as u32;
        let end = SsaEnd::Exit { exit: 0 };
        self.function.blocks.push(SsaBlock { parameters, ops: Vec::new(), steps: 0, calls: 0, end });
        number
    }

    pub fn set_end(&mut self, block: u32, end: SsaEnd) {
        self.function.blocks.get_mut(block as usize).into_iter().for_each(|block| block.end = end.clone());
    }

    pub fn parameter(&mut self, class: Class) -> SsaValue {
        let value = SsaValue(self.function.definitions.len() as u32);
        self.function.definitions.push(Definition::Parameter(class));
        value
    }

    /// Appends an operation to a block.
    pub fn put(&mut self, block: u32, kind: OpKind, operands: &[SsaValue]) -> SsaValue {
        let value = self.function.define(kind, operands);
        self.function.blocks.get_mut(block as usize).into_iter().for_each(|block| block.ops.push(value));
        value
    }

    /// Returns the value of a literal, which every block may use.
    pub fn literal(&mut self, kind: OpKind) -> SsaValue {
        if let Some(&known) = self.literals.get(&kind) {
            return known;
        }
        let value = self.function.define(kind, &[]);
        self.entry.push(value);
        self.literals.insert(kind, value);
        value
    }

    /// Returns the literal of a cell's bits.
    fn bits(&mut self, space: Space, bits: u64) -> SsaValue {
        self.literal(match space.class() {
            Class::Int => OpKind::Int(bits as i64),
            Class::Real => OpKind::Real(bits),
        })
    }

    /// Returns the bits of a cell at the start, if they are the same for every start.
    pub fn known_at_start(&self, (space, cell): SpacedCell) -> Option<u64> {
        let class = match space {
            Space::Ints if cell as usize == MODE => return Some(0),
            Space::Ints => Class::Int,
            Space::Reals => Class::Real,
            _ => return Some(0),
        };
        let layout = self.place.program.flow().layout();
        let is_zero = self.place.zeros.cells && layout.main_frame(class).contains(&cell);
        (is_zero || cell >= self.place.memory.own(class)).then_some(0)
    }

    /// Returns the value of a cell at the start.
    pub fn at_start(&mut self, cell: SpacedCell) -> SsaValue {
        if let Some(&known) = self.starts.get(&cell) {
            return known;
        }
        let value = match self.known_at_start(cell) {
            Some(bits) => self.bits(cell.0, bits),
            None => {
                let address = self.literal(OpKind::Int(cell.1.into()));
                let value = self.function.define(OpKind::Load(start_space(cell.0)), &[address]);
                self.entry.push(value);
                value
            }
        };
        self.starts.insert(cell, value);
        value
    }

    /// Returns the value of a cell at the turning point. Before the turning point is added, returns the value at the
    /// start.
    fn at_turn(&mut self, cell: SpacedCell) -> SsaValue {
        let Some(turn) = self.turn else { return self.at_start(cell) };
        if let Some(&known) = self.turned.get(&cell) {
            return known;
        }
        let value = match cell {
            (Space::Ints, mode) if mode as usize == MODE => self.bits(Space::Ints, 1),
            (Space::Adjoints, address) => match &self.seeds {
                Some(seeds) => {
                    let seed = seeds.get(&address).copied().unwrap_or(0);
                    self.bits(Space::Adjoints, seed)
                }
                None if self.may_have_seed(address) => {
                    let address = self.literal(OpKind::Int(address.into()));
                    self.put(turn, OpKind::Load(Space::Adjoints), &[address])
                }
                None => return self.at_start(cell),
            },
            _ => return self.at_start(cell),
        };
        self.turned.insert(cell, value);
        value
    }

    /// Returns true if an adjoint may have a seed that the caller sets.
    fn may_have_seed(&self, adjoint: u32) -> bool {
        let AdjointRows { count, stride } = self.place.rows;
        let (row, real) = if count > 1 { (adjoint / stride, adjoint % stride) } else { (0, adjoint) };
        row < count && self.is_seeded.contains(&real)
    }

    /// Replaces loads and stores of cells that aren't in memory by SSA values, in all blocks of a sweep. Records the
    /// final blocks of the sweep, with the values of cells at their ends. Drops operations that only update counters.
    fn lower(&mut self, postorder: &[u32], to: u32, first_exit: u32) {
        let mut arrivals = Vec::new();
        for &number in postorder.iter().rev() {
            let Some(block) = self.function.blocks.get_mut(number as usize) else { continue };
            let ops = std::mem::take(&mut block.ops);
            let exit = match block.end {
                SsaEnd::Exit { exit } => Some(exit),
                _ => None,
            };
            let mut stored = BTreeMap::new();
            let mut kept: Vec<SsaValue> = Vec::with_capacity(ops.len());
            for value in ops {
                if self.is_kept(value, &mut stored) {
                    kept.push(value);
                }
            }
            let is_end = |exit: u32| {
                let exit = self.function.exits.get(exit as usize);
                exit.is_some_and(|exit| exit.position == to && exit.calls.is_empty() && !exit.is_full)
            };
            match exit {
                Some(exit) if is_end(exit) && exit >= first_exit => arrivals.push((number, stored)),
                // At other exits, the cells are dead, but the caller may read the records of open calls.
                Some(_) => {
                    let is_store = |value: &SsaValue| match self.function.op(*value).map(|op| op.kind) {
                        Some(OpKind::Store(space)) => space != Space::References,
                        _ => false,
                    };
                    kept.retain(|value| !is_store(value));
                }
                None => {}
            }
            if let Some(block) = self.function.blocks.get_mut(number as usize) {
                block.ops = kept;
            }
        }
        let stops: HashSet<u32> = self.function.blocks.iter().filter_map(|block| block.end.stop()).collect();
        arrivals.retain(|(block, _)| !stops.contains(block));
        self.arrivals = arrivals;
    }

    /// Returns true if an operation stays in its block. `stored` has the values of the cells that earlier operations of
    /// the block have stored.
    fn is_kept(&mut self, value: SsaValue, stored: &mut BTreeMap<SpacedCell, SsaValue>) -> bool {
        let Some(op) = self.function.op(value) else { return true };
        let (kind, second, address) = (op.kind, op.operands.get(1).copied(), op.operands.first().copied());
        match (kind, literal_address(&self.function, op), address) {
            // Records of calls stay in memory.
            (OpKind::Load(Space::References) | OpKind::Store(Space::References), ..) => true,
            (OpKind::Load(space), Some(cell), _) => match self.place.memory.home((space, cell)) {
                CellHome::Working => true,
                CellHome::Value | CellHome::Start => {
                    let held = stored.get(&(space, cell)).copied();
                    let held = held.unwrap_or_else(|| self.at_turn((space, cell)));
                    self.loads.push((value, held));
                    false
                }
            },
            (OpKind::Load(space), None, Some(address)) => {
                let range = range_at_uses(&self.function, address);
                if self.place.memory.home_of(space, range) == CellHome::Start {
                    self.function.read_start(value);
                }
                true
            }
            (OpKind::Store(space), Some(cell), _) => match (self.place.memory.home((space, cell)), second) {
                (CellHome::Value, Some(second)) => {
                    stored.insert((space, cell), second);
                    false
                }
                _ => true,
            },
            (OpKind::CountDiscarded, ..) => self.keeps_discards,
            (OpKind::CountErased(_) | OpKind::CountDropped, ..) => false,
            _ => true,
        }
    }
}

/// Returns the space of the start state that corresponds to a space of working memory.
pub(super) fn start_space(space: Space) -> Space {
    match space.class() {
        Class::Int => Space::StartInts,
        Class::Real => Space::StartReals,
    }
}
