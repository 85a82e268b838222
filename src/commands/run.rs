//! `reviver run`: builds a machine from the arguments, runs it, and reports with an exit code.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reviver_files::GrowingOutput;
use reviver_inspect::ancillas::Ancillas;
use reviver_inspect::follow::{self, PlacedObserver, RunObserver, Several};
use reviver_inspect::memory::Memory;
use reviver_vm::machine::MIN_STEPS_OF_REGION;
use reviver_vm::strategy::{CheckpointedRun, Retention, Strategy};
use reviver_vm::{Machine, Program, State, Travel, checkpoint};

use crate::account::{Account, Entropy, KeptHistory};
use crate::cli::RunOptions;
use crate::commands::plan::{self, PlannedRun};
use crate::failure::{Exit, Failure, Fallible, all, counted};
use crate::following::cells::ObservedCell;
use crate::following::log::{self, CellLog};
use crate::interrupt::Signal;
use crate::output::RunOutput;
use crate::run_to_end::{Ending, Report, RoundTrip, checkpointed_run, travel};
use crate::start::Begun;
use crate::write::OutputTarget;
use crate::{ended, engine, entropy, kinds, output, read, start, streams, write};

pub fn run(options: &RunOptions) -> Fallible {
    let travel = if options.back { Travel::Backward } else { Travel::Forward };
    let planned_run = PlannedRun { travel, ..plan::FORWARD };
    if let Some(printed) = plan::printed(&options.strategies, &options.start, &planned_run) {
        return printed;
    }
    check_streams(options)?;
    let program = start::program(&options.start)?;
    check_strategy(options, &program)?;
    let Begun { mut machine, assumed } = begun(options, &program)?;
    // With observers a run stops so often that native code would not be faster.
    let is_followed = options.log.is_some() || options.account.account;
    if let Some(runner) = engine::runner(&options.start, &program)?.filter(|_| !is_followed) {
        machine.run_by(runner);
    }
    machine.run_on_threads(options.start.threads(), MIN_STEPS_OF_REGION);
    let entropy = entropy::of(&options.start, &options.account, &program)?;
    let logged = logged(options, &program, machine.state())?;
    let mut checkpointed_run = checkpointed_run(options, machine)?;
    let outputs = Outputs::new(options)?;
    let mut followers = RunObservers::new(options, logged, outputs.log, &checkpointed_run);
    let save = |machine: &Machine| outputs.state.map_or(Ok(()), |target| save(target, &program, machine));
    let travelled = followers.travel(options, &mut checkpointed_run, assumed);
    let (saved, mut report) = match travelled {
        Ok(report) => (save(report.machine), report),
        // The values of `show` could not be printed.
        Err(failure) => return all([save(checkpointed_run.machine()), Err(failure)]),
    };
    report.account = followers.account(options, &report, entropy);
    let logged = followers.log.map_or(Ok(()), CellLog::finish);
    let taped = outputs.tape.map_or(Ok(()), |target| write_tape(target, &report));
    // If the tape file can't be written, the tape is printed instead, so that it isn't lost.
    let tape = options.tape_out.is_none() || taped.is_err();
    let form = RunOutput { json: options.start.json, stats: options.stats, tape };
    let verdict = all([saved, taped, logged, verdict(options, &report)]);
    let printed = streams::print_with(|out| output::render(&report, form, &verdict, out));
    if verdict.is_ok() && !report.garbage.is_empty() {
        streams::complain(&output::garbage(&report));
    }
    if verdict.is_ok() && entropy.is_some_and(|entropy| entropy.garbage_determines_input()) {
        streams::complain(
            "warning: the garbage alone determines the input, so deleting it erases all of the input\n",
        );
    }
    // If the reader of standard output has closed the pipe, the verdict on the run still determines the exit code.
    all([verdict.map_err(Failure::reported), printed])
}

/// Refuses a retention strategy for a run that can't use the strategy: a run in one direction, a run with
/// `--unchecked`, or a run with a state file, which can't contain snapshots.
fn check_strategy(options: &RunOptions, program: &Program) -> Fallible {
    let Some(Retention { strategy, .. }) = options.strategies.retention() else { return Ok(()) };
    let keeps_states = matches!(strategy, Strategy::Checkpoint { .. } | Strategy::Auto);
    if !options.check && !options.start.exact {
        let failure = Failure::usage(
            "a strategy applies to a run in both directions, and this run has only one direction",
        );
        return Err(failure.help(
            "add `--check` to run in both directions, or `--exact` to keep a history, or leave out `--strategy` and `--memory`",
        ));
    }
    if options.start.checking.unchecked {
        let failure = Failure::usage("a strategy needs all checks, and `--unchecked` skips some");
        return Err(failure.help("leave out `--unchecked`, or `--strategy` and `--memory`"));
    }
    if keeps_states && options.save_state.is_some() {
        let failure =
            Failure::usage("the saved state of a run can't contain the states that a strategy keeps");
        return Err(failure.help("leave out `--save-state`, or give `--strategy reverse`"));
    }
    if keeps_states && program.switches_mode() {
        let failure = Failure::usage(
            "the program switches gradient mode itself, and only a history restores its adjoints",
        );
        return Err(failure.help("give `--strategy reverse`, or `--exact`"));
    }
    Ok(())
}

