//! Compiled code of a specialization with its memory demands, and the execution of this code on a machine. Other
//! modules choose the specialization and handle failed checks. This module is independent of engines.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use reviver_vm::travel::Segment;
use reviver_vm::{Machine, Program, State};

use crate::backend::{Backend, Code};
use crate::frames::{self, FunctionFrames, InlinedCalls, OpenFrames};
use crate::function::{Demands, OutOfLineCall, SsaExit, SsaFunction};
use crate::op::{Input, OpKind, Space};
use crate::run::{CellMemory, CodeOutcome, Counts, Job};

/// Initial number of out-of-line calls that may be open at once, and initial number of call records written at entry.
const FEW_CALLS: u32 = 16;
/// Upper bound on call records written at entry.
const MOST_ENTRY_RECORDS: u32 = 1 << 10;
/// Upper bound on the memory for out-of-line calls, in cells and words of records. This memory is zeroed before each
/// run.
const MOST_LEVEL_CELLS: u32 = 1 << 15;

/// Upper bound on the work of SSA construction: the number of values and of recorded variable definitions. Compiling a
/// function of this size takes about a second.
pub(crate) const MOST_WORK: usize = 1 << 19;
/// Number of runs of the code before it may be classified as slow.
const MEASURED_RUNS: u64 = 1 << 10;
/// Least average number of steps per run of code that isn't slow. At lower averages, entering and leaving the code
/// takes about twice as long as interpreting its steps.
const LEAST_STEPS_PER_RUN: u64 = 64;

/// Compiled code with its requirements.
#[derive(Debug)]
pub(crate) struct Compiled {
    inputs: Vec<Input>,
    exits: Vec<SsaExit>,
    calls: Vec<OutOfLineCall>,
    demands: Demands,
    /// Number of out-of-line calls that may be open at once. It grows after an exit that was taken because there was no
    /// space for a call.
    levels: AtomicU32,
    /// Number of call records written at entry. It grows after the code has returned from all recorded calls.
    entry_records: AtomicU32,
    /// True if the code omits checks.
    is_unchecked: bool,
    /// True if the code reads or changes adjoints.
    needs_adjoints: bool,
    /// True if the code begins in main and makes no out-of-line call. Such code needs no call records, only the
    /// machine's cells.
    is_plain: bool,
    /// Largest number of steps before the first safepoint.
    pub first_steps: u64,
    /// Number of runs recorded by [`Compiled::is_slow_after`].
    runs: AtomicU64,
    steps: AtomicU64,
    /// True as soon as runs were found to be so short that the interpreter is faster.
    is_slow: AtomicBool,
    code: Box<dyn Code>,
}

impl Compiled {
    /// Compiles a function by a backend; returns `None` if the backend can't compile it.
    pub fn of(function: SsaFunction, backend: &impl Backend) -> Option<Compiled> {
        let inputs = function.inputs().map(|(_, input)| input).collect();
        let (exits, calls) = (function.exits.clone(), function.calls.clone());
        let (demands, first_steps) = (function.demands, function.first_steps.into());
        let levels = AtomicU32::new(if calls.is_empty() { 0 } else { FEW_CALLS });
        let entry_records = AtomicU32::new(FEW_CALLS);
        let is_unchecked = !function.specialization.level.is_checked();
        let needs_adjoints = needs_adjoints(&function);
        let is_plain = function.is_plain();
        let code = backend.compile(function)?;
        Some(Compiled {
            inputs,
            exits,
            calls,
            demands,
            levels,
            entry_records,
            is_unchecked,
            needs_adjoints,
            is_plain,
            first_steps,
            runs: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            is_slow: AtomicBool::new(false),
            code,
        })
    }

    /// Returns true if runs were found to be so short that the interpreter is faster.
    pub fn is_slow(&self) -> bool {
        self.is_slow.load(Ordering::Relaxed)
    }

    /// Records the steps of a run that ended before its budget was used up. Returns true if this run is the first after
    /// which the code counts as slow.
    pub fn is_slow_after(&self, steps: u64) -> bool {
        let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        let steps = self.steps.fetch_add(steps, Ordering::Relaxed) + steps;
        let is_slow = runs >= MEASURED_RUNS && steps / runs < LEAST_STEPS_PER_RUN;
        is_slow && !self.is_slow.swap(true, Ordering::Relaxed)
    }

    /// Returns true if the program's limits allow the inlined calls.
    pub fn fits(&self, program: &Program, state: &State) -> bool {
        frames::levels(program, state, self.demands, 0).is_some()
    }

    /// Allows more open out-of-line calls in the next run.
    fn deepen(&self) {
        let level = self.demands.level;
        let cells =
            level.ints.saturating_add(level.reals.saturating_mul(2)).saturating_add(self.demands.record);
        let levels = self.levels.load(Ordering::Relaxed);
        let more = levels.saturating_mul(2).min(MOST_LEVEL_CELLS / cells.max(1)).max(levels);
        self.levels.store(more, Ordering::Relaxed);
    }

