//! `reviver tradeoff`: runs one program by several methods, and measures time, memory and erased bits. Another module
//! decides what is reported.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reviver_bennett::{BennettText, SegmentPlan, bennett};
use reviver_isa::Module;
use reviver_isa::module::RealSystem;
use reviver_vm::explain::explain;
use reviver_vm::stops::{Node, Stops};
use reviver_vm::strategy::{CheckpointedRun, Retention, RunHalt, Strategy};
use reviver_vm::{Cause, Machine, Program, State, Stop, Trap, Travel};

use crate::cli::TradeoffOptions;
use crate::failure::{Exit, Failure, Fallible, counted};
use crate::output::state_bytes;
use crate::output::tradeoff::{TradeoffPage, TradeoffRow, UncutProgram};
use crate::write::OutputTarget;
use crate::{kinds, load, output, read, start, streams};

/// Bennett plans of 64 segments, as (segments per level, levels). Later plans use less memory and more steps.
const PLANS: [(u32, u32); 4] = [(64, 1), (8, 2), (4, 3), (2, 6)];

/// Numbers of snapshots that are tried. Each number includes the snapshot of the initial state.
const SLOTS: [u32; 4] = [2, 4, 8, 16];

/// Number of leaves of a checkpointed run, the same as the number of segments in Bennett's method. A leaf is a part of
/// the run whose lost bits are all kept at one time, while the backward run undoes this part.
const LEAVES: u64 = 64;

/// Limit on the search for a segment length, in loop iterations.
const MOST_ITERATIONS: u32 = 1 << 30;

pub fn run(options: &TradeoffOptions) -> Fallible {
    start::check_input(&options.given, &[])?;
    let bytes = read::source(&options.given.file)?;
    let text = match read::is_image(&options.given.file, &bytes) {
        true => load::text_of(&options.given.file, &module(options, bytes)?)?.into_bytes(),
        false => bytes,
    };
    // The target of the picture is checked before the long runs.
    let target =
        options.svg.as_ref().map(|path| OutputTarget::new(path, &kinds::PICTURE, options.force.force));
    let target = target.transpose()?;
    let page = page(options, &text)?;
    if let Some(target) = target {
        target.write(page.picture(&read::titled(&options.given.file)).svg().as_bytes())?;
    }
    streams::print_with(|out| match options.json {
        true => output::object(page.members(), &Ok(()), out),
        false => page.text(out),
    })
}

fn module(options: &TradeoffOptions, bytes: Vec<u8>) -> Fallible<Module> {
    load::module_with(&options.given, bytes)
}

/// Returns the program in the requested number system.
fn program(options: &TradeoffOptions, text: Vec<u8>) -> Fallible<Arc<Program>> {
    start::in_numbers(&options.given.file, &options.given.numbers, module(options, text)?)
}

/// Returns the program of a text that Bennett's method generated, in the requested number system.
fn made_program(options: &TradeoffOptions, text: Vec<u8>) -> Fallible<Arc<Program>> {
    let module = load::made_module(&options.given.file, text, &options.given.constants)?;
    start::in_numbers(&options.given.file, &options.given.numbers, module)
}

fn begun(options: &TradeoffOptions, program: &Arc<Program>) -> Fallible<Machine> {
    start::machine(&options.given, program, Travel::Forward)
}

fn page(options: &TradeoffOptions, text: &[u8]) -> Fallible<TradeoffPage> {
    let own = program(options, text.to_vec())?;
    let erasing = erasing(options, &own)?;
    let mut rows = vec![erasing.row("erase".into(), erasing.steps, 0, erasing.erased_bits)];
    rows.push(kept(options, &own, &erasing, Strategy::Tape, "tape".into())?);
    for slots in SLOTS {
        let strategy = Strategy::Checkpoint { slots: Some(slots), leaf: Some(erasing.leaf) };
        rows.push(kept(options, &own, &erasing, strategy, format!("checkpoint {slots}"))?);
    }
    let segmented = PLANS.into_iter().map(|plan| reversible(options, text, plan));
    let uncut = match segmented.collect::<Fallible<Result<Vec<_>, _>>>()? {
        Ok(segmented) => {
            rows.extend(segmented);
            None
        }
        Err(uncut) => Some(uncut),
    };
    if let Some(path) = named(&options.given.file, text) {
        rows.push(written(options, &path)?);
    }
    Ok(TradeoffPage { temperature: options.temperature, rows, uncut })
}

/// Applies Bennett's method to a program, with segments of `rounds` iterations each.
fn cut(
    options: &TradeoffOptions,
    text: &[u8],
    (segments, levels): (u32, u32),
    rounds: u32,
) -> Fallible<BennettText> {
    let plan = SegmentPlan::new(segments, levels, Some(rounds)).map_err(Failure::usage)?;
    Ok(bennett(&read::name(&options.given.file), text.to_vec(), read::files(), &plan))
}