/// Returns the cells that `--log` records; none without that option.
fn logged(options: &RunOptions, program: &Arc<Program>, state: &State) -> Fallible<Vec<ObservedCell>> {
    match options.log {
        Some(_) => log::chosen(&Memory::new(program.clone()), state, &options.log_cells),
        None => Ok(Vec::new()),
    }
}

/// Observers of the run.
struct RunObservers {
    memory: Memory,
    log: Option<CellLog>,
    ancillas: Option<Ancillas>,
}

impl RunObservers {
    fn new(
        options: &RunOptions,
        cells: Vec<ObservedCell>,
        file: Option<GrowingOutput>,
        checkpointed_run: &CheckpointedRun,
    ) -> RunObservers {
        let state = checkpointed_run.machine().state();
        let memory = Memory::new(checkpointed_run.machine().program().clone());
        let log = file.map(|file| CellLog::new(memory.clone(), cells, file, (state, direction(options))));
        let ancillas = options.account.account.then(|| Ancillas::new(memory.clone(), state));
        RunObservers { memory, log, ancillas }
    }

    fn travel<'m>(
        &mut self,
        options: &RunOptions,
        checkpointed_run: &'m mut CheckpointedRun,
        assumed: Vec<usize>,
    ) -> Fallible<Report<'m>> {
        let (mut instructions, mut looking): (Vec<u32>, Vec<&mut dyn RunObserver>) = (Vec::new(), Vec::new());
        if let Some(log) = &mut self.log {
            instructions.extend(log.instructions());
            looking.push(log);
        }
        if let Some(ancillas) = &mut self.ancillas {
            instructions.extend(ancillas.instructions());
            looking.push(ancillas);
        }
        if looking.is_empty() {
            return travel(options, checkpointed_run, assumed, None);
        }
        let mut several = Several(looking);
        let places = follow::places(&self.memory, instructions);
        travel(options, checkpointed_run, assumed, Some(&mut PlacedObserver { places, looks: &mut several }))
    }

    /// Returns the account of a completed run.
    fn account(&self, options: &RunOptions, report: &Report, entropy: Option<Entropy>) -> Option<Account> {
        let peak = self.ancillas.as_ref().filter(|_| matches!(report.ending, Ending::Arrived))?.peak();
        let keeps_all = match report.taken {
            Some(taken) => matches!(taken.strategy, Strategy::Reverse | Strategy::Tape),
            None => options.start.exact,
        };
        let history = KeptHistory { bytes: report.history_bytes, keeps_all };
        let cost = (report.steps, history);
        let run = (&*report.program, report.state());
        let account = Account::new(run, &report.garbage, cost, peak, options.account.temperature);
        Some(Account { entropy, ..account })
    }
}

fn save(target: OutputTarget, program: &Program, machine: &Machine) -> Fallible {
    let bytes = checkpoint::encode(program, machine.state(), machine.residues())
        .map_err(|error| Failure::load(format_args!("can't save the state: {error}")).caused_by(&error))?;
    target.write(&bytes)
}

/// Output files of a run.
struct Outputs {
    state: Option<OutputTarget>,
    tape: Option<OutputTarget>,
    log: Option<GrowingOutput>,
}

impl Outputs {
    /// Checks and opens the output files. Called before the run, and after all inputs have been read, so that no
    /// output overwrites an input.
    fn new(options: &RunOptions) -> Fallible<Outputs> {
        let target = |path: &Option<PathBuf>, kind| {
            path.as_ref().map(|path| OutputTarget::new(path, kind, options.force.force)).transpose()
        };
        Ok(Outputs {
            state: target(&options.save_state, &kinds::STATE)?,
            tape: target(&options.tape_out, &kinds::TAPE)?,
            log: target(&options.log, &kinds::LOG)?.map(OutputTarget::begin).transpose()?.flatten(),
        })
    }
}

/// Writes the resulting tape. A run that was stopped has no resulting tape.
fn write_tape(target: OutputTarget, report: &Report) -> Fallible {
    if !matches!(report.ending, Ending::Arrived) {
        return Ok(());
    }
    let is_file = matches!(target, OutputTarget::File(_));
    target.write_with(|out| {
        if is_file {
            out.write_all(kinds::TAPE_WRITTEN.as_bytes())?;
        }
        let mut values = (0..).map_while(|n| output::tape_value(report, n));
        values.try_for_each(|value| writeln!(out, "{value}"))
    })
}

