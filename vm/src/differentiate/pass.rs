//! Gradient passes: a primal sweep with gradient mode off, and a reverse sweep with gradient mode on. If the reverse
//! sweep diverged, the pass is repeated with a history. The same code serves plain numbers and dual numbers.

use std::sync::Arc;

use reviver_isa::mutants::{Rule, keeps};
use serde::{Deserialize, Serialize};

use crate::allocation::{self, OutOfMemory};
use crate::explain::{Explanation, explain};
use crate::history::Residues;
use crate::interp::engine::Interpreted;
use crate::level::CheckLevel;
use crate::machine::MIN_STEPS_OF_REGION;
use crate::machine::Machine;
use crate::program::Program;
use crate::reports::{Loss, Reports};
use crate::shown::ShownValue;
use crate::state::shown_mark::ShownMark;
use crate::state::{Adjoints, State};
use crate::stops::{Node, Stops};
use crate::strategy::{CheckpointedRun, Retention, RunCost, RunHalt, Strategy, UsedStrategy};
use crate::trap::{Cause, Trap};
use crate::travel::{Stop, Travel};

use super::divergence::{Divergence, TurnFacts, largest, verify};
use super::seeds::{SeededCell, SumSize, cells_of};
use super::turning::TurningPoint;
use super::{DifferentiateError, Subject, VerificationReport};

/// Value and gradient of a loss or seeded sum.
#[derive(Debug)]
pub struct Gradient {
    /// Values of the seeded cells, as bits of the number system.
    pub values: Vec<u64>,
    /// Adjoints of all reals at the start, as bits; [`super::Origin`] locates one.
    pub adjoints: Adjoints,
    /// Number of steps of the primal sweep.
    pub steps: u64,
    /// Instruction before which the run turned around; `None` at the end of the program.
    pub turned: Option<u32>,
    /// Number of steps of the reverse sweep: those that undo the primal sweep, and those of derivative rules.
    pub steps_back: u64,
    /// Number of nonzero adjoints that were dropped because their cell became a constant, such as 0.
    pub drops: u64,
    /// Peak memory of the state and the history, in bytes.
    pub memory_bytes: usize,
    /// Peak memory of the history (residues and snapshots), in bytes.
    pub history_bytes: usize,
    /// Peak memory of the threads' copies of the state, in bytes.
    pub thread_bytes: usize,
    /// Strategy that was used, if one was requested.
    pub taken: Option<UsedStrategy>,
    /// Cost of running backward.
    pub cost: RunCost,
    /// Verification report, including the losses of derivative information.
    pub verification_report: VerificationReport,
}

impl Gradient {
    pub(super) fn new(subject: &Subject, sweep_end: SweepEnd, recomputed: Option<Divergence>) -> Gradient {
        let SweepEnd { state, reports, turn, taken, cost, loss_error, thread_bytes } = sweep_end;
        let history_bytes = usize::try_from(cost.peak_bytes).unwrap_or(usize::MAX);
        Gradient {
            taken,
            cost,
            values: turn.values,
            steps: turn.at.step.abs_diff(subject.start.step),
            turned: Some(turn.at.position).filter(|&position| position < subject.program.end()),
            steps_back: turn.at.step.abs_diff(state.step),
            drops: state.counters.drops,
            memory_bytes: state.bytes().saturating_add(history_bytes),
            history_bytes,
            thread_bytes,
            verification_report: VerificationReport { reports, recomputed, loss_error },
            adjoints: state.adjoints.unwrap_or_default(),
        }
    }
}

/// Results of a primal sweep, and of the reverse sweeps, one for each list of seeds.
pub(super) struct SweepResults<T> {
    /// Results of the reverse sweeps, in the order of the lists.
    pub sweep_ends: Vec<T>,
    /// Reason why reverse sweeps were repeated with a history, if they were.
    pub recomputed: Option<Divergence>,
}

