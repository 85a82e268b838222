//! The code of a version, with what it asks of a machine and how that is moved by it. Knows no engine, and neither which version
//! is wanted nor what follows a failure.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use reviver_vm::travel::Leg;
use reviver_vm::{Machine, Program, State};

use crate::backend::{Backend, Code};
use crate::form::{Demands, FormCall, FormExit, SsaForm};
use crate::frames::{self, CallsInPlace, FormFrames, OpenFrames};
use crate::op::{Input, OpKind, Space};
use crate::run::{CellMemory, CodeOutcome, Counts, Job};

/// So many functions may be called at once at first, and so many of the calls that were open before does code know.
const FEW_CALLS: u32 = 16;
/// The most of those.
const MOST_TOLD: u32 = 1 << 10;
/// What the calls of functions may take: cells, and words of records. All of it is 0 before code is run.
const MOST_LEVEL_CELLS: u32 = 1 << 15;

/// Upper bound on the values of a form that becomes code which is run here, and on the notes of what variables hold: compiling as
/// many takes about a second.
pub(crate) const MOST_WORK: usize = 1 << 19;
/// Runs after which code is judged.
const JUDGED_RUNS: u64 = 1 << 10;
/// Average number of steps below which entering and leaving code takes about twice as long as the steps take by the interpreter.
const LEAST_STEPS_PER_RUN: u64 = 64;

/// Code with what is asked before it is run.
#[derive(Debug)]
pub(crate) struct Compiled {
    inputs: Vec<Input>,
    exits: Vec<FormExit>,
    calls: Vec<FormCall>,
    demands: Demands,
    /// How many functions it may call at once: more, once these were too few.
    levels: AtomicU32,
    /// How many of the calls that were open before it is told: more, once it has come back from all of them.
    told: AtomicU32,
    /// Whether it leaves checks out.
    is_unchecked: bool,
    /// Whether it reads or changes adjoints.
    needs_adjoints: bool,
    /// Whether it begins in main and calls no function: nobody tells it of open calls then, and it needs nothing of a machine but its cells.
    is_plain: bool,
    /// The most steps before it can pause.
    pub first_steps: u64,
    /// Runs that were noted, and their steps.
    runs: AtomicU64,
    steps: AtomicU64,
    /// Whether its runs are so short that the interpreter is faster.
    is_slow: AtomicBool,
    code: Box<dyn Code>,
}

