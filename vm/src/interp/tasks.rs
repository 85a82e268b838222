//! Tasks in the interpreter, which executes them one after the other. Before the first task begins, the references of
//! all tasks are checked for conflicts. In gradient mode, the adjoints of cells that a task only reads are accumulated
//! separately for each task. These shares are then added in the order of the tasks. Exact sums don't depend on the
//! order of their terms. So for exact numbers each task adds to the adjoints directly, and going back needs no history.
//! The module uses no threads.

use std::collections::HashSet;

use reviver_flow::{GlobalCells, TaskFork};
use reviver_isa::arith::Arith;
use reviver_isa::fault::Eval;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Parameter, Passing, Rank};
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Arithmetic, Reals, Words};
use reviver_isa::update::{OperandShape, Update};

use crate::history::{Cost, History, KeptSlot};
use crate::interp::address::Addresses;
use crate::interp::mode::Plain;
use crate::interp::op::{Kind, Op};
use crate::interp::resolve::calls::ResolvedCall;
use crate::interp::touched::TouchedByTasks;
use crate::interp::{LoopExit, Run, effective_direction};
use crate::program::{FORWARD, Program};
use crate::reports::Reports;
use crate::state::lanes::Lanes;
use crate::state::{DeferredAdjoint, Part, Reference, State};
use crate::trap::Cause;
use crate::travel::Interval;