/// State and reports at the end of a reverse sweep.
pub(super) struct SweepEnd<B = u64> {
    pub state: State<B>,
    pub reports: Reports,
    /// Turning point of the sweep.
    pub turn: Turn,
    /// Strategy that was used, if one was requested.
    pub taken: Option<UsedStrategy>,
    pub cost: RunCost,
    /// Error bound, see [`VerificationReport::loss_error`].
    pub loss_error: Option<f64>,
    /// Peak memory of threads, see [`Gradient::thread_bytes`].
    pub thread_bytes: usize,
}

/// Runs a primal sweep from a start, and a reverse sweep for each list of seeds. Calls `keep` with the end of each
/// reverse sweep, and collects the return values. Diverged reverse sweeps in floats are repeated with a history.
pub(super) fn sweeps<B: Interpreted, T>(
    subject: &Subject,
    history: PassHistory,
    start: &State<B>,
    outputs: &[Vec<SeededCell>],
    keep: impl Fn(SweepEnd<B>) -> Result<T, OutOfMemory>,
) -> Result<SweepResults<T>, DifferentiateError> {
    match attempt(subject, Pass::new(subject, start, history)?, start, outputs, &keep) {
        Err(Stopped::Divergence(reason)) if history.is_recomputed(subject) => {
            let pass = Pass::again(subject, start, &reason)?;
            let again = attempt(subject, pass, start, outputs, &keep).map_err(Stopped::error)?;
            Ok(SweepResults { recomputed: Some(reason), ..again })
        }
        other => other.map_err(Stopped::error),
    }
}

/// History that a pass keeps for its reverse sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassHistory {
    Nothing,
    /// Requested history, with the length of the sweep in steps if it is known.
    Asked(Retention, Option<u64>),
    /// History for the repetition of a diverged sweep, which the caller didn't request.
    Recomputing {
        /// Bound on the history's size in bytes; beyond it, snapshots are kept instead.
        memory: u64,
    },
}

impl PassHistory {
    /// Returns the history that a subject requests.
    pub fn of(subject: &Subject) -> PassHistory {
        let residues = subject.exact.then_some(Retention::RESIDUES);
        subject
            .retention
            .or(residues)
            .map_or(PassHistory::Nothing, |retention| PassHistory::Asked(retention, None))
    }

    /// Returns the history with which a diverged reverse sweep is repeated.
    pub fn recomputing(subject: &Subject) -> PassHistory {
        PassHistory::Recomputing { memory: subject.recompute_memory }
    }

    pub fn is_recomputing(self) -> bool {
        matches!(self, PassHistory::Recomputing { .. })
    }

    /// Returns the history for a further sweep of known length.
    #[must_use]
    pub fn of_length(self, steps: u64) -> PassHistory {
        match self {
            PassHistory::Asked(retention, _) => PassHistory::Asked(retention, Some(steps)),
            PassHistory::Nothing | PassHistory::Recomputing { .. } => self,
        }
    }

    /// Returns the strategy with its bounds; `None` if no history is kept.
    pub fn retention(self) -> Option<Retention> {
        match self {
            PassHistory::Nothing => None,
            PassHistory::Asked(retention, _) => Some(retention),
            PassHistory::Recomputing { memory } => {
                Some(Retention { strategy: Strategy::Auto, memory: Some(memory) })
            }
        }
    }

    /// Returns the steps of the sweep, if they are known.
    fn length(self) -> Option<u64> {
        match self {
            PassHistory::Asked(_, length) => length,
            PassHistory::Nothing | PassHistory::Recomputing { .. } => None,
        }
    }

    /// Returns the check level of the pass. Only native code can omit checks, and native code executes only passes over
    /// plain numbers without a history. So all other passes are checked.
    fn level<B: Interpreted>(self, subject: &Subject) -> CheckLevel {
        if self == PassHistory::Nothing && B::IS_PLAIN { subject.level } else { CheckLevel::Checked }
    }

    /// Returns true if a reverse sweep that diverges is repeated with a history. The result is true if reals are floats
    /// and the pass has no history.
    pub fn is_recomputed(self, subject: &Subject) -> bool {
        self == PassHistory::Nothing
            && !subject.program.module().real.is_exact()
            && keeps(Rule::DivergedSweepsAreRecomputed)
    }
}

