//! `reviver run`: a program forward, backward, or there and back.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver_isa::module::{Module, Role};
use reviver_vm::drift::{Drift, largest_drift};
use reviver_vm::explain::{Explanation, explain};
use reviver_vm::values::{Garbage, Value};
use reviver_vm::{Machine, Program, State, Stop, Travel, checkpoint};

use crate::cli::Run;
use crate::failure::{Exit, Failure, Outcome};
use crate::progress::Progress;
use crate::{given, load, output, write};

/// Steps between two looks at the clock.
const CHUNK: u64 = 1 << 22;

/// What a run in one direction ended with.
pub enum Ending {
    /// At the bound of the program.
    Arrived,
    /// The step limit came first.
    Limited,
    Trapped(Explanation),
}

/// The way back of a `--check`.
pub struct RoundTrip {
    pub ending: Ending,
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
    /// Cells that aren't as they must be there.
    pub garbage: Vec<Garbage>,
    pub round_trip: Option<RoundTrip>,
    pub steps: u64,
    pub history_bytes: usize,
    pub elapsed: Duration,
    /// What `show` printed, kept for `--json`.
    pub shown: Vec<(String, Value)>,
}

pub fn run(options: &Run) -> Outcome {
    let module = renumbered(load::module(&options.file)?, options);
    let program = load::program(&options.file, module)?;
    let mut machine = start(options, &program)?;
    if options.exact {
        machine.keep_residues();
    }
    let report = report(options, &program, &mut machine)?;
    if let Some(path) = &options.save_state {
        write::whole(path, &checkpoint::encode(&program, machine.state(), machine.residues()))?;
    }
    if let Some(path) = &options.tape_out {
        write_tape(path, &report)?;
    }
    write::print(&output::render(&report, options))?;
    verdict(options, &report)
}

/// The module with the numbers that the options ask for.
fn renumbered(mut module: Module, options: &Run) -> Module {
    if let Some(choice) = options.real {
        module.real = choice.over(module.real);
    }
    if let Some(word) = options.word {
        module.word = word;
    }
    module
}

fn start(options: &Run, program: &Arc<Program>) -> Outcome<Machine> {
    if let Some(path) = &options.from_state {
        let (state, residues) = checkpoint::decode(program, &load::bytes(path)?)
            .map_err(|error| Failure::new(Exit::Load, format_args!("{}: {error}", path.display())))?;
        return Ok(Machine::resume(program.clone(), state, residues));
    }
    let mut machine = match options.back {
        true => Machine::at_end(program.clone()),
        false => Machine::at_begin(program.clone()),
    };
    let given = given::set(program, machine.state_mut(), &options.set)?;
    check_given(options, program, &given)?;
    if let Some(argument) = &options.tape {
        let mut tape = given::tape(program, argument)?;
        // The end of the input tape is read first; the end of the output tape was written last.
        if options.back {
            machine.state_mut().output = tape;
        } else {
            tape.reverse();
            machine.state_mut().input = tape;
        }
    }
    Ok(machine)
}

/// Forward runs are given inputs, backward runs results, all of the declared garbage among them.
fn check_given(options: &Run, program: &Program, given: &[usize]) -> Outcome {
    for &global in given {
        let declared = &program.module().globals[global];
        let (name, role) = (&declared.name, declared.role);
        let fits = if options.back { role.is_result() } else { role.is_given() };
        if fits {
            continue;
        }
        let failure = Failure::new(Exit::Usage, format_args!("`{name}` can't be given: it is `{}`", role.directive()));
        return Err(match (role, options.back) {
            (Role::Private, _) => failure.help("private cells start and end at their initial value"),
            (_, true) => failure.help("a backward run is given the results, and finds the inputs"),
            (_, false) => failure.help("a forward run is given the `.in` and `.inout` cells"),
        });
    }
    let missing = program.declared_garbage().find(|(n, _)| options.back && !given.contains(n));
    match missing {
        Some((_, garbage)) => Err(Failure::new(
            Exit::Usage,
            format_args!("going back needs the garbage `{}` that the forward run left", garbage.name),
        )
        .help(format_args!("add `--set {}=…`", garbage.name))),
        None => Ok(()),
    }
}