/// Checks that standard input and standard output are used for one purpose each; otherwise returns a failure.
fn check_streams(options: &RunOptions) -> Fallible {
    let is_stream = |path: &Path| path == Path::new("-");
    let others = [options.from_state.as_deref(), options.account.inputs.as_deref()];
    start::check_input(&options.start.given, &others)?;
    if options.log.as_deref().is_some_and(is_stream) {
        return Err(Failure::usage("a log can't be printed").help("name a file after `--log`"));
    }
    if options.start.json && options.tape_out.as_deref().is_some_and(is_stream) {
        return Err(Failure::usage("`--tape-out -` and `--json` both print to standard output")
            .help("leave `--tape-out -` out: the JSON object has the tape"));
    }
    write::check_state_target(options.save_state.as_deref())
}

fn begun(options: &RunOptions, program: &Arc<Program>) -> Fallible<Begun> {
    let Some(path) = &options.from_state else {
        return start::begun(&options.start.given, program, direction(options));
    };
    let (state, residues) = checkpoint::decode(program, &read::data(path)?)
        .map_err(|error| Failure::load(format_args!("{}: {error}", read::shown(path))).caused_by(&error))?;
    start::check_level(path, &state, options.start.checking.level())?;
    Ok(Begun { machine: Machine::resume(program.clone(), state, residues), assumed: Vec::new() })
}

fn direction(options: &RunOptions) -> Travel {
    if options.back { Travel::Backward } else { Travel::Forward }
}

/// Returns the verdict on a report.
fn verdict(options: &RunOptions, report: &Report) -> Fallible {
    match &report.ending {
        Ending::Trapped(explanation) => {
            return Err(output::trap(Exit::Trap, "", &file_name(options), explanation));
        }
        Ending::Limited => {
            let limit = options.start.max_steps.unwrap_or_default();
            let failure = Failure::new(
                Exit::StepLimit,
                format_args!(
                    "stopped after {}, before the end",
                    counted(usize::try_from(limit).unwrap_or(usize::MAX), "step")
                ),
            );
            return Err(
                failure.help("raise `--max-steps`, or continue from a state saved with `--save-state`")
            );
        }
        Ending::Interrupted(signal) => {
            return Err(interrupted(options, *signal, report.steps, report.travel));
        }
        Ending::Full { strategy, bytes } => return Err(ended::full(strategy, *bytes)),
        Ending::Arrived => {}
    }
    if let Some(trip) = &report.round_trip {
        round_trip_verdict(options, report, trip)?;
    }
    if report.garbage.is_empty() || !(options.check || options.back) {
        return Ok(());
    }
    Err(Failure::spelled(Exit::Check, "garbage is left", output::garbage(report)))
}

fn file_name(options: &RunOptions) -> String {
    read::name(&options.start.given.file)
}

/// Failure for a run that a signal stopped, with advice on how to continue.
fn interrupted(options: &RunOptions, signal: Signal, steps: u64, travel: Travel) -> Failure {
    let (steps, name) = (counted(usize::try_from(steps).unwrap_or(usize::MAX), "step"), signal.name());
    let way = if travel == Travel::Forward { "forward" } else { "backward" };
    let failure = Failure::new(signal.exit(), format_args!("stopped by {name} after {steps} {way}"));
    let back = if travel == Travel::Backward { " --back" } else { "" };
    match &options.save_state {
        Some(path) => failure.help(format_args!(
            "to continue, give `--from-state {}{back}` instead of `--set` and `--tape`",
            path.display()
        )),
        None => failure.help("add `--save-state FILE` to be able to continue a stopped run"),
    }
}

fn round_trip_verdict(options: &RunOptions, report: &Report, trip: &RoundTrip) -> Fallible {
    let failure = match &trip.ending {
        Ending::Arrived if trip.restored => return Ok(()),
        Ending::Arrived => Failure::new(Exit::Check, "the start was not restored"),
        Ending::Limited => {
            return Err(Failure::new(
                Exit::StepLimit,
                "the backward run takes more steps than `--max-steps` allows",
            ));
        }
        Ending::Interrupted(signal) => {
            return Err(interrupted(options, *signal, trip.steps, report.travel.reversed()));
        }
        Ending::Full { strategy, bytes } => return Err(ended::full(strategy, *bytes)),
        Ending::Trapped(explanation) => {
            output::trap(Exit::Check, " while running backward", &file_name(options), explanation)
        }
    };
    let is_exact = options.start.exact || options.strategies.retention().is_some();
    let hint = !is_exact && start::loses_bits(report.program.module());
    Err(if hint { failure.help("add `--exact` to keep the lost bits") } else { failure })
}
