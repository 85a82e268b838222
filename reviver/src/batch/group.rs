//! SIMD groups of lanes on a CPU core. If a group is abandoned, its lanes run alone, so results of a lane don't
//! depend on its neighbors. Groups compute derivatives only.

use std::ops::Range;
use std::sync::Arc;

use reviver_compile::group::call::{GroupCall, GroupEnd, GroupMemory};
use reviver_isa::instruction::Class;
use reviver_memory::ask;
use reviver_vm::allocation::{self, OutOfMemory};
use reviver_vm::differentiate::evidence::MOST_ROWS;
use reviver_vm::differentiate::group::{GROUP, InGroup};

use super::order::LaneOrder;
use super::plan::{LanePlan, LossColumn};
use crate::end_to_end::run_budget;
use crate::loss::LossCell;
use crate::shared::GroupKey;
use crate::workspace::Workspace;

/// Maximum number of group calls to compile. This number limits the time for compiling.
const MOST_CALLS: usize = 4;

/// Maximum number of values in the cells of a group. The memory of a larger group wouldn't fit into the cache. A lane
/// that runs alone needs a quarter of a group's memory.
const MOST_NUMBERS: usize = 1 << 18;

/// Minimum number of lanes in a block for which compiling group functions saves time. Builds with assertions use
/// groups whenever possible, so that tests cover them.
const FEWEST_LANES: usize = if cfg!(debug_assertions) { GROUP } else { 1 << 14 };

/// Compiled group functions of a plan. Each function differentiates some consecutive losses in all lanes of a group.
#[derive(Debug)]
pub(super) struct PlanGroups {
    /// For each run of consecutive losses: the index of the first loss, and its group call.
    group_calls: Vec<(usize, Arc<GroupCall>)>,
    /// Indices of the input columns, in the order of their cells.
    columns: Vec<usize>,
}

impl PlanGroups {
    /// Returns true if a block of `lanes` lanes is long enough for compiling group functions.
    pub fn pays_off(lanes: usize) -> bool {
        lanes >= FEWEST_LANES
    }

    /// Compiles the group functions. Returns `None` if groups can't run the plan, or would need too much memory.
    pub fn new(plan: &LanePlan) -> Option<PlanGroups> {
        if plan.task.is_dual() {
            return None;
        }
        let shared = &plan.executable.shared;
        let together: Vec<(usize, &[LossCell])> =
            plan.together(LossCell::turns_with).flat_map(in_rows).collect();
        let (ints, reals) = (shared.begin.ints.len(), shared.begin.reals.len());
        let numbers = |(_, losses): &(usize, &[LossCell])| GROUP * (2 * ints + reals * (2 + losses.len()));
        if !(1..=MOST_CALLS).contains(&together.len())
            || together.iter().map(numbers).sum::<usize>() > MOST_NUMBERS
        {
            return None;
        }
        // With sorted cells, compiled code can be reused for any order of the input columns.
        let mut input_cells: Vec<(Class, usize, usize)> =
            plan.inputs.iter().enumerate().map(|(n, cell)| (cell.class, cell.cell, n)).collect();
        input_cells.sort_unstable();
        let columns = input_cells.iter().map(|&(_, _, column)| column).collect();
        let input_cells: Vec<(Class, usize)> =
            input_cells.iter().map(|&(class, cell, _)| (class, cell)).collect();
        let mut group_calls = Vec::new();
        for (first, losses) in together {
            let turn = losses.first()?.shared.turn;
            let rows = losses.iter().map(|loss| loss.seeds.iter().map(|seed| seed.cell).collect()).collect();
            group_calls
                .push((first, shared.group_call(&GroupKey { turn, rows, inputs: input_cells.clone() })?));
        }
        Some(PlanGroups { group_calls, columns })
    }
}

/// SIMD groups of one thread. Results are buffered, so that several groups are written to a column at once.
#[derive(Debug)]
pub(super) struct ThreadGroups<'g> {
    groups: &'g PlanGroups,
    /// Memory of each group call.
    memories: Vec<GroupMemory>,
    most_steps: u64,
    /// Number of groups begun since the chunk was last reordered.
    begun: usize,
    /// Number of the groups counted in `begun` that diverged or were abandoned.
    undone: usize,
    /// Permutation of the chunk's rows. A place is a position in this order.
    order: LaneOrder,
    /// True if groups diverged in every order of this chunk that was tried.
    is_hopeless: bool,
    input_rows: InputRows,
    kept: KeptRows,
}