fn report(options: &Run, program: &Arc<Program>, machine: &mut Machine) -> Outcome<Report> {
    let travel = if options.back { Travel::Backward } else { Travel::Forward };
    let started = Instant::now();
    let first = machine.state().clone();
    let mut shown = Vec::new();
    let ending = go(options, machine, travel, &mut shown)?;
    let steps = machine.state().step.abs_diff(first.step);
    let state = machine.state().clone();
    let garbage = match ending {
        Ending::Arrived => program.garbage(&state, travel),
        _ => Vec::new(),
    };
    let history_bytes = machine.history_bytes();
    let round_trip = match ending {
        Ending::Arrived if options.check => Some(come_back(options, machine, travel, &first, &state)?),
        _ => None,
    };
    Ok(Report {
        program: program.clone(),
        travel,
        ending,
        state,
        garbage,
        round_trip,
        steps,
        history_bytes,
        elapsed: started.elapsed(),
        shown,
    })
}

fn come_back(options: &Run, machine: &mut Machine, travel: Travel, first: &State, turn: &State) -> Outcome<RoundTrip> {
    let ending = go(options, machine, travel.reversed(), &mut Vec::new())?;
    let program = machine.program().clone();
    let last = machine.state();
    let arrived = matches!(ending, Ending::Arrived);
    let bit_exact = arrived && reviver_vm::drift::same(first, last);
    let restored = bit_exact
        || arrived && !options.exact && reviver_vm::drift::restored(&program, first, last);
    let drift = if arrived { largest_drift(&program, first, turn, last) } else { None };
    Ok(RoundTrip { ending, restored, bit_exact, drift })
}

/// Runs to the bound, showing progress and printing what `show` shows.
fn go(options: &Run, machine: &mut Machine, travel: Travel, shown: &mut Vec<(String, Value)>) -> Outcome<Ending> {
    let mut progress = Progress::new(if travel == Travel::Forward { "forward" } else { "backward" });
    let first_step = machine.state().step;
    let limit = options.max_steps.unwrap_or(u64::MAX);
    loop {
        let made = machine.state().step.abs_diff(first_step);
        let budget = CHUNK.min(limit - made);
        match machine.run(travel, budget) {
            Ok(Stop::Bound) => return Ok(Ending::Arrived),
            Ok(Stop::Budget) if made + budget >= limit => return Ok(limited(machine, travel)),
            Ok(Stop::Budget) => progress.update(made + budget),
            Ok(Stop::Shown { at, class, bits }) => {
                let entry = output::shown(machine, at, class, bits);
                if options.json {
                    shown.push(entry);
                } else {
                    write::print(&format!("{} = {}\n", entry.0, machine.program().text(entry.1)))?;
                }
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

fn write_tape(path: &Path, report: &Report) -> Outcome {
    let lines: String = output::resulting_tape(report).iter().map(|value| format!("{value}\n")).collect();
    write::text(Some(path).filter(|path| *path != Path::new("-")), &lines)
}

/// The exit code that a report deserves, with what is to be said on stderr.
fn verdict(options: &Run, report: &Report) -> Outcome {
    match &report.ending {
        Ending::Trapped(explanation) => {
            return Err(Failure { exit: Exit::Trap, message: output::trap(&load::name(&options.file), explanation) });
        }
        Ending::Limited => {
            let limit = options.max_steps.unwrap_or_default();
            return Err(Failure::new(Exit::StepLimit, format_args!("stopped after {limit} steps, before the end"))
                .help("raise `--max-steps`, or go on from a state saved with `--save-state`"));
        }
        Ending::Arrived => {}
    }
    if let Some(trip) = &report.round_trip {
        match &trip.ending {
            Ending::Trapped(explanation) => {
                let message = output::trap(&load::name(&options.file), explanation);
                return Err(Failure { exit: Exit::Check, message });
            }
            Ending::Limited => return Err(Failure::new(Exit::StepLimit, "the way back takes more than `--max-steps`")),
            Ending::Arrived if !trip.restored => return Err(Failure::new(Exit::Check, "the start was not restored")),
            Ending::Arrived => {}
        }
    }
    if report.garbage.is_empty() {
        return Ok(());
    }
    let message = output::garbage(report);
    if options.check || options.back {
        return Err(Failure { exit: Exit::Check, message });
    }
    eprint!("{message}");
    Ok(())
}