    /// Adapts the number of call records for the next run. `entry_records` records were written at entry, and `left`
    /// remained at the exit.
    fn adapt_entry_records(&self, entry_records: u32, left: u32) {
        let most = self.entry_records.load(Ordering::Relaxed);
        if entry_records == most && left <= 1 {
            self.entry_records.store(most.saturating_mul(2).min(MOST_ENTRY_RECORDS), Ordering::Relaxed);
        } else if entry_records == most && left >= entry_records {
            self.entry_records.store((most / 2).max(FEW_CALLS), Ordering::Relaxed);
        }
    }

    /// Runs the code on a machine that is at the entry position, and returns the number of steps. Returns `None` if a
    /// check failed, or if the program's limits leave no space. After `None`, the machine's cells are undefined.
    /// `references` is a buffer for call records.
    pub fn run(&self, machine: &mut Machine, segment: Segment, references: &mut Vec<i64>) -> Option<u64> {
        if self.needs_adjoints {
            machine.state_mut().make_adjoints().ok()?;
        }
        let (steps, counts) = match self.is_plain {
            true => self.run_plainly(machine, segment, references)?,
            false => self.run_with_frames(machine, segment, references)?,
        };
        let (state, sign) = (machine.state_mut(), segment.travel.sign());
        state.step += sign * steps as i64;
        state.counters.is_unchecked |= self.is_unchecked;
        state.counters.erased_bits += counts.erased_bits;
        state.counters.discarded_bits += counts.discarded_bits;
        state.counters.drops += counts.drops;
        state.counters.calls = state.counters.calls.wrapping_add(sign * counts.calls as i64);
        Some(steps)
    }

    fn run_plainly(
        &self,
        machine: &mut Machine,
        segment: Segment,
        references: &mut Vec<i64>,
    ) -> Option<(u64, Counts)> {
        let fits = frames::levels(machine.program(), machine.state(), self.demands, 0).is_some();
        let (state, mut watcher) = machine.state_and_watcher(segment);
        let inlined_calls = InlinedCalls::new(self.demands, state, references).ok().filter(|_| fits)?;
        let cells = cells(state, references);
        let outcome = self.code.run(Job {
            inputs: &[],
            cells,
            left: segment.budget,
            watcher: watcher.as_mut(),
            evidence: None,
        });
        let CodeOutcome::Exit { exit, steps, counts, .. } = outcome else { return None };
        inlined_calls.leave(state, self.exits.get(exit as usize)?, references);
        Some((steps, counts))
    }

    fn run_with_frames(
        &self,
        machine: &mut Machine,
        segment: Segment,
        references: &mut Vec<i64>,
    ) -> Option<(u64, Counts)> {
        let wanted = self.levels.load(Ordering::Relaxed);
        let levels = frames::levels(machine.program(), machine.state(), self.demands, wanted)?;
        let most_calls = machine.program().module().limits.depth;
        let (state, mut watcher) = machine.state_and_watcher(segment);
        let entry_records = self.entry_records.load(Ordering::Relaxed);
        let of =
            FunctionFrames { calls: &self.calls, demands: self.demands, entry_records, levels, most_calls };
        let open = OpenFrames::new(of, state, references).ok()??;
        // Code that begins in main usually has no inputs.
        let inputs = if self.inputs.is_empty() { Vec::new() } else { inputs(&self.inputs, state, &open) };
        let cells = cells(state, references);
        let outcome = self.code.run(Job {
            inputs: &inputs,
            cells,
            left: segment.budget,
            watcher: watcher.as_mut(),
            evidence: None,
        });
        let CodeOutcome::Exit { exit, steps, counts, .. } = outcome else { return None };
        let exit = self.exits.get(exit as usize)?;
        let left = open.leave(state, exit, references);
        self.adapt_entry_records(open.entry_records, left);
        if exit.is_full {
            self.deepen();
        }
        Some((steps, counts))
    }
}

/// Returns true if a function reads or changes adjoints. If so, each real must have an adjoint while the code runs.
fn needs_adjoints(function: &SsaFunction) -> bool {
    let ops = function.blocks.iter().flat_map(|block| &block.ops).filter_map(|&value| function.op(value));
    ops.into_iter()
        .any(|op| matches!(op.kind, OpKind::Load(Space::Adjoints) | OpKind::Store(Space::Adjoints)))
}

/// Computes the inputs of a specialization from the machine's current call.
fn inputs(wanted: &[Input], state: &State, open: &OpenFrames) -> Vec<u32> {
    let given = |input: &Input| match *input {
        Input::Frame(class) => state.frame.start(class),
        Input::Records => open.top,
        Input::RecordsEnd => open.end,
    };
    wanted.iter().map(given).collect()
}

fn cells<'c>(state: &'c mut State, references: &'c mut [i64]) -> CellMemory<'c> {
    CellMemory {
        references,
        ints: &mut state.ints,
        reals: &mut state.reals,
        adjoints: state.adjoints.as_mut().map_or(&mut [], |adjoints| &mut adjoints.cells),
        ..CellMemory::default()
    }
}
