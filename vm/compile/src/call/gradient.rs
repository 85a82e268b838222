//! Gradient calls by compiled call functions, on memory of their own.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use arrayvec::ArrayVec;
use reviver_isa::instruction::Class;
use reviver_vm::differentiate::SeededCell;
use reviver_vm::differentiate::evidence::{MOST_ROWS, SweepEvidence};
use reviver_vm::differentiate::seeds::SumSize;
use reviver_vm::room::{self, OutOfMemory};
use reviver_vm::travel::{Leg, Travel};
use reviver_vm::watch::{Rounding, Watch, Watcher};
use reviver_vm::{CheckLevel, Program, State};

use super::{GradientFunction, GradientTask};
use crate::backend::{Backend, Code};
use crate::form::{Demands, FIRST_RECORD};
use crate::frames;
use crate::op::Input;
use crate::route::{MOST_STEPS, RoutePlan};
use crate::rows::AdjointRows;
use crate::run::{CellMemory, CodeOutcome, Job};
use crate::start::RouteStart;

/// The compiled gradients of seeded sums, which share both sweeps.
#[derive(Debug)]
pub struct GradientCall {
    program: Program,
    plan: RoutePlan,
    /// The reals that may have a seed, each with the number of its result, in ascending order.
    seeded: Vec<(u32, usize)>,
    rows: AdjointRows,
    end: u32,
    working: Vec<(Class, Range<u32>)>,
    adjoints: Vec<Range<u32>>,
    demands: Demands,
    record: u32,
    inputs: Vec<Input>,
    /// By exit, true if it means that there is no room for one more call.
    is_full: Vec<bool>,
    /// The number of calls that there is room for: more, once these were too few.
    levels: AtomicU32,
    first_steps: u64,
    code: Box<dyn Code>,
}

/// Calls that there is room for at first, and cells that may be added for more.
const FEW_LEVELS: u32 = 16;
const MOST_LEVEL_CELLS: u32 = 1 << 20;

/// Why a call has found no gradient.
enum CallEnd {
    /// There was no room for one more call that isn't inlined.
    Full,
    /// A machine has to make the call: a check failed, or the reverse sweep isn't verified.
    NeedsMachine,
}

/// Gradients that a call has found; a [`CallRoom`] has their numbers.
#[derive(Clone, Debug)]
pub struct FoundGradients {
    /// Steps of the primal sweep, and of the reverse sweep.
    pub steps: u64,
    pub steps_back: u64,
    /// By row how much its sum may be off ([`reviver_vm::differentiate::Trust::loss_error`]), for the rows up to the first one that isn't verified. None
    /// of code that doesn't check.
    pub loss_errors: ArrayVec<Option<f64>, MOST_ROWS>,
}

/// The memory of gradient calls, which serves one call after the other.
#[derive(Debug, Default)]
pub struct CallRoom {
    ints: Vec<i64>,
    reals: Vec<u64>,
    adjoints: Vec<u64>,
    references: Vec<i64>,
    /// The bits of the seeded cells at the turning point.
    results: Vec<u64>,
    /// The bits of the cells of each row's seeds, one row after the other, and where each row begins.
    values: Vec<u64>,
    value_rows: ArrayVec<usize, MOST_ROWS>,
    /// The number of the program's reals; the distance between rows of adjoints.
    own_reals: usize,
    stride: usize,
    /// Branches and freed cells, where the call was watched.
    watch: Option<Watch>,
}

