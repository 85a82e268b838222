//! Executes calls by compiled call functions, on memory that successive calls reuse.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use arrayvec::ArrayVec;
use reviver_isa::instruction::Class;
use reviver_vm::allocation::{self, OutOfMemory};
use reviver_vm::differentiate::SeededCell;
use reviver_vm::differentiate::evidence::{MOST_ROWS, SweepEvidence};
use reviver_vm::differentiate::seeds::SumSize;
use reviver_vm::travel::{Segment, Travel};
use reviver_vm::watch::{Rounding, Watch, Watcher};
use reviver_vm::{CheckLevel, Program, State};

use super::{CallFunction, CallGoal, CallTask, Lift};
use crate::backend::{Backend, Code};
use crate::compiled_run::{MOST_STEPS, RunPlan};
use crate::frames;
use crate::function::{Demands, FIRST_RECORD, ZerosAtEntry};
use crate::op::Input;
use crate::rows::AdjointRows;
use crate::run::{CellMemory, CodeOutcome, Job};
use crate::start::RunStart;

/// Compiled call function. It computes a run, or the gradients of one or more weighted sums of reals; the weights are
/// the seeds.
#[derive(Debug)]
pub struct CompiledCall {
    /// Number of the call, unique in this process.
    id: u64,
    program: Program,
    goal: CallGoal,
    plan: RunPlan,
    /// Zeros in the start state that the code relies on.
    zeros: ZerosAtEntry,
    /// The addresses of the reals that may have a seed, in ascending order. Each address comes with the index of the
    /// real's value among the results.
    seeded: Vec<(u32, usize)>,
    rows: AdjointRows,
    /// Number of coefficients of each real; 1 for plain reals.
    lanes: u32,
    end: u32,
    working: Vec<(Class, Range<u32>)>,
    adjoints: Vec<Range<u32>>,
    demands: Demands,
    record: u32,
    inputs: Vec<Input>,
    /// For each exit, true if the exit is taken because there is no space for a call.
    is_full: Vec<bool>,
    /// The number of out-of-line calls for which frames are allocated. It is doubled if a gradient call needs more
    /// frames.
    levels: AtomicU32,
    first_steps: u64,
    code: Box<dyn Code>,
}

/// Number of the next compiled call.
static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// Initial number of out-of-line calls with frames.
const FEW_LEVELS: u32 = 16;
/// Upper bound on the cells of all frames of out-of-line calls.
const MOST_LEVEL_CELLS: u32 = 1 << 20;

/// The reason why a call gave no result.
enum CallEnd {
    /// There was no frame for another out-of-line call. The whole call is repeated with more frames.
    Full,
    /// A check failed, or the reverse sweep isn't verified.
    NeedsMachine,
}

/// Report of a successful call. The values and adjoints are in the [`CallMemory`].
#[derive(Clone, Debug)]
pub struct CallReport {
    /// Number of steps of the primal sweep.
    pub steps: u64,
    /// Number of steps of the reverse sweep.
    pub steps_back: u64,
    /// The error bound of each row's sum ([`reviver_vm::differentiate::VerificationReport::loss_error`]), up to the
    /// first row that isn't verified. Unchecked code gives no bounds.
    pub loss_errors: ArrayVec<Option<f64>, MOST_ROWS>,
}

/// The memory of gradient calls.
#[derive(Debug, Default)]
pub struct CallMemory {
    ints: Vec<i64>,
    reals: Vec<u64>,
    adjoints: Vec<u64>,
    references: Vec<i64>,
    /// The bits of all seeded cells at the turning point, in the order of the code's results.
    results: Vec<u64>,
    /// The bits of each row's seeded cells at the turning point, row by row. `value_rows` has the index at which each
    /// row begins.
    values: Vec<u64>,
    /// All coefficients of the reals at the start, if the call computes on series.
    lifted_start: Vec<u64>,
    /// The adjoints after a call on series: first the coefficients 0 of all reals, then the coefficients 1, and so on.
    coefficients: Vec<u64>,
    value_rows: ArrayVec<usize, MOST_ROWS>,
    /// The number of the program's reals.
    own_reals: usize,
    /// The number of cells from one row of adjoints to the next.
    stride: usize,
    /// The number of coefficients of each real.
    lanes: usize,
    /// The call that the lists' lengths suit, with its number of out-of-line calls and of seeds. Another call of this
    /// kind needs no changes of lengths.
    suits: Option<(u64, u32, usize)>,
}