/// Reason why an attempt failed.
pub(super) enum Stopped {
    For(DifferentiateError),
    Divergence(Divergence),
}

impl Stopped {
    /// Converts the reason to an error, for a sweep that can't be repeated with a history. In exact number systems only
    /// a program that computes values from its adjoints can diverge.
    pub fn error(self) -> DifferentiateError {
        match self {
            Stopped::For(error) => error,
            Stopped::Divergence(Divergence::Trap(explanation)) => {
                DifferentiateError::Trap { backward: true, explanation }
            }
            Stopped::Divergence(reason) => DifferentiateError::NotRestored { why: Box::new(reason) },
        }
    }
}

impl<E: Into<DifferentiateError>> From<E> for Stopped {
    fn from(error: E) -> Stopped {
        Stopped::For(error.into())
    }
}

fn attempt<B: Interpreted, T>(
    subject: &Subject,
    mut pass: Pass<B>,
    start: &State<B>,
    outputs: &[Vec<SeededCell>],
    keep: &impl Fn(SweepEnd<B>) -> Result<T, OutOfMemory>,
) -> Result<SweepResults<T>, Stopped> {
    let turning = TurningPoint::of(subject, &cells_of(outputs)?);
    pass.forward_sweep(subject, &turning)?;
    let mut sweep_ends = allocation::with_capacity(outputs.len())?;
    let mut end = Some(pass);
    for (n, seeds) in outputs.iter().enumerate() {
        let pass = if n + 1 == outputs.len() {
            end.take()
        } else {
            end.as_ref().map(Pass::try_clone).transpose()?
        };
        let Some(mut pass) = pass else { break };
        let loss_error = pass.whole(subject, start, (n, seeds), &turning)?;
        sweep_ends.push(keep(pass.sweep_end(loss_error))?);
    }
    Ok(SweepResults { sweep_ends, recomputed: None })
}

/// Primal and reverse sweep in progress.
#[derive(Debug)]
pub(super) struct Pass<B = u64> {
    pub checkpointed_run: CheckpointedRun<B>,
    pub history: PassHistory,
    /// End of the primal sweep, once it is reached.
    pub turn: Option<Turn>,
}

/// Turning point, with the seeds of the reverse sweep, and the values of the seeded cells at the turning point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub at: TurnPoint,
    /// Seeds of the reverse sweep.
    pub seeds: Vec<SeededCell>,
    pub values: Vec<u64>,
}

impl Turn {
    fn facts(&self, program: &Program) -> TurnFacts {
        self.at.facts(SumSize::of(program, &self.seeds, &self.values))
    }
}

/// Turning point: the end of a primal sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnPoint {
    pub step: i64,
    /// Instruction of main before which the sweep ends.
    pub position: u32,
    /// Largest magnitude of a real at the turning point and at the start.
    pub largest: f64,
}

impl TurnPoint {
    /// Returns the facts that are needed to verify the reverse sweep from this turning point.
    pub fn facts(self, sum: SumSize) -> TurnFacts {
        TurnFacts { position: self.position, largest: self.largest, sum }
    }
}

impl<B: Interpreted> Pass<B> {
    pub fn new(subject: &Subject, start: &State<B>, history: PassHistory) -> Result<Pass<B>, OutOfMemory> {
        let mut machine = subject.machine(start.try_clone()?);
        let level = history.level::<B>(subject);
        if level.is_checked() && history == PassHistory::Nothing && !subject.program.module().real.is_exact()
        {
            machine.watch();
        }
        let checkpointed_run = CheckpointedRun::begin(machine, history.retention(), Travel::Forward)?;
        Ok(Pass { checkpointed_run: checkpointed_run.of_length(history.length()), history, turn: None })
    }

    /// Creates the pass that repeats a diverged pass, with a history. If the diverged pass found that the loss is
    /// ill-conditioned, the new pass reports that.
    pub fn again(subject: &Subject, start: &State<B>, reason: &Divergence) -> Result<Pass<B>, OutOfMemory> {
        let mut pass = Pass::new(subject, start, PassHistory::recomputing(subject))?;
        if let Divergence::Sensitive { loss_error, ill_conditioned: Some(at) } = *reason {
            pass.checkpointed_run.machine_mut().note(at, Loss::IllConditioned, loss_error);
        }
        Ok(pass)
    }