impl GradientCall {
    /// Compiles the gradients of so many sums at once of some reals, each once, that turn at a position. None if a sweep needs a machine, or if
    /// the sums can't share the sweeps; at most [`MOST_ROWS`] can.
    pub fn new(
        program: &Program,
        backend: &impl Backend,
        (turn, level): (u32, CheckLevel),
        (seeded, rows): (&[usize], u32),
    ) -> Option<GradientCall> {
        if !(1..=MOST_ROWS as u32).contains(&rows) {
            return None;
        }
        let seeded = seeded.iter().map(|&cell| u32::try_from(cell).ok()).collect::<Option<Vec<u32>>>()?;
        let function = GradientFunction::build(program, GradientTask { turn, level, seeded: &seeded, rows })?;
        let GradientFunction { form, end, working, adjoints, rows, record } = function;
        let (demands, first_steps) = (form.demands, form.first_steps.into());
        let inputs = form.inputs().map(|(_, input)| input).collect();
        let is_full = form.exits.iter().map(|exit| exit.is_full).collect();
        let levels = AtomicU32::new(if form.demands.record == 0 { 0 } else { FEW_LEVELS });
        let [plan, _] = RoutePlan::gradient(program, turn, level);
        let code = backend.compile(form)?;
        let program = program.clone();
        let mut seeded: Vec<(u32, usize)> = seeded.into_iter().zip(0..).collect();
        seeded.sort_unstable();
        Some(GradientCall {
            program,
            plan,
            seeded,
            rows,
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

    /// Makes the call for a list of seeds a row, of cells that it was compiled for, with at most so many steps before the turning point. Rows
    /// without a list have no seeds. The room has the adjoints then, and the values of the seeded cells.
    /// None if a machine has to make the call.
    pub fn run(
        &self,
        start: &RouteStart,
        seeds: &[&[SeededCell]],
        room: &mut CallRoom,
        most_steps: u64,
    ) -> Option<FoundGradients> {
        if most_steps < self.first_steps || !self.suits(start, seeds) {
            return None;
        }
        let mut levels = self.levels.load(Ordering::Relaxed);
        loop {
            match self.run_with(start, seeds, (room, levels), most_steps) {
                Err(CallEnd::Full) => {
                    levels = self.more_levels(levels)?;
                    self.levels.fetch_max(levels, Ordering::Relaxed);
                }
                Err(CallEnd::NeedsMachine) => return None,
                Ok(found) => return Some(found),
            }
        }
    }

    /// More calls than there was room for, if the memory for them is bounded.
    fn more_levels(&self, levels: u32) -> Option<u32> {
        let Demands { level, record, .. } = self.demands;
        let cells = level.ints.saturating_add(level.reals.saturating_mul(2)).saturating_add(record);
        let more = levels.saturating_mul(2);
        (more.saturating_mul(cells) <= MOST_LEVEL_CELLS).then_some(more)
    }

    /// Makes the call with room for so many calls that aren't inlined.
    fn run_with(
        &self,
        start: &RouteStart,
        seeds: &[&[SeededCell]],
        (room, wanted): (&mut CallRoom, u32),
        most_steps: u64,
    ) -> Result<FoundGradients, CallEnd> {
        let state = start.state();
        let levels = frames::levels(&self.program, state, self.demands, wanted);
        let levels = levels.ok_or(CallEnd::NeedsMachine)?;
        if room.begin(self, (state, levels), seeds).is_err() {
            *room = CallRoom::default();
            return Err(CallEnd::NeedsMachine);
        }
        let inputs: ArrayVec<u32, 2> =
            self.inputs.iter().map(|_| FIRST_RECORD + self.record * levels).collect();
        let budget = most_steps.min(MOST_STEPS);
        let rounding = Rounding::of(self.program.module().real);
        let mut evidence = SweepEvidence::default();
        let mut watch = self.plan.is_watched.then(Watch::default);
        let leg = Leg { travel: Travel::Forward, budget };
        let mut watcher = watch.as_mut().map(|watch| Watcher::new(watch, leg, state.own_steps(), rounding));
        let cells = room.memory(state);
        let (watcher, evidence_of_code) = (watcher.as_mut(), self.plan.is_watched.then_some(&mut evidence));
        let job = Job { inputs: &inputs, cells, left: budget, watcher, evidence: evidence_of_code };
        let (steps, primal_steps) = match self.code.run(job) {
            CodeOutcome::Exit { exit, steps, primal_steps, .. } if exit == self.end => (steps, primal_steps),
            CodeOutcome::Exit { exit, .. }
                if self.is_full.get(exit as usize) == Some(&true) && levels == wanted =>
            {
                return Err(CallEnd::Full);
            }
            CodeOutcome::Exit { .. } | CodeOutcome::Failed => return Err(CallEnd::NeedsMachine),
        };
        let steps_back = steps - primal_steps;
        let is_unequal = watch.is_some() && steps_back != primal_steps;
        room.watch = watch;
        room.read_values(self, seeds);
        if self.plan.level.is_checked() && is_unequal {
            return Err(CallEnd::NeedsMachine);
        }
        let mut found = FoundGradients { steps: primal_steps, steps_back, loss_errors: ArrayVec::new() };
        for (row, seeds) in seeds.iter().enumerate() {
            match self.verified(room, &evidence, state, (row, seeds)) {
                Some(loss_error) => found.loss_errors.push(loss_error),
                None if row == 0 => return Err(CallEnd::NeedsMachine),
                None => break,
            }
        }
        Ok(found)
    }

    /// The error bound of a row's sum, if the row is verified; code that doesn't check has none.
    fn verified(
        &self,
        room: &CallRoom,
        evidence: &SweepEvidence,
        start: &State,
        (row, seeds): (usize, &[SeededCell]),
    ) -> Option<Option<f64>> {
        match (self.plan.level, &room.watch) {
            (CheckLevel::Unchecked, _) => Some(None),
            (CheckLevel::Checked, None) => Some(Some(0.0)),
            (CheckLevel::Checked, Some(watch)) => {
                let sum = SumSize::of(&self.program, seeds, room.values(row));
                let reals = (&start.reals[..], room.adjoints(row));
                evidence.verified(&self.program, watch, reals, (row, sum)).map(Some)
            }
        }
    }

    /// The most sums of a call.
    pub fn rows(&self) -> usize {
        self.rows.count as usize
    }

    /// Checks that a start has all that the code takes for granted, and that the seeds are those of the cells that it was compiled for.
    fn suits(&self, start: &RouteStart, seeds: &[&[SeededCell]]) -> bool {
        let is_seeded = (1..=self.rows.count as usize).contains(&seeds.len())
            && seeds.iter().all(|row| row.iter().all(|seed| self.result(seed.cell).is_some()));
        is_seeded && start.begins_calls(&self.program, self.plan.zeros(&self.program), self.demands)
    }

    /// The number of the result that a seeded cell has.
    fn result(&self, cell: usize) -> Option<usize> {
        let cell = u32::try_from(cell).ok()?;
        let found = self.seeded.binary_search_by_key(&cell, |&(seeded, _)| seeded).ok()?;
        self.seeded.get(found).map(|&(_, result)| result)
    }
}

impl CallRoom {
    /// Makes the memory that code changes that of a start, and seeds the adjoints.
    fn begin(
        &mut self,
        call: &GradientCall,
        (start, levels): (&State, u32),
        seeds: &[&[SeededCell]],
    ) -> Result<(), OutOfMemory> {
        let Demands { frame_ints, frame_reals, references, record, level, .. } = call.demands;
        let cells =
            |own: usize, inlined: u32, level: u32| own + inlined as usize + levels as usize * level as usize;
        let reals = cells(start.reals.len(), frame_reals, level.reals);
        room::resize(&mut self.ints, cells(start.ints.len(), frame_ints, level.ints))?;
        room::resize(&mut self.reals, reals)?;
        let adjoints = if call.rows.count > 1 { call.rows.adjoints() } else { reals };
        room::resize(&mut self.adjoints, adjoints)?;
        room::resize(&mut self.references, cells(FIRST_RECORD as usize, references, record))?;
        room::resize(&mut self.results, call.seeded.len())?;
        room::resize(&mut self.values, seeds.iter().map(|row| row.len()).sum())?;
        self.own_reals = start.reals.len();
        self.stride = call.rows.stride as usize;
        for (class, cells) in &call.working {
            let cells = cells.start as usize..cells.end as usize;
            match class {
                Class::Int => renew(&mut self.ints, &start.ints, cells),
                Class::Real => renew(&mut self.reals, &start.reals, cells),
            }
        }
        for cells in &call.adjoints {
            let end = self.adjoints.len().min(cells.end as usize);
            room::zero(self.adjoints.get_mut(cells.start as usize..end).unwrap_or_default());
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

    fn seed(&mut self, row: usize, cell: usize, seed: u64) {
        self.adjoints.get_mut(row * self.stride + cell).into_iter().for_each(|adjoint| *adjoint = seed);
    }

    /// Reads the values of the cells of each row's seeds; there is memory for them.
    fn read_values(&mut self, call: &GradientCall, seeds: &[&[SeededCell]]) {
        self.value_rows.clear();
        let mut next = 0;
        for row in seeds.iter().take(MOST_ROWS) {
            self.value_rows.push(next);
            for seed in *row {
                let bits = call.result(seed.cell).and_then(|result| self.results.get(result));
                if let (Some(value), Some(&bits)) = (self.values.get_mut(next), bits) {
                    *value = bits;
                }
                next += 1;
            }
        }
    }

    fn memory<'c>(&'c mut self, start: &'c State) -> CellMemory<'c> {
        CellMemory {
            ints: &mut self.ints,
            reals: &mut self.reals,
            adjoints: &mut self.adjoints,
            references: &mut self.references,
            start_ints: &start.ints,
            start_reals: &start.reals,
            results: &mut self.results,
        }
    }

    /// The bits at the turning point of the cells of a row's seeds.
    pub fn values(&self, row: usize) -> &[u64] {
        let begin = |row: usize| self.value_rows.get(row).copied().unwrap_or(self.values.len());
        self.values.get(begin(row)..begin(row + 1)).unwrap_or_default()
    }

    /// Branches and freed cells of the last call, if it was watched.
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    /// The adjoints of a row after the last call, one for each of the program's reals.
    pub fn adjoints(&self, row: usize) -> &[u64] {
        let first = row * self.stride;
        self.adjoints.get(first..first + self.own_reals).unwrap_or_default()
    }
}

/// Makes some cells those of a start, and 0 behind it.
pub(crate) fn renew<T: Copy + Default>(own: &mut [T], start: &[T], cells: Range<usize>) {
    let cells = cells.start..cells.end.min(own.len());
    let split = cells.end.min(start.len()).max(cells.start);
    let (there, behind) = (cells.start..split, split..cells.end);
    if let (Some(own), Some(start)) = (own.get_mut(there.clone()), start.get(there)) {
        room::copy(own, start);
    }
    room::zero(own.get_mut(behind).unwrap_or_default());
}
