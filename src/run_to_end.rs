//! Runs of a program to its end, in one direction or as a round trip, with measurements. Other modules decide what to
//! report.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver_inspect::follow::{self, PlacedObserver};
use reviver_vm::drift::{Drift, largest_drift, restored, same};
use reviver_vm::explain::{Explanation, explain};
use reviver_vm::garbage::Garbage;
use reviver_vm::strategy::{CheckpointedRun, Retention, RunCost, RunHalt, UsedStrategy};
use reviver_vm::{CheckLevel, Machine, Program, ShownValue, State, Stop, Travel};

use crate::account::Account;
use crate::cli::RunOptions;
use crate::failure::{Exit, Failure, Fallible};
use crate::interrupt::{self, Signal};
use crate::progress::ProgressLine;
use crate::shown::{self, ShownValues};

/// Number of steps between two progress updates.
const CHUNK: u64 = 1 << 22;

/// Reason why a run in one direction ended.
pub enum Ending {
    /// The run reached the end of the program in its direction.
    Arrived,
    /// The run reached the step limit before its end.
    Limited,
    /// A signal stopped the run before its end.
    Interrupted(Signal),
    Trapped(Box<Explanation>),
    /// The retention strategy needs more than `bytes` bytes.
    Full {
        strategy: &'static str,
        bytes: u64,
    },
}

/// Backward run of a `--check`.
pub struct RoundTrip {
    pub ending: Ending,
    pub steps: u64,
    pub restored: bool,
    pub bit_exact: bool,
    pub drift: Option<Drift>,
}

/// Destination of the values that the instruction `show` outputs during a run.
pub enum Shows<'s> {
    Printed,
    Kept(&'s mut ShownValues),
    /// Values are discarded: the caller has no use for them, or has already printed them.
    Dropped,
}

/// Options of a run to the end of the program in one direction.
pub struct RunToEnd<'w, 'f> {
    pub limit: Option<u64>,
    pub shows: Shows<'w>,
    /// Observer of the run.
    pub observer: Option<&'w mut PlacedObserver<'f>>,
}

/// Data of a run's report.
pub struct Report<'m> {
    pub program: Arc<Program>,
    pub level: CheckLevel,
    pub travel: Travel,
    /// Maximum number of steps in each direction.
    pub limit: Option<u64>,
    pub ending: Ending,
    /// Machine after the run; after a round trip it is at the start again.
    pub machine: &'m Machine,
    /// Retention strategy of the backward run; `None` unless a strategy was requested.
    pub taken: Option<UsedStrategy>,
    /// Cost of the retention strategy.
    pub cost: RunCost,
    /// State at the turning point of a round trip.
    turn: Option<State>,
    /// Cells that violate the rules at the end of the first direction.
    pub garbage: Vec<Garbage>,
    pub round_trip: Option<RoundTrip>,
    pub steps: u64,
    pub history_bytes: usize,
    pub elapsed: Duration,
    /// Indices of the globals whose `default` was used: the run required every value, and these weren't given.
    pub assumed: Vec<usize>,
    /// Values of `show`, kept for `--json`.
    pub shown: ShownValues,
    /// Account in bits, if requested.
    pub account: Option<Account>,
}

impl Report<'_> {
    /// Returns the state at the end of the first direction.
    pub fn state(&self) -> &State {
        self.turn.as_ref().unwrap_or(self.machine.state())
    }
}

/// Begins a run with a retention strategy (a checkpointed run), as the options specify.
pub fn checkpointed_run(options: &RunOptions, machine: Machine) -> Fallible<CheckpointedRun> {
    let travel = if options.back { Travel::Backward } else { Travel::Forward };
    let residues = options.start.exact.then_some(Retention::RESIDUES);
    begin(machine, options.strategies.retention().or(residues), travel)
}

/// Begins a checkpointed run, which stops when a signal arrives.
pub fn begin(
    mut machine: Machine,
    retention: Option<Retention>,
    travel: Travel,
) -> Fallible<CheckpointedRun> {
    machine.stop_when(interrupt::flag());
    CheckpointedRun::begin(machine, retention, travel).map_err(|error| {
        Failure::new(
            Exit::Trap,
            format_args!("{error} for the copy of the state from which the backward run starts"),
        )
        .help("use `--strategy reverse`, which keeps no states")
    })
}