    /// Copies a pass that hasn't reached its turning point.
    fn try_clone(&self) -> Result<Pass<B>, OutOfMemory> {
        Ok(Pass { checkpointed_run: self.checkpointed_run.try_clone()?, history: self.history, turn: None })
    }

    /// Runs the primal sweep to the turning point.
    pub fn forward_sweep(&mut self, subject: &Subject, turning: &TurningPoint) -> Result<(), Stopped> {
        Ok(forward_to(subject, self.history, &mut self.checkpointed_run, turning.stops())?)
    }

    /// Switches gradient mode on and seeds the adjoints.
    fn start_reverse(&mut self, start: &State<B>, seeds: &[SeededCell]) -> Result<(), OutOfMemory> {
        let (seeds, mut values) = (allocation::copied(seeds)?, Vec::new());
        let at = start_reverse(self.checkpointed_run.machine_mut(), start, &seeds, &mut values)?;
        self.turn = Some(Turn { at, seeds, values });
        Ok(())
    }

    /// Runs the rest of the primal sweep, and the reverse sweep. Returns the error bound of the seeded sum, see
    /// [`VerificationReport::loss_error`]. `output` is the index of `seeds` in the lists that [`sweeps`] received.
    pub fn whole(
        &mut self,
        subject: &Subject,
        start: &State<B>,
        (output, seeds): (usize, &[SeededCell]),
        turning: &TurningPoint,
    ) -> Result<Option<f64>, Stopped> {
        if self.turn.is_none() {
            self.forward_sweep(subject, turning)?;
            self.start_reverse(start, seeds)?;
        }
        let Some(shows) = &subject.shows else { return self.reverse_sweep(subject, start) };
        let counters = &mut self.checkpointed_run.machine_mut().state_mut().counters;
        counters.shown = shows.begin_reverse(output, counters.shown);
        let swept = self.reverse_sweep(subject, start);
        // In a diverged sweep, derivative rules may have shown wrong values. So the waiting values are passed on only
        // if the sweep hasn't diverged.
        if !matches!(swept, Err(Stopped::Divergence(_))) {
            shows.settle(&subject.program)?;
        }
        swept
    }

    /// Runs the reverse sweep from the turning point to the start, and verifies it.
    fn reverse_sweep(&mut self, subject: &Subject, start: &State<B>) -> Result<Option<f64>, Stopped> {
        backward(subject, self.history, &mut self.checkpointed_run, start.own_steps())?;
        if !self.history.level::<B>(subject).is_checked() {
            return Ok(None);
        }
        let facts = self.turn.as_ref().map(|turn| turn.facts(&subject.program)).unwrap_or_default();
        verify(self.checkpointed_run.machine(), start, facts).map(Some).map_err(Stopped::Divergence)
    }

    /// Returns the end of a finished pass.
    pub fn sweep_end(self, loss_error: Option<f64>) -> SweepEnd<B> {
        let turn = self.turn.unwrap_or_default();
        let (taken, cost) = (self.checkpointed_run.taken(), self.checkpointed_run.cost());
        // The caller didn't request the strategy of a repeated pass, so this strategy isn't reported.
        let taken = taken.filter(|_| !self.history.is_recomputing());
        let machine = self.checkpointed_run.into_machine();
        let (reports, thread_bytes) = (machine.reports().clone(), machine.thread_bytes());
        SweepEnd { state: machine.into_state(), reports, turn, taken, cost, loss_error, thread_bytes }
    }
}