/// Measurements of the original program's run, which erases bits.
struct Erasing {
    steps: u64,
    bytes: u64,
    /// Size of a state, in bits.
    state_bits: u64,
    /// Length of a leaf, in steps.
    leaf: u64,
    erased_bits: u64,
}

impl Erasing {
    fn row(&self, name: String, steps: u64, more_bytes: u64, erased_bits: u64) -> TradeoffRow {
        TradeoffRow { name, steps, bytes: self.bytes + more_bytes, erased_bits }
    }
}

fn erasing(options: &TradeoffOptions, own: &Arc<Program>) -> Fallible<Erasing> {
    let mut machine = begun(options, own)?;
    let first = state_bytes(machine.state());
    to_end(options, &mut machine)?;
    let steps = machine.state().step.unsigned_abs();
    let bytes = first.max(state_bytes(machine.state())) as u64;
    let state_bits = bits(own.module(), machine.state());
    let leaf = steps.div_ceil(LEAVES).max(1);
    let erased_bits = machine.state().counters.erased_bits;
    Ok(Erasing { steps, bytes, state_bits, leaf, erased_bits })
}

/// Returns the size of all cells, in bits.
fn bits(module: &Module, state: &State) -> u64 {
    let real = if module.real == RealSystem::F32 { 32 } else { 64 };
    state.ints.len() as u64 * u64::from(module.word.bits()) + state.reals.len() as u64 * real
}

/// Measures a forward run and a backward run with a retention strategy that keeps snapshots or a tape.
fn kept(
    options: &TradeoffOptions,
    own: &Arc<Program>,
    erasing: &Erasing,
    strategy: Strategy,
    name: String,
) -> Fallible<TradeoffRow> {
    let retention = Retention { strategy, memory: None };
    let machine = begun(options, own)?;
    let checkpointed_run = CheckpointedRun::begin(machine, Some(retention), Travel::Forward);
    let mut checkpointed_run = checkpointed_run
        .map_err(|error| {
            Failure::new(
                Exit::Trap,
                format_args!("{error} for the copy of the state from which the backward run starts"),
            )
        })?
        .of_length(Some(erasing.steps));
    for travel in [Travel::Forward, Travel::Backward] {
        while !matches!(going(options, &mut checkpointed_run, travel)?, Stop::Bound) {}
    }
    let cost = checkpointed_run.cost();
    // Erased bits of a checkpointed run. Each execution of a leaf erases the bits that its steps lose, except the last
    // execution, whose history the backward run uses up. Restoring a snapshot erases the state that the snapshot
    // replaces. Discarding a snapshot erases nothing, because the machine then has the same state.
    let lost = cost.lost_again + cost.returns * erasing.state_bits;
    Ok(erasing.row(name, cost.steps, cost.peak_bytes, lost))
}

fn going(
    options: &TradeoffOptions,
    checkpointed_run: &mut CheckpointedRun,
    travel: Travel,
) -> Fallible<Stop> {
    match checkpointed_run.run(None, travel, u64::MAX) {
        Ok(stop) => Ok(stop),
        Err(RunHalt::Trap(trap)) => Err(trapped(options, checkpointed_run.machine(), trap)),
        Err(RunHalt::Full { bytes }) => Err(Failure::new(
            Exit::Trap,
            format_args!(
                "the history for running backward takes more than {}",
                counted(usize::try_from(bytes).unwrap_or(usize::MAX), "byte")
            ),
        )),
    }
}

/// Measures Bennett's method with the shortest segments with which the run reaches its end. The inner error is the
/// reason why the program has no measurements, for example because it can't be cut into segments.
fn reversible(
    options: &TradeoffOptions,
    text: &[u8],
    plan: (u32, u32),
) -> Fallible<Result<TradeoffRow, UncutProgram>> {
    let mut rounds = 1;
    loop {
        let made = match made(options, text, plan, rounds)? {
            Ok(made) => made,
            Err(uncut) => return Ok(Err(uncut)),
        };
        match ends(options, &made)? {
            SegmentsRun::Arrived => break,
            SegmentsRun::Trapped(uncut) => return Ok(Err(uncut)),
            SegmentsRun::TooShort if rounds >= MOST_ITERATIONS => {
                let message = "the run needs longer segments than `reviver tradeoff` tries".to_owned();
                return Ok(Err(UncutProgram { code: None, message }));
            }
            SegmentsRun::TooShort => rounds *= 2,
        }
    }
    let rounds = fewest(options, text, plan, [rounds / 2, rounds])?;
    let (segments, levels) = plan;
    match made(options, text, plan, rounds)? {
        Ok(made) => measured(options, &made, format!("Bennett {segments}, {levels}")).map(Ok),
        Err(uncut) => Ok(Err(uncut)),
    }
}

/// Returns the smallest number of iterations in a segment with which the run reaches its end, by bisection between
/// `too_few` and `enough`.
fn fewest(
    options: &TradeoffOptions,
    text: &[u8],
    plan: (u32, u32),
    [mut too_few, mut enough]: [u32; 2],
) -> Fallible<u32> {
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        let arrives = match made(options, text, plan, middle)? {
            Ok(made) => matches!(ends(options, &made)?, SegmentsRun::Arrived),
            Err(_) => false,
        };
        if arrives { enough = middle } else { too_few = middle }
    }
    Ok(enough)
}

