//! A program's journey: in one direction, or there and back. Runs, shows and measures; what is said
//! about it is decided elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver_isa::instruction::Class;
use reviver_isa::text::Speller;
use reviver_isa::update::OperandShape;
use reviver_vm::drift::{Drift, largest_drift, restored, same};
use reviver_vm::explain::{Explanation, explain};
use reviver_vm::garbage::Garbage;
use reviver_vm::values::Value;
use reviver_vm::{Machine, Program, State, Stop, Travel};

use crate::cli::RunOptions;
use crate::failure::{Exit, Failure, Fallible};
use crate::interrupt::{self, Signal};
use crate::progress::ProgressLine;

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
    Trapped(Box<Explanation>),
}

/// The way back of a `--check`.
pub struct RoundTrip {
    pub ending: Ending,
    pub steps: u64,
    pub restored: bool,
    pub bit_exact: bool,
    pub drift: Option<Drift>,
}

/// What `show` shows, as far as it is kept: a program may show without end.
#[derive(Default)]
pub struct ShownValues {
    pub entries: Vec<(String, Value)>,
    pub left_out: u64,
}

impl ShownValues {
    const MOST: usize = 1 << 20;

    fn add(&mut self, entry: (String, Value)) {
        if self.entries.len() < ShownValues::MOST { self.entries.push(entry) } else { self.left_out += 1 }
    }
}

/// Everything that is said about a run.
pub struct Report<'m> {
    pub program: Arc<Program>,
    pub travel: Travel,
    pub ending: Ending,
    /// Where it is now: at the start again after a round trip.
    pub machine: &'m Machine,
    /// Where a round trip turned.
    turn: Option<State>,
    /// What isn't as it must be there.
    pub garbage: Vec<Garbage>,
    pub round_trip: Option<RoundTrip>,
    pub steps: u64,
    pub history_bytes: usize,
    pub elapsed: Duration,
    /// Results that weren't given, and for which their `default` stood, by number.
    pub assumed: Vec<usize>,
    /// What `show` showed, kept for `--json`.
    pub shown: ShownValues,
}

impl Report<'_> {
    /// Where the first direction ended.
    pub fn state(&self) -> &State {
        self.turn.as_ref().unwrap_or(self.machine.state())
    }
}

/// Runs as the options say. Only a round trip needs copies of the state: one of its start, one of its turn.
pub fn travel<'m>(
    options: &RunOptions,
    machine: &'m mut Machine,
    assumed: Vec<usize>,
) -> Fallible<Report<'m>> {
    let travel = if options.back { Travel::Backward } else { Travel::Forward };
    let program = machine.program().clone();
    let started = Instant::now();
    machine.stop_when(interrupt::flag());
    let first_step = machine.state().step;
    let first = if options.check { Some(copy(machine)?) } else { None };
    let mut shown = ShownValues::default();
    let ending = go(options, machine, travel, &mut shown)?;
    let steps = machine.state().step.abs_diff(first_step);
    let history_bytes = machine.history_bytes();
    let arrived = matches!(ending, Ending::Arrived);
    let garbage = if arrived { program.garbage(machine.state(), travel) } else { Vec::new() };
    let (mut turn, mut round_trip) = (None, None);
    if let Some(first) = first.filter(|_| arrived) {
        let state = turn.insert(copy(machine)?);
        round_trip = Some(come_back(options, machine, travel.reversed(), &first, state)?);
    }
    let elapsed = started.elapsed();
    Ok(Report {
        program,
        travel,
        ending,
        machine,
        turn,
        garbage,
        round_trip,
        steps,
        history_bytes,
        elapsed,
        assumed,
        shown,
    })
}

fn copy(machine: &Machine) -> Fallible<State> {
    machine.state().try_clone().map_err(|error| {
        Failure::new(Exit::Trap, format_args!("{error} for the copies that `--check` compares"))
            .help("without `--check` none is made")
    })
}

fn come_back(
    options: &RunOptions,
    machine: &mut Machine,
    travel: Travel,
    first: &State,
    turn: &State,
) -> Fallible<RoundTrip> {
    // What the way there has shown isn't shown again.
    let ending = go(options, machine, travel, &mut ShownValues::default())?;
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
    options: &RunOptions,
    machine: &mut Machine,
    travel: Travel,
    shown: &mut ShownValues,
) -> Fallible<Ending> {
    let mut progress = ProgressLine::new(if travel == Travel::Forward { "forward" } else { "backward" });
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
                let entry = entry_shown(machine, at, class, bits);
                if options.start.json {
                    shown.add(entry);
                } else {
                    progress.print(&format!("{} = {}\n", entry.0, machine.program().text(entry.1)))?;
                }
            }
            Ok(Stop::Interrupted) => {
                return Ok(interrupt::arrived().map_or(Ending::Limited, Ending::Interrupted));
            }
            Err(trap) => {
                let explanation = explain(machine.program(), machine.state(), trap);
                return Ok(Ending::Trapped(Box::new(explanation)));
            }
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

/// The name and the value of what a `show` shows.
fn entry_shown(machine: &Machine, at: u32, class: Class, bits: u64) -> (String, Value) {
    let value = match class {
        Class::Int => Value::Int(bits as i64),
        Class::Real => Value::Real(bits),
    };
    let module = machine.program().module();
    let procedure = &module.procedures[machine.program().procedure_of(at)];
    let operand = module.code.get(at as usize).filter(|i| i.update.shape() == OperandShape::Show);
    let name = operand.and_then(|i| i.operands.first());
    let name = name.map_or(String::new(), |operand| Speller { module, procedure }.operand(operand));
    (name, value)
}