impl CompiledCall {
    /// Compiles a call function for the gradients of at most `rows` sums, with the turning point `turn`. `seeded` lists
    /// the reals that the sums may contain, each once. Returns `None` if a sweep needs a machine, if the sums can't
    /// share one pair of sweeps, or if `rows` exceeds [`MOST_ROWS`].
    pub fn new(
        program: &Program,
        backend: &impl Backend,
        (turn, level): (u32, CheckLevel),
        (seeded, rows): (&[usize], u32),
    ) -> Option<CompiledCall> {
        if !(1..=MOST_ROWS as u32).contains(&rows) {
            return None;
        }
        let seeded = addresses(seeded)?;
        let (goal, lift) = (CallGoal::Gradient, Lift::NONE);
        let task = CallTask { goal, turn, level, seeded: &seeded, rows, lift };
        CompiledCall::compiled(program, backend, task)
    }

    /// Compiles a call function that computes on series. With dual numbers, the adjoints of a gradient contain the
    /// product of the sum's Hessian with a direction. Returns `None` under the conditions of [`CompiledCall::new`], or
    /// if compiled code has no recurrence for a function of the program.
    pub fn on_series(
        program: &Program,
        backend: &impl Backend,
        (goal, turn): (CallGoal, u32),
        (seeded, lift): (&[usize], Lift),
    ) -> Option<CompiledCall> {
        let seeded = addresses(seeded)?;
        let level = CheckLevel::Checked;
        CompiledCall::compiled(
            program,
            backend,
            CallTask { goal, turn, level, seeded: &seeded, rows: 1, lift },
        )
    }

    fn compiled(program: &Program, backend: &impl Backend, task: CallTask) -> Option<CompiledCall> {
        let CallTask { goal, turn, level, seeded, lift, .. } = task;
        let function = CallFunction::build(program, task)?;
        let CallFunction { function, end, working, adjoints, rows, sweeps } = function;
        // The end of the record space is computed from the shorter record, so that neither sweep opens more calls than
        // there are frames.
        let record = sweeps.iter().map(|sweep| sweep.record).min().unwrap_or(0).max(1);
        let (demands, first_steps) = (function.demands, function.first_steps.into());
        let inputs = function.inputs().map(|(_, input)| input).collect();
        let is_full = function.exits.iter().map(|exit| exit.is_full).collect();
        let levels = AtomicU32::new(if function.demands.record == 0 { 0 } else { FEW_LEVELS });
        let plan = match goal {
            CallGoal::Run => RunPlan::whole(program, Travel::Forward, level),
            CallGoal::Gradient => RunPlan::gradient(program, turn, level)[0],
        };
        let code = backend.compile(function)?;
        let zeros = plan.zeros(program);
        let program = program.clone();
        let mut seeded: Vec<(u32, usize)> = seeded.iter().copied().zip(0..).collect();
        seeded.sort_unstable();
        Some(CompiledCall {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            program,
            goal,
            plan,
            zeros,
            seeded,
            rows,
            lanes: lift.lanes,
            end,
            working,
            adjoints,
            demands,
            record,
            inputs,
            is_full,
            levels,
            first_steps,
            code,
        })
    }

    /// Executes the call with at most `most_steps` steps of the primal sweep. `seeds` has a list of seeds for each row;
    /// rows without a list have no seeds. `memory` receives the adjoints and the values of the seeded cells. Returns
    /// `None` if a machine must execute the call.
    pub fn run(
        &self,
        start: &RunStart,
        seeds: &[&[SeededCell]],
        memory: &mut CallMemory,
        most_steps: u64,
    ) -> Option<CallReport> {
        self.run_along(start, &[], seeds, memory, most_steps)
    }

    /// Executes the call like [`CompiledCall::run`], and also computes derivatives along a direction. `direction` lists
    /// reals of the start with the bits of their components; all other components are 0.
    pub fn run_along(
        &self,
        start: &RunStart,
        direction: &[(usize, u64)],
        seeds: &[&[SeededCell]],
        memory: &mut CallMemory,
        most_steps: u64,
    ) -> Option<CallReport> {
        if most_steps < self.first_steps || !self.suits(start, seeds) {
            return None;
        }
        let mut levels = self.levels.load(Ordering::Relaxed);
        let mut found = CallReport { steps: 0, steps_back: 0, loss_errors: ArrayVec::new() };
        loop {
            match self.run_with((start, direction), seeds, (memory, levels), most_steps, &mut found) {
                Err(CallEnd::Full) => {
                    levels = self.more_levels(levels)?;
                    self.levels.fetch_max(levels, Ordering::Relaxed);
                }
                Err(CallEnd::NeedsMachine) => return None,
                Ok(()) => return Some(found),
            }
        }
    }

