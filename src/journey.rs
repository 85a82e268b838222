//! A program's journey: in one direction, or there and back. Runs, shows and measures; what is said
//! about it is decided elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver_vm::drift::{Drift, largest_drift, restored, same};
use reviver_vm::explain::{Explanation, explain};
use reviver_vm::values::{Garbage, Value};
use reviver_vm::{Machine, Program, State, Stop, Travel};

use crate::cli::Run;
use crate::failure::Outcome;
use crate::interrupt::{self, Signal};
use crate::output;
use crate::progress::Progress;

/// Steps between two looks at the clock.
const CHUNK: u64 = 1 << 22;

/// What a run in one direction ended with.
pub enum Ending {
    /// At the bound of the program.
    Arrived,
    /// The step limit came first.
    Limited,
    /// A signal came first.
    Interrupted(Signal),
    Trapped(Explanation),
}

/// The way back of a `--check`.
pub struct RoundTrip {
    pub ending: Ending,
    pub steps: u64,
    pub restored: bool,
    pub bit_exact: bool,
    pub drift: Option<Drift>,
}

/// Everything that is said about a run.
pub struct Report {
    pub program: Arc<Program>,
    pub travel: Travel,
    pub ending: Ending,
    /// Where the first direction ended.
    pub state: State,
    /// What isn't as it must be there.
    pub garbage: Vec<Garbage>,
    pub round_trip: Option<RoundTrip>,
    pub steps: u64,
    pub history_bytes: usize,
    pub elapsed: Duration,
    /// What `show` printed, kept for `--json`.
    pub shown: Vec<(String, Value)>,
}

/// Runs as the options say.
pub fn travel(options: &Run, machine: &mut Machine) -> Outcome<Report> {
    let travel = if options.back { Travel::Backward } else { Travel::Forward };
    let program = machine.program().clone();
    let started = Instant::now();
    machine.stop_when(interrupt::flag());
    let first = machine.state().clone();
    let mut shown = Vec::new();
    let ending = go(options, machine, travel, &mut shown)?;
    let state = machine.state().clone();
    let history_bytes = machine.history_bytes();
    let arrived = matches!(ending, Ending::Arrived);
    let garbage = if arrived { program.garbage(&state, travel) } else { Vec::new() };
    let round_trip = match arrived && options.check {
        true => Some(come_back(options, machine, travel.reversed(), &first, &state)?),
        false => None,
    };
    let steps = state.step.abs_diff(first.step);
    let elapsed = started.elapsed();
    Ok(Report { program, travel, ending, state, garbage, round_trip, steps, history_bytes, elapsed, shown })
}

fn come_back(
    options: &Run,
    machine: &mut Machine,
    travel: Travel,
    first: &State,
    turn: &State,
) -> Outcome<RoundTrip> {
    // What the way there has shown isn't shown again.
    let ending = go(options, machine, travel, &mut Vec::new())?;
    let (program, last) = (machine.program(), machine.state());
    let steps = last.step.abs_diff(turn.step);
    if !matches!(ending, Ending::Arrived) {
        return Ok(RoundTrip { ending, steps, restored: false, bit_exact: false, drift: None });
    }
    let bit_exact = same(first, last);
    let restored = bit_exact || !options.start.exact && restored(program, first, last);
    Ok(RoundTrip { ending, steps, restored, bit_exact, drift: largest_drift(program, first, turn, last) })
}

/// Runs to the bound, showing progress and what `show` shows.
fn go(
    options: &Run,
    machine: &mut Machine,
    travel: Travel,
    shown: &mut Vec<(String, Value)>,
) -> Outcome<Ending> {
    let mut progress = Progress::new(if travel == Travel::Forward { "forward" } else { "backward" });
    let first = machine.state().step;
    let limit = options.start.max_steps.unwrap_or(u64::MAX);
    loop {
        let made = machine.state().step.abs_diff(first);
        let budget = CHUNK.min(limit - made);
        match machine.run(travel, budget) {
            Ok(Stop::Bound) => return Ok(Ending::Arrived),
            Ok(Stop::Budget) if made + budget >= limit => return Ok(limited(machine, travel)),
            Ok(Stop::Budget) => progress.update(made + budget),
            Ok(Stop::Shown { at, class, bits }) => {
                let entry = output::shown(machine, at, class, bits);
                if options.start.json {
                    shown.push(entry);
                } else {
                    progress.print(&format!("{} = {}\n", entry.0, machine.program().text(entry.1)))?;
                }
            }
            Ok(Stop::Interrupted) => {
                return Ok(interrupt::arrived().map_or(Ending::Limited, Ending::Interrupted));
            }
            Err(trap) => return Ok(Ending::Trapped(explain(machine.program(), machine.state(), trap))),
        }
    }
}

/// A limit that is reached exactly at the bound is no limit.
fn limited(machine: &Machine, travel: Travel) -> Ending {
    let program = machine.program();
    let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
    let state = machine.state();
    if state.position == bound && state.calls.is_empty() { Ending::Arrived } else { Ending::Limited }
}