/// Switches gradient mode on in a machine at its turning point, and seeds the adjoints. `values` receives the bits of
/// the seeded cells.
pub(super) fn start_reverse<B: Interpreted>(
    machine: &mut Machine<B>,
    start: &State<B>,
    seeds: &[SeededCell],
    values: &mut Vec<u64>,
) -> Result<TurnPoint, OutOfMemory> {
    // All calls that can fail precede the first change of the state.
    allocation::resize(values, seeds.len())?;
    machine.state_mut().make_adjoints()?;
    let (program, state) = (machine.program(), machine.state());
    for (value, seed) in values.iter_mut().zip(seeds) {
        *value = state.reals.get(seed.cell).map_or(0, |bits| bits.word());
    }
    let largest = largest(program, &start.reals).max(largest(program, &state.reals));
    let (step, position) = (state.step, state.position);
    let state = machine.state_mut();
    state.set_mode(true);
    let adjoints = &mut state.adjoints_mut().cells;
    for seed in seeds {
        adjoints.get_mut(seed.cell).into_iter().for_each(|adjoint| *adjoint = B::of_word(seed.seed));
    }
    Ok(TurnPoint { step, position, largest })
}

impl Subject {
    /// Creates a machine at a start, without a history.
    pub(super) fn machine<B: Interpreted>(&self, start: State<B>) -> Machine<B> {
        self.machine_at(start, None)
    }

    /// Creates a machine in any state, with an optional history.
    pub(super) fn machine_at<B: Interpreted>(
        &self,
        mut state: State<B>,
        residues: Option<Residues<B>>,
    ) -> Machine<B> {
        let silent = ShownMark::SILENT;
        state.counters.shown = self.shows.as_ref().map_or(silent, |shows| shows.begin(state.counters.shown));
        let mut machine = Machine::resume(Arc::clone(&self.program), state, residues);
        if let Some(flag) = &self.interrupt {
            machine.stop_when(Arc::clone(flag));
        }
        if let Some(runner) = &self.runner {
            machine.run_by(Arc::clone(runner));
        }
        machine.run_on_threads(self.threads, MIN_STEPS_OF_REGION);
        machine
    }
}

/// Runs forward to the end, without a history.
pub(super) fn forward<B: Interpreted>(
    subject: &Subject,
    machine: Machine<B>,
) -> Result<Machine<B>, DifferentiateError> {
    forward_until(subject, machine, None)
}

/// Runs forward to the end or to a breakpoint, without a history.
pub(super) fn forward_until<B: Interpreted>(
    subject: &Subject,
    machine: Machine<B>,
    stops: Option<&Stops>,
) -> Result<Machine<B>, DifferentiateError> {
    let mut checkpointed_run = CheckpointedRun::begin(machine, None, Travel::Forward)?;
    forward_to(subject, PassHistory::Nothing, &mut checkpointed_run, stops)?;
    Ok(checkpointed_run.into_machine())
}

/// Runs forward to the end or to a breakpoint.
fn forward_to<B: Interpreted>(
    subject: &Subject,
    history: PassHistory,
    checkpointed_run: &mut CheckpointedRun<B>,
    stops: Option<&Stops>,
) -> Result<(), DifferentiateError> {
    let mut left = subject.max_steps;
    loop {
        let before = checkpointed_run.machine().state().step;
        let outcome = checkpointed_run.run(stops, Travel::Forward, left);
        let (machine, state) = (checkpointed_run.machine(), checkpointed_run.machine().state());
        left = left.saturating_sub(before.abs_diff(state.step));
        return match outcome {
            Ok(Stop::Shown { at, class, bits }) => {
                if let Some(shows) = &subject.shows {
                    let shown = ShownValue::new(at, class, bits);
                    shows.forward(&subject.program, state.counters.shown, shown)?;
                }
                continue;
            }
            Ok(Stop::Bound) => Ok(()),
            Ok(Stop::Budget) => {
                let here = Node::of(state, Travel::Forward);
                let has_arrived =
                    at_bound(machine, Travel::Forward) || stops.is_some_and(|stops| stops.contains(here));
                let limit = DifferentiateError::StepLimit { backward: false, steps: subject.max_steps };
                if has_arrived { Ok(()) } else { Err(limit) }
            }
            Ok(Stop::Interrupted) => {
                Err(DifferentiateError::Interrupted { backward: false, step: state.step })
            }
            Err(RunHalt::Trap(trap)) => {
                let explanation = explained(machine, trap)?;
                Err(DifferentiateError::Trap { backward: false, explanation })
            }
            Err(RunHalt::Full { bytes }) => Err(full(history, bytes)),
        };
    }
}