impl<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>> Run<'_, W, R, H> {
    /// Executes the step over a `fork` or a `join`. Fails at the start of tasks that conflict.
    pub(super) fn bound_tasks(&mut self, op: &Op) -> Result<(), Cause> {
        let at = self.program.instruction_at(self.counter, self.direction);
        let fork = self.program.flow().fork_at(at).filter(|fork| op.update == Update::Fork && !fork.is_apart);
        if let Some(fork) = fork.filter(|_| keeps(Rule::TasksAreDistinct)) {
            self.check_tasks_distinct(fork)?;
        }
        self.counter += 1;
        Ok(())
    }

    /// Fails if two of the tasks that begin at the current position share cells, and one of the two tasks may change
    /// the shared cells.
    fn check_tasks_distinct(&mut self, fork: &TaskFork) -> Result<(), Cause> {
        let mut touched = TouchedByTasks::default();
        for slot in &fork.call_inputs {
            // An index out of bounds is reported later, by the call that uses it.
            if let Ok(cell) = self.scope().slot(slot, &self.state.ints) {
                touched.add_call_input(cell as u32);
            }
        }
        self.survey(&mut touched)?;
        match touched.conflict()? {
            Some((first, second)) => Err(Cause::TasksShare { first, second }),
            None => Ok(()),
        }
    }

    /// Runs through the task region without executing the calls, notes the references of each call, and runs back to
    /// the start of the region.
    fn survey(&mut self, touched: &mut TouchedByTasks) -> Result<(), Cause> {
        let mut reports = Reports::default();
        let mut walk = Run {
            program: self.program,
            numbers: self.numbers,
            tolerance: self.tolerance,
            state: &mut *self.state,
            history: &mut H::nothing(),
            reports: &mut reports,
            travel: self.travel,
            left: u64::MAX,
            direction: self.direction,
            counter: self.counter + 1,
            track: self.track,
            window: &mut *self.window,
        };
        let outcome = walk.over_tasks(Some(touched));
        walk.turn();
        let back = walk.over_tasks(None);
        outcome.and(back)
    }

    /// Reverses the direction at the current position.
    fn turn(&mut self) {
        let position = self.program.position(self.counter, self.direction);
        self.travel = self.travel.reversed();
        self.direction = effective_direction(self.state.inverted, self.travel);
        self.counter = self.program.counter(position, self.direction);
    }

    /// Runs to the closing bound of the task region without executing the calls, or to a step that traps. Such a trap
    /// isn't reported: the actual run will find it, unless a task traps earlier.
    fn over_tasks(&mut self, mut touched: Option<&mut TouchedByTasks>) -> Result<(), Cause> {
        loop {
            self.left = u64::MAX;
            let clock = self.clock(self.track);
            if !matches!(self.cells_in::<Plain>(clock, false), LoopExit::Structural) {
                return Ok(());
            }
            let op = self.program.code[self.direction][self.counter];
            if !matches!(op.kind, Kind::Call | Kind::Uncall) {
                return Ok(());
            }
            if let Some(touched) = touched.as_deref_mut()
                && !self.note_task(&op, touched)?
            {
                return Ok(());
            }
            self.counter += 1;
        }
    }

    /// Notes the references of a call; returns false if they can't be determined.
    fn note_task(&mut self, op: &Op, touched: &mut TouchedByTasks) -> Result<bool, Cause> {
        let (site, call) = self.program.call(op.a);
        let start = self.state.references.len();
        let is_found = self.refer(site, call).is_ok();
        let references = self.state.references.split_off(start);
        if !is_found {
            return Ok(false);
        }
        touched.begin(self.program.instruction_at(self.counter, self.direction));
        for ((n, reference), parameter) in (0..).zip(references).zip(self.program.parameters(call.callee)) {
            let cells = whole(parameter, reference);
            touched.touch(Some(n), parameter.class, cells, parameter.passing == Passing::InOut)?;
        }
        for cells in self.program.flow().named_by(call.callee) {
            touched.touch(None, cells.class, reference_to(cells), cells.may_change)?;
        }
        Ok(true)
    }

    /// Returns the real cells that a call only reads. The references of the call's arguments begin at index `start`.
    pub(super) fn only_read(&self, call: &ResolvedCall, start: usize) -> Vec<u32> {
        only_read(self.program, call, self.state.references.get(start..).unwrap_or_default())
    }

    /// Returns the real cells that the task of the innermost open call only reads. The list is empty if this call isn't
    /// a task, while gradient mode is off, and in exact number systems.
    pub(super) fn only_read_by_task(&self) -> Vec<u32> {
        let Some(record) = self.state.calls.last() else { return Vec::new() };
        let (_, call) = self.program.call(self.program.code[FORWARD][record.site as usize].a);
        let is_in_mode = self.state.mode() || record.part != Part::Whole;
        if !call.is_task || !is_in_mode || R::EXACT {
            return Vec::new();
        }
        self.only_read(call, self.state.frame.references as usize)
    }

    /// Defers the adjoints of cells that a task only reads, so that the task accumulates its share from 0. If the step
    /// undoes the end of the task, the share and the deferred adjoints are restored from the history.
    pub(super) fn defer(&mut self, cells: &[u32], interval: Interval) {
        if !keeps(Rule::TasksAddUpSeparately) {
            return;
        }
        let depth = self.state.calls.len() as u32;
        if H::ACTIVE && self.travel.restores(interval) && self.restore_deferred(depth, interval) {
            return;
        }
        let Some(adjoints) = &mut self.state.adjoints else { return };
        for &cell in cells {
            let adjoint = std::mem::take(&mut adjoints.cells[cell as usize]);
            if adjoint != R::Bits::default() {
                adjoints.deferred.push(DeferredAdjoint { depth, cell, adjoint });
            }
        }
    }

    /// Restores shares and deferred adjoints from the history; returns true if it has records of them.
    fn restore_deferred(&mut self, depth: u32, interval: Interval) -> bool {
        let Some(adjoints) = &mut self.state.adjoints else { return false };
        let mut is_told = false;
        while let Some(waited) = self.history.latest(interval).filter(|kept| kept.slot == KeptSlot::Deferred)
        {
            self.history.take(interval);
            let share = self.history.take(interval);
            if let Some(cell) = adjoints.cells.get_mut(waited.cell as usize) {
                *cell = share.map_or_else(R::Bits::default, |share| share.bits);
            }
            if waited.bits != R::Bits::default() {
                adjoints.deferred.push(DeferredAdjoint { depth, cell: waited.cell, adjoint: waited.bits });
            }
            is_told = true;
        }
        is_told
    }

    /// Computes, for each cell that a task only reads, the adjoint that the cell has after the end of the task.
    ///
    /// # Errors
    /// Fails if the number system can't represent a sum.
    pub(super) fn joined(&self) -> Result<Vec<JoinedAdjoint<R::Bits>>, Cause> {
        let Some(adjoints) = &self.state.adjoints else { return Ok(Vec::new()) };
        let depth = (self.state.calls.len() as u32).saturating_sub(1);
        let own = adjoints.deferred.partition_point(|deferred| deferred.depth < depth);
        let waited = |cell: u32| {
            let found = adjoints
                .deferred
                .get(own..)
                .unwrap_or_default()
                .binary_search_by_key(&cell, |deferred| deferred.cell);
            found.map_or_else(|_| R::Bits::default(), |n| adjoints.deferred[own + n].adjoint)
        };
        let join = |cell: u32| {
            let (share, waited) = (adjoints.cells[cell as usize], waited(cell));
            let sum = sum_of_shares(self.numbers, waited, share).map_err(Cause::DerivativeOutOfRange)?;
            Ok(JoinedAdjoint { cell, share, waited, sum })
        };
        self.only_read_by_task().into_iter().map(join).collect()
    }

    /// Ends a task: its shares are added to the deferred adjoints.
    pub(super) fn join_adjoints(&mut self, joined: &[JoinedAdjoint<R::Bits>], interval: Interval) {
        let depth = self.state.calls.len() as u32;
        if let Some(adjoints) = &mut self.state.adjoints {
            let own = adjoints.deferred.partition_point(|deferred| deferred.depth < depth);
            adjoints.deferred.truncate(own);
        }
        // Deferred adjoints are restored in the order of the cells, so they are recorded in the opposite
        // order.
        for &JoinedAdjoint { cell, share, waited, sum } in joined.iter().rev() {
            if let Some(adjoints) = &mut self.state.adjoints {
                adjoints.cells[cell as usize] = sum;
            }
            if [share, waited] != [R::Bits::default(); 2] {
                let (mut journal, _, _) = self.journal(interval);
                journal.keep(KeptSlot::Adjoint, cell as usize, share, Cost::default());
                journal.keep(KeptSlot::Deferred, cell as usize, waited, Cost::default());
            }
        }
    }
}