/// Outcome for the first lanes of a range: their results are buffered (`Done`), or they must run alone (`Alone`). The
/// field is the number of these lanes.
pub(super) enum GroupLanes {
    Done(usize),
    Alone(usize),
}

/// Minimum number of unfinished groups before the remaining lanes are reordered. In addition, more than half of the
/// groups must be unfinished.
const MANY: usize = if cfg!(debug_assertions) { 1 } else { 8 };

impl<'g> ThreadGroups<'g> {
    /// Creates the groups of a thread. Their lanes start with the state of `call`, except for lane inputs. Returns
    /// `None` if groups can't start in this state, or if there is no memory for them.
    pub fn new(groups: &'g PlanGroups, plan: &LanePlan, call: &Workspace) -> Option<ThreadGroups<'g>> {
        let memory = |(first, group_calls): &(usize, Arc<GroupCall>)| {
            let own = plan.losses.get(*first..*first + group_calls.rows())?;
            let seeds = own.iter().map(|loss| loss.seeds.to_vec()).collect();
            group_calls.memory(&call.inputs.start, seeds).ok().flatten()
        };
        let memories = groups.group_calls.iter().map(memory);
        let memories = memories.collect::<Option<Vec<_>>>()?;
        let most_steps = run_budget(&call.machine, call.most_steps);
        let input_rows = InputRows::new(plan.inputs.len()).ok()?;
        let kept = KeptRows::new(plan.results.len()).ok()?;
        let order = LaneOrder::new(plan);
        Some(ThreadGroups {
            groups,
            memories,
            most_steps,
            begun: 0,
            undone: 0,
            order,
            is_hopeless: false,
            input_rows,
            kept,
        })
    }

    /// Begins a chunk of `lanes` rows.
    pub fn begin(&mut self, lanes: usize, inputs: &[&[u64]]) {
        (self.begun, self.undone, self.is_hopeless) = (0, 0, false);
        (self.input_rows.places, self.kept.rows) = (0..0, 0);
        self.order.begin(lanes, inputs);
    }

    /// Returns the row at a place.
    pub fn row(&self, place: usize) -> usize {
        self.order.row(place)
    }

    /// Reorders the rows from a place on, if most groups in the current order were unfinished.
    pub fn reorder(&mut self, place: usize, lanes: usize, inputs: &[&[u64]]) {
        if self.is_hopeless || self.undone < MANY || self.undone * 2 <= self.begun {
            return;
        }
        self.is_hopeless = !self.order.change(place, lanes, inputs);
        (self.begun, self.undone, self.input_rows.places) = (0, 0, 0..0);
    }

    /// Executes the lanes at the first of `places` as a group, and buffers their results. If that isn't possible,
    /// returns the number of lanes that must run alone.
    pub fn carry_out(&mut self, plan: &LanePlan, places: Range<usize>, inputs: &[&[u64]]) -> GroupLanes {
        if self.is_hopeless {
            return GroupLanes::Alone(places.len());
        }
        self.input_rows.read(&places, &self.order, inputs);
        let mut lanes = places.len().min(GROUP);
        // A single lane is faster alone than in a group.
        while lanes > 1 {
            self.begun += 1;
            let end = self.go(plan, places.start, lanes);
            self.undone += usize::from(end != GroupEnd::Done);
            match end {
                GroupEnd::Done => {
                    self.kept.add(places.start, lanes);
                    return GroupLanes::Done(lanes);
                }
                GroupEnd::Diverged(first) => lanes = first.min(lanes - 1),
                GroupEnd::GivenUp => return GroupLanes::Alone(lanes),
            }
        }
        GroupLanes::Alone(lanes)
    }

    /// Runs a group through all group calls. If there are fewer lanes than the group has, the last lane is
    /// repeated.
    fn go(&mut self, plan: &LanePlan, place: usize, lanes: usize) -> GroupEnd {
        for ((first, group_calls), memory) in self.groups.group_calls.iter().zip(&mut self.memories) {
            for (n, &column) in self.groups.columns.iter().enumerate() {
                memory.give(n, in_group(self.input_rows.of(column, place, lanes)));
            }
            let kept = &mut self.kept;
            let end = group_calls.run(memory, self.most_steps, |n, gradient| {
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

    /// Returns true if the buffered results must be written before a group begins at `place`.
    pub fn is_full(&self, place: usize) -> bool {
        self.kept.is_full(place)
    }

    /// Writes the buffered results.
    pub fn write(&mut self, results: &mut [&mut [u64]]) {
        self.kept.write(&self.order, results);
    }
}

/// Splits losses with the same turning point into chunks, one for each group function. Each item has the index of the
/// chunk's first loss.
fn in_rows((first, losses): (usize, &[LossCell])) -> impl Iterator<Item = (usize, &[LossCell])> {
    (first..).step_by(MOST_ROWS).zip(losses.chunks(MOST_ROWS))
}

/// Returns the numbers of one cell in a group. The last number is repeated for missing lanes.
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

/// Number of rows in a buffer. Inputs are read, and results are written, for that many rows at once.
const KEPT: usize = 64;

/// Input numbers of the rows at consecutive places, read into contiguous memory.
#[derive(Debug)]
struct InputRows {
    places: Range<usize>,
    columns: Vec<[u64; KEPT]>,
}

impl InputRows {
    fn new(columns: usize) -> Result<InputRows, OutOfMemory> {
        Ok(InputRows { places: 0..0, columns: row_buffers(columns)? })
    }

    /// Reads the input numbers of the rows at `places`, as many as the buffer holds. Does nothing if enough rows for
    /// a whole group have already been read.
    fn read(&mut self, places: &Range<usize>, order: &LaneOrder, inputs: &[&[u64]]) {
        let group = places.start..places.end.min(places.start + GROUP);
        if self.places.start <= group.start && group.end <= self.places.end {
            return;
        }
        self.places = places.start..places.end.min(places.start + KEPT);
        for (own, column) in self.columns.iter_mut().zip(inputs) {
            if order.is_plain() {
                allocation::copy(own, column.get(self.places.clone()).unwrap_or_default());
                continue;
            }
            for (own, place) in own.iter_mut().zip(self.places.clone()) {
                *own = column.get(order.row(place)).copied().unwrap_or_default();
            }
        }
    }

    /// Returns the numbers of a column for `lanes` lanes from `place` on.
    fn of(&self, column: usize, place: usize, lanes: usize) -> &[u64] {
        let first = place - self.places.start;
        self.columns.get(column).and_then(|rows| rows.get(first..first + lanes)).unwrap_or_default()
    }
}

/// Allocates a zeroed buffer of `ROWS` rows for each of `columns` columns.
fn row_buffers<const ROWS: usize>(columns: usize) -> Result<Vec<[u64; ROWS]>, OutOfMemory> {
    ask::filled([0; ROWS], columns)
}

/// Buffered results of the rows at consecutive places.
#[derive(Debug)]
struct KeptRows {
    /// Place of the first buffered row.
    first: usize,
    rows: usize,
    /// Buffered rows of each column, plus space for one whole group after them.
    columns: Vec<[u64; KEPT + GROUP]>,
}

impl KeptRows {
    fn new(columns: usize) -> Result<KeptRows, OutOfMemory> {
        Ok(KeptRows { first: 0, rows: 0, columns: row_buffers(columns)? })
    }

    fn is_full(&self, place: usize) -> bool {
        self.rows >= KEPT || self.rows > 0 && self.first + self.rows != place
    }

    /// Stores the numbers of a group in a column, after the rows that are buffered already.
    #[inline]
    fn put(&mut self, column: usize, bits: InGroup<u64>) {
        let kept = self.columns.get_mut(column).and_then(|column| column.get_mut(self.rows..));
        kept.and_then(|rows| rows.first_chunk_mut()).into_iter().for_each(|rows| *rows = bits);
    }

    /// Counts the rows of a group as buffered: `lanes` rows from `place` on, whose numbers [`KeptRows::put`] has
    /// stored.
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