    /// Returns twice the number of calls; `None` if the frames of twice as many calls have too many cells.
    fn more_levels(&self, levels: u32) -> Option<u32> {
        let Demands { level, record, .. } = self.demands;
        let cells = level.ints.saturating_add(level.reals.saturating_mul(2)).saturating_add(record);
        let more = levels.saturating_mul(2);
        (more.saturating_mul(cells) <= MOST_LEVEL_CELLS).then_some(more)
    }

    /// Executes the call with frames for `wanted` out-of-line calls, or fewer if the program's limits allow fewer.
    fn run_with(
        &self,
        (start, direction): (&RunStart, &[(usize, u64)]),
        seeds: &[&[SeededCell]],
        (memory, wanted): (&mut CallMemory, u32),
        most_steps: u64,
        found: &mut CallReport,
    ) -> Result<(), CallEnd> {
        let state = start.state();
        // `suits` has checked that the limits allow the inlined calls.
        let levels = match wanted {
            0 => 0,
            _ => frames::levels(&self.program, state, self.demands, wanted).ok_or(CallEnd::NeedsMachine)?,
        };
        if memory.begin(self, (state, direction), levels, seeds).is_err() {
            *memory = CallMemory::default();
            return Err(CallEnd::NeedsMachine);
        }
        // The only input that a sweep may have is the end of the space for call records.
        let inputs = [FIRST_RECORD + self.record * levels; 2];
        let inputs = inputs.get(..self.inputs.len()).ok_or(CallEnd::NeedsMachine)?;
        let budget = most_steps.min(MOST_STEPS);
        let rounding = Rounding::of(self.program.module().real);
        let mut evidence = SweepEvidence::default();
        let mut watch = self.plan.is_watched.then(Watch::default);
        let segment = Segment { travel: Travel::Forward, budget };
        let mut watcher =
            watch.as_mut().map(|watch| Watcher::new(watch, segment, state.own_steps(), rounding));
        let cells = memory.cell_memory(state);
        let (watcher, evidence_of_code) = (watcher.as_mut(), self.plan.is_watched.then_some(&mut evidence));
        let job = Job { inputs, cells, left: budget, watcher, evidence: evidence_of_code };
        let (steps, primal_steps) = match self.code.run(job) {
            CodeOutcome::Exit { exit, steps, primal_steps, .. } if exit == self.end => (steps, primal_steps),
            CodeOutcome::Exit { exit, .. }
                if self.is_full.get(exit as usize) == Some(&true) && levels == wanted =>
            {
                return Err(CallEnd::Full);
            }
            CodeOutcome::Exit { .. } | CodeOutcome::Failed => return Err(CallEnd::NeedsMachine),
        };
        if self.goal == CallGoal::Run {
            memory.read_values(self, seeds);
            (found.steps, found.steps_back) = (steps, 0);
            found.loss_errors.push(Some(0.0));
            return Ok(());
        }
        let steps_back = steps - primal_steps;
        let is_unequal = watch.is_some() && steps_back != primal_steps;
        memory.read_values(self, seeds);
        memory.transpose_adjoints();
        if self.plan.level.is_checked() && is_unequal {
            return Err(CallEnd::NeedsMachine);
        }
        (found.steps, found.steps_back) = (primal_steps, steps_back);
        for (row, seeds) in seeds.iter().enumerate() {
            match self.verified(memory, (&evidence, watch.as_ref()), state, (row, seeds)) {
                Some(loss_error) => found.loss_errors.push(loss_error),
                None if row == 0 => return Err(CallEnd::NeedsMachine),
                None => break,
            }
        }
        Ok(())
    }

    /// Returns the error bound of a row's sum; `None` if the reverse sweep isn't verified for the row. Unchecked code
    /// counts as verified, and has no error bound.
    fn verified(
        &self,
        memory: &CallMemory,
        (evidence, watch): (&SweepEvidence, Option<&Watch>),
        start: &State,
        (row, seeds): (usize, &[SeededCell]),
    ) -> Option<Option<f64>> {
        match (self.plan.level, watch) {
            (CheckLevel::Unchecked, _) => Some(None),
            (CheckLevel::Checked, None) => Some(Some(0.0)),
            (CheckLevel::Checked, Some(watch)) => {
                let sum = SumSize::of(&self.program, seeds, memory.values(row));
                let reals = (&start.reals[..], memory.adjoints(row));
                evidence.verified(&self.program, watch, reals, (row, sum)).map(Some)
            }
        }
    }