/// Returns the sum of a deferred adjoint and the share that a task has accumulated.
///
/// # Errors
/// Fails if the number system can't represent the sum.
pub(crate) fn sum_of_shares<W: Words, R: Reals<Bits: Lanes>>(
    numbers: Arithmetic<W, R>,
    waited: R::Bits,
    share: R::Bits,
) -> Eval<R::Bits> {
    let (reals, zero) = (numbers.reals, R::Bits::default());
    match (waited == zero, share == zero) {
        (true, _) => Ok(share),
        (false, true) => Ok(waited),
        (false, false) => {
            let sum = numbers.add(reals.of_bits(waited), reals.of_bits(share));
            sum.and_then(|sum| reals.admit(sum)).map(|sum| reals.to_bits(sum))
        }
    }
}

/// Returns the real cells that a task only reads, through arguments or by name, sorted and without
/// duplicates.
pub(crate) fn only_read(program: &Program, call: &ResolvedCall, references: &[Reference]) -> Vec<u32> {
    let named = program.flow().named_by(call.callee);
    let read_by_name = named.iter().filter(|cells| cells.class == Class::Real && !cells.may_change);
    let read = passed_as(program, call, references, Class::Real, Passing::In);
    let read = read.chain(read_by_name.map(reference_to)).flat_map(Reference::cells);
    let mut cells: Vec<u32> = read.filter(|cell| !program.pool.contains(&(*cell as usize))).collect();
    cells.sort_unstable();
    cells.dedup();
    // A global that the task only reads by name may also be passed to it as `inout`.
    if !named.is_empty() {
        let changed = passed_as(program, call, references, Class::Real, Passing::InOut);
        let changed: HashSet<u32> = changed.flat_map(Reference::cells).collect();
        cells.retain(|cell| !changed.contains(cell));
    }
    cells
}

/// Returns the real cells with adjoints that change at a task's boundary in gradient mode. These are the
/// cells that the task only reads, if the instruction at `at` enters a task or leaves the open one. For other
/// instructions there are none.
pub fn only_read_at_bound(program: &Program, state: &State, at: u32) -> Vec<u32> {
    let Some(instruction) = program.module().code.get(at as usize) else { return Vec::new() };
    if program.module().real.is_exact() {
        return Vec::new();
    }
    match instruction.update.shape() {
        OperandShape::Call if state.mode() => {
            let (site, call) = program.call(program.code[FORWARD][at as usize].a);
            if !call.is_task {
                return Vec::new();
            }
            let scope = Addresses { flow: program.flow(), frame: state.frame, references: &state.references };
            let passed = (0..).zip(&site.arguments);
            let found = passed.map(|(n, passed)| scope.reference(n, passed, &state.ints));
            // If an argument is out of bounds, the step traps.
            found
                .collect::<Result<Vec<_>, _>>()
                .map_or_else(|_| Vec::new(), |all| only_read(program, call, &all))
        }
        OperandShape::Boundary => {
            let Some(record) = state.calls.last() else { return Vec::new() };
            let (_, call) = program.call(program.code[FORWARD][record.site as usize].a);
            if !call.is_task || !(state.mode() || record.part != Part::Whole) {
                return Vec::new();
            }
            only_read(
                program,
                call,
                state.references.get(state.frame.references as usize..).unwrap_or_default(),
            )
        }
        _ => Vec::new(),
    }
}

/// Returns the cells of a class that a task may change, through arguments or by name.
pub(crate) fn changed(
    program: &Program,
    call: &ResolvedCall,
    references: &[Reference],
    class: Class,
) -> Vec<Reference> {
    let named = program.flow().named_by(call.callee).iter();
    let named = named.filter(|cells| cells.class == class && cells.may_change).map(reference_to);
    passed_as(program, call, references, class, Passing::InOut).chain(named).collect()
}

/// Returns the references passed for parameters with this class and passing mode.
fn passed_as<'p>(
    program: &'p Program,
    call: &ResolvedCall,
    references: &'p [Reference],
    class: Class,
    passing: Passing,
) -> impl Iterator<Item = Reference> + use<'p> {
    let passed = program.parameters(call.callee).iter().zip(references);
    let of_kind =
        passed.filter(move |(parameter, _)| parameter.class == class && parameter.passing == passing);
    of_kind.map(|(parameter, reference)| whole(parameter, *reference))
}

/// The adjoint of a cell that a task has only read, at the end of the task.
#[derive(Clone, Copy)]
pub(super) struct JoinedAdjoint<B> {
    cell: u32,
    /// The share that the task has accumulated.
    share: B,
    /// The deferred adjoint from before the task.
    waited: B,
    sum: B,
}

/// Returns all cells of an argument. The reference to a matrix has only the first cell of each row.
fn whole(parameter: &Parameter, reference: Reference) -> Reference {
    if parameter.rank == Rank::Matrix { reference.flattened() } else { reference }
}

fn reference_to(cells: &GlobalCells) -> Reference {
    Reference { base: cells.base, length: cells.length, stride: 1 }
}
