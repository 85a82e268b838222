//! Lanes that go side by side on a core: groups of a few, by code that makes a step for all of them. A group that has to be given up leaves its lanes to
//! go alone, so that nothing depends on who lies beside whom. Derivatives only.

use std::ops::Range;
use std::sync::Arc;

use reviver_compile::group::room::GroupRoom;
use reviver_compile::group::routes::{GroupEnd, GroupRoutes};
use reviver_isa::instruction::Class;
use reviver_memory::ask;
use reviver_vm::differentiate::group::{GROUP, InGroup};
use reviver_vm::room::{self, OutOfMemory};

use super::order::LaneOrder;
use super::plan::{LanePlan, LossColumn};
use crate::api::executable::GroupKey;
use crate::api::gradient::SLACK;
use crate::api::loss::LossCell;
use crate::api::trip::in_one_go;
use crate::api::workspace::Workspace;

/// The most ways for which code is made, since each takes time.
const MOST_WAYS: usize = 4;

/// The most numbers in the cells of a group: more of them wouldn't stay near the processor, and lanes alone take a quarter of their memory.
const MOST_NUMBERS: usize = 1 << 18;

/// Fewer lanes don't make up for the time that code for groups takes. Where there are assertions groups are made wherever they can be, so that tests go
/// through them.
const FEWEST_LANES: usize = if cfg!(debug_assertions) { GROUP } else { 1 << 14 };

/// The code of a plan for groups.
#[derive(Debug)]
pub(super) struct PlanGroups {
    /// For some losses that follow each other: the number of the first one, and their ways.
    ways: Vec<(usize, Arc<GroupRoutes>)>,
    /// The columns that lanes are given, in the order of their cells.
    columns: Vec<usize>,
}

impl PlanGroups {
    /// Whether code pays for itself with so many lanes.
    pub fn is_worth_it(lanes: usize) -> bool {
        lanes >= FEWEST_LANES
    }

    /// Compiles it. None where groups can't go there, or take too much.
    pub fn new(plan: &LanePlan) -> Option<PlanGroups> {
        let shared = &plan.executable.shared;
        let together: Vec<(usize, &[LossCell])> = plan.together(LossCell::turns_with).collect();
        let (ints, reals) = (shared.begin.ints.len(), shared.begin.reals.len());
        let numbers = |(_, losses): &(usize, &[LossCell])| GROUP * (2 * ints + reals * (2 + losses.len()));
        if !(1..=MOST_WAYS).contains(&together.len())
            || together.iter().map(numbers).sum::<usize>() > MOST_NUMBERS
        {
            return None;
        }
        // Code that is there already serves whatever order columns come in.
        let mut given: Vec<(Class, usize, usize)> =
            plan.inputs.iter().enumerate().map(|(n, cell)| (cell.class, cell.cell, n)).collect();
        given.sort_unstable();
        let columns = given.iter().map(|&(_, _, column)| column).collect();
        let given: Vec<(Class, usize)> = given.iter().map(|&(class, cell, _)| (class, cell)).collect();
        let mut ways = Vec::new();
        for (first, losses) in together {
            let alone = losses.first()?.shared.routes()?;
            let rows = losses.iter().map(|loss| loss.seeds.iter().map(|seed| seed.cell).collect()).collect();
            ways.push((first, shared.groups(alone, GroupKey { rows, given: given.clone() })?));
        }
        Some(PlanGroups { ways, columns })
    }
}

/// Groups of one thread. What they come to is kept until there is some of it, so that columns are written in stretches.
#[derive(Debug)]
pub(super) struct ThreadGroups<'g> {
    groups: &'g PlanGroups,
    /// For each of their ways.
    rooms: Vec<GroupRoom>,
    most_steps: u64,
    /// How many were begun in this order of a piece, and how many of them weren't done: they parted, or were given up.
    begun: usize,
    undone: usize,
    /// The rows of the piece. Places below are places in this order.
    order: LaneOrder,
    /// Whether no order of this piece is any good for groups.
    is_hopeless: bool,
    given: GivenRows,
    kept: KeptRows,
}

/// So many lanes, of a place and behind, have their results now, or have to go alone.
pub(super) enum GroupLanes {
    Done(usize),
    Alone(usize),
}