/// Returns the error that the history exceeds its bound.
fn full(history: PassHistory, bytes: u64) -> DifferentiateError {
    match history {
        PassHistory::Asked(Retention { strategy, .. }, _) => {
            DifferentiateError::MemoryFull { strategy: strategy.name(), bytes }
        }
        PassHistory::Nothing | PassHistory::Recomputing { .. } => DifferentiateError::HistoryFull { bytes },
    }
}

/// Runs backward to the beginning of the run, where the number of own steps (all steps except those of rules) is
/// `first`. A sweep that executes more own steps has diverged and might never end.
fn backward<B: Interpreted>(
    subject: &Subject,
    history: PassHistory,
    checkpointed_run: &mut CheckpointedRun<B>,
    first: i64,
) -> Result<(), Stopped> {
    let mut left = subject.max_steps;
    loop {
        let ahead = checkpointed_run.machine().state().own_steps() - first;
        if ahead < 0 {
            return Err(Stopped::Divergence(Divergence::Path));
        }
        let before = checkpointed_run.machine().state().step;
        // Steps of rules aren't counted among own steps.
        let budget = left.min(ahead.unsigned_abs().max(RULE_STEPS));
        let outcome = checkpointed_run.run(None, Travel::Backward, budget);
        let machine = checkpointed_run.machine();
        match outcome {
            Ok(Stop::Bound) => return Ok(()),
            Ok(Stop::Budget) if at_bound(machine, Travel::Backward) => return Ok(()),
            Ok(Stop::Budget) => {}
            Ok(Stop::Shown { at, class, bits }) => {
                if let Some(shows) = &subject.shows {
                    let (shown, mark) = (ShownValue::new(at, class, bits), machine.state().counters.shown);
                    shows.reverse(&subject.program, mark, shown, history.is_recomputed(subject))?;
                }
            }
            Ok(Stop::Interrupted) => {
                let step = machine.state().step;
                return Err(DifferentiateError::Interrupted { backward: true, step }.into());
            }
            Err(RunHalt::Trap(trap)) => return Err(trapped(machine, trap)),
            Err(RunHalt::Full { bytes }) => return Err(full(history, bytes).into()),
        }
        left = left.saturating_sub(before.abs_diff(machine.state().step));
        if left == 0 {
            let steps = subject.max_steps;
            return Err(DifferentiateError::StepLimit { backward: true, steps }.into());
        }
    }
}

/// Minimum number of steps that a reverse sweep executes between two checks of its progress. Steps of rules count
/// toward this number, but aren't progress.
const RULE_STEPS: u64 = 1024;

/// Classifies a trap of the reverse sweep. Erased data can't be restored without a history, and after a refused memory
/// request a history would be refused too, so these traps are errors. Any other trap may be caused by rounding, so the
/// sweep counts as diverged.
fn trapped<B: Interpreted>(machine: &Machine<B>, trap: Trap) -> Stopped {
    let explanation = match explained(machine, trap) {
        Ok(explanation) => explanation,
        Err(error) => return error.into(),
    };
    match trap.cause {
        Cause::Irreversible | Cause::NoMemory(_) => {
            DifferentiateError::Trap { backward: true, explanation }.into()
        }
        _ => Stopped::Divergence(Divergence::Trap(explanation)),
    }
}

fn explained<B: Interpreted>(machine: &Machine<B>, trap: Trap) -> Result<Box<Explanation>, OutOfMemory> {
    B::plainly(machine.state(), |state| Box::new(explain(machine.program(), state, trap)))
}

/// Returns true if the machine is at its final position. If the step limit ends a run exactly at this position, the
/// limit wasn't exceeded.
fn at_bound<B: Interpreted>(machine: &Machine<B>, travel: Travel) -> bool {
    let (program, state) = (machine.program(), machine.state());
    let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
    state.position == bound && state.calls.is_empty()
}