/// Runs as the options specify. A round trip copies the state at its start and at its turning point, for comparison
/// and report; other runs copy nothing.
pub fn travel<'m>(
    options: &RunOptions,
    checkpointed_run: &'m mut CheckpointedRun,
    assumed: Vec<usize>,
    mut observer: Option<&mut PlacedObserver<'_>>,
) -> Fallible<Report<'m>> {
    let travel = if options.back { Travel::Backward } else { Travel::Forward };
    let program = checkpointed_run.machine().program().clone();
    let started = Instant::now();
    let first_step = checkpointed_run.machine().state().step;
    let first = if options.check { Some(copy(checkpointed_run.machine())?) } else { None };
    let mut shown = ShownValues::default();
    let shows = if options.start.json { Shows::Kept(&mut shown) } else { Shows::Printed };
    let to_end = RunToEnd { limit: options.start.max_steps, shows, observer: observer.as_deref_mut() };
    let ending = go(to_end, checkpointed_run, travel)?;
    let machine = checkpointed_run.machine();
    let steps = machine.state().step.abs_diff(first_step);
    let arrived = matches!(ending, Ending::Arrived);
    let garbage = if arrived { program.garbage(machine.state(), travel) } else { Vec::new() };
    let (mut turn, mut round_trip) = (None, None);
    if let Some(first) = first.filter(|_| arrived) {
        let state = turn.insert(copy(checkpointed_run.machine())?);
        round_trip = Some(come_back(options, checkpointed_run, (&first, state), observer)?);
    }
    let (elapsed, taken, cost) = (started.elapsed(), checkpointed_run.taken(), checkpointed_run.cost());
    let history_bytes = usize::try_from(cost.peak_bytes).unwrap_or(usize::MAX);
    let back = round_trip.as_ref().map(|trip| &trip.ending);
    let is_full = [Some(&ending), back].into_iter().flatten().any(|one| matches!(one, Ending::Full { .. }));
    // Only a strategy that the options request is reported; the plain history of `--exact` isn't. If a strategy exceeds
    // its memory, the failure names the strategy.
    let taken = taken.filter(|_| options.strategies.retention().is_some() && !is_full);
    Ok(Report {
        program,
        level: options.start.checking.level(),
        travel,
        limit: options.start.max_steps,
        ending,
        machine: checkpointed_run.machine(),
        taken,
        cost,
        turn,
        garbage,
        round_trip,
        steps,
        history_bytes,
        elapsed,
        assumed,
        shown,
        account: None,
    })
}

fn copy(machine: &Machine) -> Fallible<State> {
    machine.state().try_clone().map_err(|error| {
        Failure::new(Exit::Trap, format_args!("{error} for the copies that `--check` compares"))
            .help("leave `--check` out: no other option needs these copies")
    })
}

fn come_back(
    options: &RunOptions,
    checkpointed_run: &mut CheckpointedRun,
    (first, turn): (&State, &State),
    observer: Option<&mut PlacedObserver<'_>>,
) -> Fallible<RoundTrip> {
    let travel = if options.back { Travel::Forward } else { Travel::Backward };
    // The forward run already showed these values, so the backward run drops them.
    let to_end = RunToEnd { limit: options.start.max_steps, shows: Shows::Dropped, observer };
    let ending = go(to_end, checkpointed_run, travel)?;
    let machine = checkpointed_run.machine();
    let (program, last) = (machine.program(), machine.state());
    let steps = last.step.abs_diff(turn.step);
    if !matches!(ending, Ending::Arrived) {
        return Ok(RoundTrip { ending, steps, restored: false, bit_exact: false, drift: None });
    }
    let bit_exact = same(first, last);
    let is_exact = checkpointed_run.retention().is_some();
    let restored = bit_exact || !is_exact && restored(program, first, last);
    Ok(RoundTrip { ending, steps, restored, bit_exact, drift: largest_drift(program, first, turn, last) })
}

/// Runs to the end of the program. Meanwhile updates the progress line, and handles the values of `show`.
pub fn go(
    to_end: RunToEnd<'_, '_>,
    checkpointed_run: &mut CheckpointedRun,
    travel: Travel,
) -> Fallible<Ending> {
    let RunToEnd { limit, mut shows, mut observer } = to_end;
    let what = if travel == Travel::Forward { "forward" } else { "backward" };
    let mut progress = ProgressLine::new(what, limit.is_some());
    let first = checkpointed_run.machine().state().step;
    let limit = limit.unwrap_or(u64::MAX);
    loop {
        let made = checkpointed_run.machine().state().step.abs_diff(first);
        // A region of tasks runs on threads only if the step limit of the call allows the whole region. So a run with
        // threads isn't split into chunks.
        let part = if checkpointed_run.machine().has_threads(None) { u64::MAX } else { CHUNK };
        let budget = part.min(limit - made);
        let outcome = follow::run(checkpointed_run, observer.as_deref_mut(), travel, budget);
        let machine = checkpointed_run.machine();
        match outcome {
            Ok(Stop::Bound) => return Ok(Ending::Arrived),
            Ok(Stop::Budget) if made + budget >= limit => return Ok(limited(machine, travel)),
            Ok(Stop::Budget) => progress.update(made + budget),
            Ok(Stop::Shown { at, class, bits }) => {
                let (program, shown) = (machine.program(), ShownValue::new(at, class, bits));
                match &mut shows {
                    Shows::Printed => progress.print(&shown::line(program, shown))?,
                    Shows::Kept(values) => values.add(program, shown),
                    Shows::Dropped => {}
                }
            }
            Ok(Stop::Interrupted) => {
                return Ok(interrupt::received().map_or(Ending::Limited, Ending::Interrupted));
            }
            Err(RunHalt::Full { bytes }) => {
                let strategy = checkpointed_run.retention().map_or("", |retention| retention.strategy.name());
                return Ok(Ending::Full { strategy, bytes });
            }
            Err(RunHalt::Trap(trap)) => {
                let explanation = explain(machine.program(), machine.state(), trap);
                return Ok(Ending::Trapped(Box::new(explanation)));
            }
        }
    }
}

/// Returns the outcome of a run that stopped at the step limit. Reaching the end at exactly that step counts as
/// reaching the end.
fn limited(machine: &Machine, travel: Travel) -> Ending {
    let program = machine.program();
    let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
    let state = machine.state();
    if state.position == bound && state.calls.is_empty() { Ending::Arrived } else { Ending::Limited }
}