/// Where so many groups of an order weren't done, and more than half of them, the lanes behind them are put into another one.
const MANY: usize = if cfg!(debug_assertions) { 1 } else { 8 };

impl<'g> ThreadGroups<'g> {
    /// Of lanes that begin as a workspace does, but for what they are given. None where they can't, or where there is no memory for groups.
    pub fn new(groups: &'g PlanGroups, plan: &LanePlan, call: &Workspace) -> Option<ThreadGroups<'g>> {
        let room = |(first, ways): &(usize, Arc<GroupRoutes>)| {
            let own = plan.losses.get(*first..*first + ways.rows())?;
            let seeds = own.iter().map(|loss| loss.seeds.to_vec()).collect();
            ways.room(&call.inputs.start, seeds).ok().flatten()
        };
        let rooms = groups.ways.iter().map(room);
        let rooms = rooms.collect::<Option<Vec<_>>>()?;
        let most_steps = in_one_go(&call.machine, call.most_steps);
        let given = GivenRows::new(plan.inputs.len()).ok()?;
        let kept = KeptRows::new(plan.results.len()).ok()?;
        let order = LaneOrder::new(plan);
        Some(ThreadGroups {
            groups,
            rooms,
            most_steps,
            begun: 0,
            undone: 0,
            order,
            is_hopeless: false,
            given,
            kept,
        })
    }

    /// Begins a piece of so many rows.
    pub fn begin(&mut self, lanes: usize, inputs: &[&[u64]]) {
        (self.begun, self.undone, self.is_hopeless) = (0, 0, false);
        (self.given.places, self.kept.rows) = (0..0, 0);
        self.order.begin(lanes, inputs);
    }

    /// The row at a place.
    pub fn row(&self, place: usize) -> usize {
        self.order.row(place)
    }

    /// Puts the rows from a place on into another order where groups of them mostly weren't done.
    pub fn reorder(&mut self, place: usize, lanes: usize, inputs: &[&[u64]]) {
        if self.is_hopeless || self.undone < MANY || self.undone * 2 <= self.begun {
            return;
        }
        self.is_hopeless = !self.order.change(place, lanes, inputs);
        (self.begun, self.undone, self.given.places) = (0, 0, 0..0);
    }

    /// Carries out the first ones of some lanes, whose results are kept, or says which ones have to go alone.
    pub fn carry_out(&mut self, plan: &LanePlan, places: Range<usize>, inputs: &[&[u64]]) -> GroupLanes {
        if self.is_hopeless {
            return GroupLanes::Alone(places.len());
        }
        self.given.read(&places, &self.order, inputs);
        let mut lanes = places.len().min(GROUP);
        // One lane is quicker alone.
        while lanes > 1 {
            self.begun += 1;
            let end = self.go(plan, places.start, lanes);
            self.undone += usize::from(end != GroupEnd::Done);
            match end {
                GroupEnd::Done => {
                    self.kept.add(places.start, lanes);
                    return GroupLanes::Done(lanes);
                }
                GroupEnd::Parted(first) => lanes = first.min(lanes - 1),
                GroupEnd::GivenUp => return GroupLanes::Alone(lanes),
            }
        }
        GroupLanes::Alone(lanes)
    }

    /// Has a group go all ways, whose last lanes are the last one again where there are fewer.
    fn go(&mut self, plan: &LanePlan, place: usize, lanes: usize) -> GroupEnd {
        for ((first, ways), room) in self.groups.ways.iter().zip(&mut self.rooms) {
            for (n, &column) in self.groups.columns.iter().enumerate() {
                room.give(n, in_group(self.given.of(column, place, lanes)));
            }
            let kept = &mut self.kept;
            let end = ways.run(room, (self.most_steps, SLACK), |n, gradient| {
                for &(column, source) in plan.columns_of(first + n) {
                    kept.put(
                        column,
                        match source {
                            LossColumn::Value(seeded) => {
                                gradient.values.get(seeded).copied().unwrap_or_default()
                            }
                            LossColumn::Adjoint(cell) => gradient.adjoint(cell),
                        },
                    );
                }
            });
            if end != GroupEnd::Done {
                return end;
            }
        }
        GroupEnd::Done
    }

    /// Whether what is kept has to be written before a group begins at a place.
    pub fn is_full(&self, place: usize) -> bool {
        self.kept.is_full(place)
    }

    /// Writes what is kept.
    pub fn write(&mut self, results: &mut [&mut [u64]]) {
        self.kept.write(&self.order, results);
    }
}

/// The numbers of a group; the last one stands for those that aren't there.
#[inline]
fn in_group(numbers: &[u64]) -> InGroup<u64> {
    match numbers.first_chunk() {
        Some(numbers) => *numbers,
        None => {
            let last = numbers.last().copied().unwrap_or_default();
            std::array::from_fn(|lane| numbers.get(lane).copied().unwrap_or(last))
        }
    }
}

/// So many rows are read at a time, and kept before they are written.
const KEPT: usize = 64;

/// What rows at places that follow each other are given.
#[derive(Debug)]
struct GivenRows {
    places: Range<usize>,
    columns: Vec<[u64; KEPT]>,
}

impl GivenRows {
    fn new(columns: usize) -> Result<GivenRows, OutOfMemory> {
        Ok(GivenRows { places: 0..0, columns: stretches(columns)? })
    }