impl Compiled {
    /// The code that a backend makes of a form, if it makes any.
    pub fn of(form: SsaForm, backend: &impl Backend) -> Option<Compiled> {
        let inputs = form.inputs().map(|(_, input)| input).collect();
        let (exits, calls) = (form.exits.clone(), form.calls.clone());
        let (demands, first_steps) = (form.demands, form.first_steps.into());
        let levels = AtomicU32::new(if calls.is_empty() { 0 } else { FEW_CALLS });
        let told = AtomicU32::new(FEW_CALLS);
        let is_unchecked = !form.version.level.is_checked();
        let needs_adjoints = needs_adjoints(&form);
        let is_plain = form.is_plain();
        let code = backend.compile(form)?;
        Some(Compiled {
            inputs,
            exits,
            calls,
            demands,
            levels,
            told,
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

    /// Whether its runs were found to be so short that the interpreter is faster.
    pub fn is_slow(&self) -> bool {
        self.is_slow.load(Ordering::Relaxed)
    }

    /// Notes the steps of a run that was left for another reason than their number. Whether that has shown that it is slow.
    pub fn is_slow_after(&self, steps: u64) -> bool {
        let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        let steps = self.steps.fetch_add(steps, Ordering::Relaxed) + steps;
        let is_slow = runs >= JUDGED_RUNS && steps / runs < LEAST_STEPS_PER_RUN;
        is_slow && !self.is_slow.swap(true, Ordering::Relaxed)
    }

    /// Whether a program's limits have room for the calls that it may open.
    pub fn fits(&self, program: &Program, state: &State) -> bool {
        frames::levels(program, state, self.demands, 0).is_some()
    }

    /// Has it call more functions at once the next time.
    fn deepen(&self) {
        let level = self.demands.level;
        let cells =
            level.ints.saturating_add(level.reals.saturating_mul(2)).saturating_add(self.demands.record);
        let levels = self.levels.load(Ordering::Relaxed);
        let more = levels.saturating_mul(2).min(MOST_LEVEL_CELLS / cells.max(1)).max(levels);
        self.levels.store(more, Ordering::Relaxed);
    }

    /// Has it told more calls the next time, or fewer, by how many it was told, and how many were left.
    fn tell_more(&self, told: u32, left: u32) {
        let most = self.told.load(Ordering::Relaxed);
        if told == most && left <= 1 {
            self.told.store(most.saturating_mul(2).min(MOST_TOLD), Ordering::Relaxed);
        } else if told == most && left >= told {
            self.told.store((most / 2).max(FEW_CALLS), Ordering::Relaxed);
        }
    }

    /// Moves a machine that stands where the version begins. How many steps it has made; none where a check has failed, or
    /// the program's limits have no room, and the machine's cells hold anything. `references` is memory that it takes meanwhile.
    pub fn run(&self, machine: &mut Machine, leg: Leg, references: &mut Vec<i64>) -> Option<u64> {
        if self.needs_adjoints {
            machine.state_mut().make_adjoints().ok()?;
        }
        let (steps, counts) = match self.is_plain {
            true => self.run_plainly(machine, leg, references)?,
            false => self.run_with_frames(machine, leg, references)?,
        };
        let (state, sign) = (machine.state_mut(), leg.travel.sign());
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
        leg: Leg,
        references: &mut Vec<i64>,
    ) -> Option<(u64, Counts)> {
        let fits = frames::levels(machine.program(), machine.state(), self.demands, 0).is_some();
        let (state, mut watcher) = machine.state_and_watcher(leg);
        let room = CallsInPlace::new(self.demands, state, references).ok().filter(|_| fits)?;
        let cells = cells(state, references);
        let outcome = self.code.run(Job {
            inputs: &[],
            cells,
            left: leg.budget,
            watcher: watcher.as_mut(),
            evidence: None,
        });
        let CodeOutcome::Exit { exit, steps, counts, .. } = outcome else { return None };
        room.leave(state, self.exits.get(exit as usize)?, references);
        Some((steps, counts))
    }

    fn run_with_frames(
        &self,
        machine: &mut Machine,
        leg: Leg,
        references: &mut Vec<i64>,
    ) -> Option<(u64, Counts)> {
        let wanted = self.levels.load(Ordering::Relaxed);
        let levels = frames::levels(machine.program(), machine.state(), self.demands, wanted)?;
        let most_calls = machine.program().module().limits.depth;
        let (state, mut watcher) = machine.state_and_watcher(leg);
        let told = self.told.load(Ordering::Relaxed);
        let of = FormFrames { calls: &self.calls, demands: self.demands, told, levels, most_calls };
        let open = OpenFrames::new(of, state, references).ok()??;
        // Main asks for none, as a rule.
        let inputs = if self.inputs.is_empty() { Vec::new() } else { inputs(&self.inputs, state, &open) };
        let cells = cells(state, references);
        let outcome = self.code.run(Job {
            inputs: &inputs,
            cells,
            left: leg.budget,
            watcher: watcher.as_mut(),
            evidence: None,
        });
        let CodeOutcome::Exit { exit, steps, counts, .. } = outcome else { return None };
        let exit = self.exits.get(exit as usize)?;
        let left = open.leave(state, exit, references);
        self.tell_more(open.told, left);
        if exit.is_full {
            self.deepen();
        }
        Some((steps, counts))
    }
}

/// Whether a form reads or changes adjoints: then each real has one while its code is run.
fn needs_adjoints(form: &SsaForm) -> bool {
    let ops = form.blocks.iter().flat_map(|block| &block.ops).filter_map(|&value| form.op(value));
    ops.into_iter()
        .any(|op| matches!(op.kind, OpKind::Load(Space::Adjoints) | OpKind::Store(Space::Adjoints)))
}

/// What a version asks for, as it is in the current call.
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