/// Returns the program in segments, ready to run. The inner error is the reason why the program can't be cut into
/// segments.
fn made(
    options: &TradeoffOptions,
    text: &[u8],
    plan: (u32, u32),
    rounds: u32,
) -> Fallible<Result<Arc<Program>, UncutProgram>> {
    match cut(options, text, plan, rounds)?.text {
        Ok(text) => made_program(options, text.into_bytes()).map(Ok),
        Err(problems) => {
            let first = problems.into_iter().next();
            let (code, message) = first.map(|problem| (problem.code, problem.message)).unwrap_or_default();
            Ok(Err(UncutProgram { code: code.map(|code| code.text()), message }))
        }
    }
}

/// Outcome of a run in segments.
enum SegmentsRun {
    Arrived,
    /// The segments have too few iterations to reach the end.
    TooShort,
    /// The segmented program trapped where the original doesn't.
    Trapped(UncutProgram),
}

/// Runs a program in segments to its end. The only assertion in main fails if the segments are too short.
fn ends(options: &TradeoffOptions, program: &Arc<Program>) -> Fallible<SegmentsRun> {
    let mut machine = begun(options, program)?;
    loop {
        match machine.run(Travel::Forward, u64::MAX) {
            Ok(Stop::Bound) => return Ok(SegmentsRun::Arrived),
            Ok(_) => {}
            Err(Trap { cause: Cause::AssertFailed, at }) if program.procedure_of(at) == 0 => {
                return Ok(SegmentsRun::TooShort);
            }
            Err(trap) => {
                let reported = explain(program, machine.state(), trap);
                let message = format!("the program in segments traps: {}", reported.message);
                return Ok(SegmentsRun::Trapped(UncutProgram { code: Some(reported.code.text()), message }));
            }
        }
    }
}

/// Measures a run of a program that erases nothing. Memory is sampled at the end of each segment, where the stacks
/// are largest.
fn measured(options: &TradeoffOptions, program: &Arc<Program>, name: String) -> Fallible<TradeoffRow> {
    let module = program.module();
    let keeps = module.procedures.iter().filter(|procedure| procedure.name.starts_with("keep"));
    let begins = keeps.map(|procedure| Node { position: procedure.entry + 1, backward: false });
    let stops = Stops::new(program, begins);
    let mut machine = begun(options, program)?;
    let mut most = state_bytes(machine.state());
    loop {
        let stop = machine.run_until(Some(&stops), Travel::Forward, u64::MAX);
        most = most.max(state_bytes(machine.state()));
        match stop {
            Ok(Stop::Bound) => break,
            Ok(_) => {
                machine.step(Travel::Forward).map_err(|trap| trapped(options, &machine, trap))?;
            }
            Err(trap) => return Err(trapped(options, &machine, trap)),
        }
    }
    let state = machine.state();
    Ok(TradeoffRow {
        name,
        steps: state.step.unsigned_abs(),
        bytes: most as u64,
        erased_bits: state.counters.erased_bits,
    })
}

/// Measures a reversible program that was written by hand. `path` is the program's file, which the header of the
/// original program names.
fn written(options: &TradeoffOptions, path: &Path) -> Fallible<TradeoffRow> {
    let module = load::module(path, &options.given.constants)?;
    let program = start::in_numbers(path, &options.given.numbers, module)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut machine = begun(options, &program)?;
    let first = state_bytes(machine.state());
    to_end(options, &mut machine)?;
    let state = machine.state();
    let bytes = first.max(state_bytes(state)) as u64;
    Ok(TradeoffRow { name, steps: state.step.unsigned_abs(), bytes, erased_bits: state.counters.erased_bits })
}

/// Returns the file named by the header line `; Reversible  FILE`.
fn named(file: &Path, text: &[u8]) -> Option<PathBuf> {
    let text = std::str::from_utf8(text).ok()?;
    let header = text.lines().take_while(|line| line.starts_with(';'));
    let mut named = header.filter_map(|line| line.strip_prefix("; Reversible "));
    let name = named.next()?.trim();
    (!name.is_empty()).then(|| file.parent().unwrap_or(Path::new("")).join(name))
}

fn to_end(options: &TradeoffOptions, machine: &mut Machine) -> Fallible {
    while !matches!(forward(options, machine, u64::MAX)?, Stop::Bound) {}
    Ok(())
}

fn forward(options: &TradeoffOptions, machine: &mut Machine, budget: u64) -> Fallible<Stop> {
    machine.run(Travel::Forward, budget).map_err(|trap| trapped(options, machine, trap))
}

fn trapped(options: &TradeoffOptions, machine: &Machine, trap: Trap) -> Failure {
    let explanation = explain(machine.program(), machine.state(), trap);
    output::trap(Exit::Trap, "", &read::name(&options.given.file), &explanation)
}