    /// Reads the rows at the first ones of some places, unless a group of them is there.
    fn read(&mut self, places: &Range<usize>, order: &LaneOrder, inputs: &[&[u64]]) {
        let group = places.start..places.end.min(places.start + GROUP);
        if self.places.start <= group.start && group.end <= self.places.end {
            return;
        }
        self.places = places.start..places.end.min(places.start + KEPT);
        for (own, column) in self.columns.iter_mut().zip(inputs) {
            if order.is_plain() {
                room::copy(own, column.get(self.places.clone()).unwrap_or_default());
                continue;
            }
            for (own, place) in own.iter_mut().zip(self.places.clone()) {
                *own = column.get(order.row(place)).copied().unwrap_or_default();
            }
        }
    }

    /// The numbers of a column for so many lanes, of a place and behind.
    fn of(&self, column: usize, place: usize, lanes: usize) -> &[u64] {
        let first = place - self.places.start;
        self.columns.get(column).and_then(|rows| rows.get(first..first + lanes)).unwrap_or_default()
    }
}

/// So many zeros for each of some columns.
fn stretches<const ROWS: usize>(columns: usize) -> Result<Vec<[u64; ROWS]>, OutOfMemory> {
    ask::filled([0; ROWS], columns)
}

/// Results of rows at places that follow each other.
#[derive(Debug)]
struct KeptRows {
    /// The first place.
    first: usize,
    rows: usize,
    /// Of each column as many as are kept, and room for a whole group behind them.
    columns: Vec<[u64; KEPT + GROUP]>,
}

impl KeptRows {
    fn new(columns: usize) -> Result<KeptRows, OutOfMemory> {
        Ok(KeptRows { first: 0, rows: 0, columns: stretches(columns)? })
    }

    fn is_full(&self, place: usize) -> bool {
        self.rows >= KEPT || self.rows > 0 && self.first + self.rows != place
    }

    /// Puts the numbers of a group behind those that are kept.
    #[inline]
    fn put(&mut self, column: usize, bits: InGroup<u64>) {
        let kept = self.columns.get_mut(column).and_then(|column| column.get_mut(self.rows..));
        kept.and_then(|rows| rows.first_chunk_mut()).into_iter().for_each(|rows| *rows = bits);
    }

    /// Keeps what was put for so many lanes, of a place and behind.
    fn add(&mut self, place: usize, lanes: usize) {
        if self.rows == 0 {
            self.first = place;
        }
        self.rows += lanes;
    }

    fn write(&mut self, order: &LaneOrder, results: &mut [&mut [u64]]) {
        let places = self.first..self.first + self.rows;
        for (kept, there) in self.columns.iter().zip(results) {
            let Some(kept) = kept.get(..self.rows) else { continue };
            if !order.is_plain() {
                for (&bits, place) in kept.iter().zip(places.clone()) {
                    there.get_mut(order.row(place)).into_iter().for_each(|there| *there = bits);
                }
            } else if let Some(there) = there.get_mut(places.clone()) {
                there.copy_from_slice(kept);
            }
        }
        self.rows = 0;
    }
}