    /// Returns the maximum number of sums that a call differentiates.
    pub fn rows(&self) -> usize {
        self.rows.count as usize
    }

    /// Returns true if a start state meets the code's assumptions, and the code was compiled for all cells in `seeds`.
    fn suits(&self, start: &RunStart, seeds: &[&[SeededCell]]) -> bool {
        let is_seeded = (1..=self.rows.count as usize).contains(&seeds.len())
            && seeds.iter().all(|row| row.iter().all(|seed| self.result(seed.cell).is_some()));
        is_seeded && start.begins_calls(&self.program, self.zeros, self.demands)
    }

    /// Iterates over the coefficients of a seeded cell's value. `memory` is the memory of the last call.
    pub fn coefficients<'m>(&self, memory: &'m CallMemory, cell: usize) -> impl Iterator<Item = u64> + 'm {
        let lanes = self.lanes as usize;
        let first = self.result(cell).map_or(memory.results.len(), |result| result * lanes);
        memory.results.iter().copied().skip(first).take(lanes)
    }

    /// Returns the index of a seeded cell's value among the results.
    fn result(&self, cell: usize) -> Option<usize> {
        let cell = u32::try_from(cell).ok()?;
        let found = self.seeded.binary_search_by_key(&cell, |&(seeded, _)| seeded).ok()?;
        self.seeded.get(found).map(|&(_, result)| result)
    }
}

impl CallMemory {
    /// Copies the start state to working memory, and sets the adjoints to their seeds.
    fn begin(
        &mut self,
        call: &CompiledCall,
        (start, direction): (&State, &[(usize, u64)]),
        levels: u32,
        seeds: &[&[SeededCell]],
    ) -> Result<(), OutOfMemory> {
        let suits = Some((call.id, levels, seeds.iter().map(|row| row.len()).sum()));
        if self.suits != suits {
            self.suits = None;
            self.resize(call, start, levels, seeds)?;
            self.suits = suits;
        }
        debug_assert_eq!(
            self.own_reals,
            start.reals.len(),
            "all starts of a program have the same number of reals"
        );
        self.lift_start(&start.reals, direction)?;
        let start_reals = if self.lanes > 1 { &self.lifted_start } else { &start.reals };
        for (class, cells) in &call.working {
            let cells = cells.start as usize..cells.end as usize;
            match class {
                Class::Int => renew(&mut self.ints, &start.ints, cells),
                Class::Real => renew(&mut self.reals, start_reals, cells),
            }
        }
        for cells in &call.adjoints {
            let end = self.adjoints.len().min(cells.end as usize);
            allocation::zero(self.adjoints.get_mut(cells.start as usize..end).unwrap_or_default());
        }
        for row in 0..call.rows.count as usize {
            for &(cell, _) in &call.seeded {
                self.seed(row, cell as usize, 0);
            }
            for seed in seeds.get(row).copied().unwrap_or_default() {
                self.seed(row, seed.cell, seed.seed);
            }
        }
        Ok(())
    }

    /// Sets the lengths of the lists for a call with frames for `levels` out-of-line calls.
    fn resize(
        &mut self,
        call: &CompiledCall,
        start: &State,
        levels: u32,
        seeds: &[&[SeededCell]],
    ) -> Result<(), OutOfMemory> {
        self.lanes = call.lanes as usize;
        self.own_reals = start.reals.len();
        self.stride = call.rows.stride as usize;
        let Demands { frame_ints, frame_reals, references, record, level, .. } = call.demands;
        let cells =
            |own: usize, inlined: u32, level: u32| own + inlined as usize + levels as usize * level as usize;
        let reals = cells(self.own_reals * self.lanes, frame_reals, level.reals);
        allocation::resize(&mut self.ints, cells(start.ints.len(), frame_ints, level.ints))?;
        allocation::resize(&mut self.reals, reals)?;
        let adjoints = if call.rows.count > 1 { call.rows.adjoints() } else { reals };
        allocation::resize(&mut self.adjoints, adjoints)?;
        allocation::resize(&mut self.references, cells(FIRST_RECORD as usize, references, record))?;
        allocation::resize(&mut self.results, call.seeded.len() * self.lanes)?;
        allocation::resize(&mut self.values, seeds.iter().map(|row| row.len()).sum())
    }

    /// Sets the adjoint of a cell in a row to a seed. All higher coefficients of the adjoint become 0.
    #[inline]
    fn seed(&mut self, row: usize, cell: usize, seed: u64) {
        let first = (row * self.stride + cell) * self.lanes;
        let lanes = self.adjoints.get_mut(first..first + self.lanes).unwrap_or_default();
        if let Some((lane, higher)) = lanes.split_first_mut() {
            *lane = seed;
            allocation::zero(higher);
        }
    }

    /// If the call computes on series, computes the coefficients of the reals at the start. Coefficient 1 is the real's
    /// component of the direction, and all higher coefficients are 0.
    fn lift_start(&mut self, reals: &[u64], direction: &[(usize, u64)]) -> Result<(), OutOfMemory> {
        if self.lanes == 1 {
            return Ok(());
        }
        allocation::resize(&mut self.lifted_start, reals.len() * self.lanes)?;
        allocation::resize(&mut self.coefficients, reals.len() * self.lanes)?;
        allocation::zero(&mut self.lifted_start);
        for (lanes, &bits) in self.lifted_start.chunks_exact_mut(self.lanes).zip(reals) {
            lanes.first_mut().into_iter().for_each(|lane| *lane = bits);
        }
        for &(cell, component) in direction {
            let lane = self.lifted_start.get_mut(cell * self.lanes + 1);
            lane.into_iter().for_each(|lane| *lane = component);
        }
        Ok(())
    }

    /// Reorders the adjoints after a call on series, so that coefficients of the same order are adjacent.
    fn transpose_adjoints(&mut self) {
        if self.lanes == 1 {
            return;
        }
        self.coefficients.clear();
        for k in 0..self.lanes {
            let lane = self.adjoints.iter().skip(k).step_by(self.lanes).take(self.own_reals);
            self.coefficients.extend(lane);
        }
    }

    /// Copies the results to each row's values; [`CallMemory::begin`] has reserved the memory.
    fn read_values(&mut self, call: &CompiledCall, seeds: &[&[SeededCell]]) {
        self.value_rows.clear();
        let mut next = 0;
        for row in seeds.iter().take(MOST_ROWS) {
            self.value_rows.push(next);
            for seed in *row {
                let bits = call.result(seed.cell).and_then(|result| self.results.get(result * self.lanes));
                if let (Some(value), Some(&bits)) = (self.values.get_mut(next), bits) {
                    *value = bits;
                }
                next += 1;
            }
        }
    }

    fn cell_memory<'c>(&'c mut self, start: &'c State) -> CellMemory<'c> {
        CellMemory {
            ints: &mut self.ints,
            reals: &mut self.reals,
            adjoints: &mut self.adjoints,
            references: &mut self.references,
            start_ints: &start.ints,
            start_reals: if self.lanes > 1 { &self.lifted_start } else { &start.reals },
            results: &mut self.results,
        }
    }

    /// Returns the bits of a row's seeded cells at the turning point, in the order of the row's seeds.
    pub fn values(&self, row: usize) -> &[u64] {
        let begin = |row: usize| self.value_rows.get(row).copied().unwrap_or(self.values.len());
        self.values.get(begin(row)..begin(row + 1)).unwrap_or_default()
    }

    /// Returns the adjoints of a row after the last call, one for each of the program's reals.
    pub fn adjoints(&self, row: usize) -> &[u64] {
        if self.lanes > 1 {
            return self.adjoint_coefficients(0);
        }
        let first = row * self.stride;
        self.adjoints.get(first..first + self.own_reals).unwrap_or_default()
    }

    /// Returns the coefficients of order `k` of the adjoints after the last call, one for each of the program's reals.
    /// The last call must have computed on series.
    pub fn adjoint_coefficients(&self, k: usize) -> &[u64] {
        let first = k * self.own_reals;
        self.coefficients.get(first..first + self.own_reals).unwrap_or_default()
    }
}

/// Returns cells as addresses; `None` if one is too large for an address.
pub(super) fn addresses(cells: &[usize]) -> Option<Vec<u32>> {
    cells.iter().map(|&cell| u32::try_from(cell).ok()).collect()
}

/// Copies a range of cells from `start` to `own`, and zeroes the part of the range beyond the end of `start`.
pub(crate) fn renew<T: Copy + Default>(own: &mut [T], start: &[T], cells: Range<usize>) {
    let cells = cells.start..cells.end.min(own.len());
    let split = cells.end.min(start.len()).max(cells.start);
    let (head, behind) = (cells.start..split, split..cells.end);
    if let (Some(own), Some(start)) = (own.get_mut(head.clone()), start.get(head)) {
        allocation::copy(own, start);
    }
    allocation::zero(own.get_mut(behind).unwrap_or_default());
}
