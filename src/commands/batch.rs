//! `reviver batch`: reads a file of lanes and writes a file of their results.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver::batch::device::{BlockOutcome, zeros};
use reviver::batch::plan::{LaneDirection, LanePlan, LaneTask};
use reviver::batch::prepared::{PreparedBatch, RunningBatch};
use reviver::{Batch, BatchOptions, Device, Error, Executable, LaneInputs, LossCell, RealCells};
use reviver_isa::module::{Role, Shape};
use reviver_vm::differentiate::Subject;
use reviver_vm::notation::Notation;
use reviver_vm::workers::concurrently;
use reviver_vm::{Machine, Program, State, Travel};

use crate::cli::BatchArguments;
use crate::failure::{Exit, Failure, Fallible, all, counted};
use crate::lanes::arrays::ArrayInput;
use crate::lanes::{
    ArrowForm, BLOCK, ColumnsKept, CsvInput, CsvOutput, DoneBlock, LaneFormat, LaneReader, LaneTarget,
    LaneWriter, NpzOutput, OpenLanes, PickedInputs, arrow_reader, arrow_writer, picked,
};
use crate::output::batch::{BatchFiles, BatchPage, Stopwatch};
use crate::progress::LaneProgress;
use crate::vectors::SelectedNumbers;
use crate::write::OutputTarget;
use crate::{drivers, given, interrupt, kinds, load, output, read, start, streams, subject, vectors};

pub fn run(options: &BatchArguments) -> Fallible {
    check(options)?;
    let mut watch = Stopwatch::start();
    let program = program(options)?;
    watch.loaded();
    let executable =
        Executable::new(&read::name(&options.file), &program, options.compiled()).map_err(lacking)?;
    let task = task(options, &executable)?;
    let shared = shared(options, &program)?;
    let mut input = input(options, &program, &shared)?;
    let prepared = prepared(options, &executable, task, &*input, shared)?;
    let mut output = output(options, prepared.plan())?;
    watch.compiled();
    let files = BatchFiles { program: read::name(&options.file), lanes: read::shown(&options.lanes) };
    let mut page = BatchPage::new(&prepared, files, (watch, options.stats), options.verified());
    let done = lanes(options, &prepared, &mut *input, &mut *output, &mut page);
    if let Some(doubt) = input.doubt().filter(|_| done.is_ok()) {
        streams::complain(&doubt);
    }
    let stopped = match done {
        Ok(()) => None,
        Err(stop) if stop.can_keep && options.keep_partial && page.lanes > 0 => Some(stop.failure),
        Err(stop) => return Err(stop.failure.detail("lanes", page.lanes.into())),
    };
    let began = Instant::now();
    let results = match (output.finish(&program, &page.sums), stopped) {
        (Ok(results), stopped) => (results, stopped),
        (Err(failure), stopped) => return all(stopped.into_iter().chain([failure]).map(Err)),
    };
    page.watch.written(began);
    let is_whole = results.1.is_none();
    let verified = if is_whole { page.sample.check(&prepared).map_err(unverified) } else { Ok(()) };
    all([verified, ended(options, &page, results)])
}

/// Failure for derivatives that were computed, but couldn't be verified.
fn unverified(error: Error) -> Failure {
    match error {
        Error::Interrupted => subject::interrupted(&"stopped before the derivatives were verified"),
        error => Failure::within(Exit::of_lane(&error), "the derivatives can't be verified", &error),
    }
}

/// Reason why a batch ended early.
struct BatchStop {
    failure: Failure,
    /// True if the results of earlier lanes may be kept. False if writing these results failed.
    can_keep: bool,
}

impl BatchStop {
    fn unwritten(failure: Failure) -> BatchStop {
        BatchStop { failure, can_keep: false }
    }

    fn before_the_end(failure: Failure) -> BatchStop {
        BatchStop { failure, can_keep: true }
    }
}

/// Prints the summary, and returns the verdict. `stopped` is the failure that ended the batch early, if one did.
fn ended(
    options: &BatchArguments,
    page: &BatchPage,
    (results, stopped): (output::json_values::Object<'static>, Option<Failure>),
) -> Fallible {
    let verdict = match stopped {
        None => page.verdict(),
        Some(failure) => {
            let lanes = counted(usize::try_from(page.lanes).unwrap_or(usize::MAX), "lane");
            let place = options
                .output
                .as_deref()
                .filter(|_| !prints(options))
                .map_or("the results have".to_owned(), |path| format!("{} has", read::shown(path)));
            Err(failure.help(format_args!(
                "{place} the first {lanes}; to continue, run the remaining lanes, and append their rows"
            )))
        }
    };
    let printed = match options.json {
        true => streams::print_with(|out| {
            let with_results = options.output.is_none().then_some(results);
            output::object(page.members(with_results), &verdict, out)
        }),
        // Standard output has the lanes, so the summary goes to standard error.
        false if prints(options) => {
            streams::complain(&page.text(options.output.is_some()));
            Ok(())
        }
        false => streams::print(&page.text(options.output.is_some())),
    };
    streams::complain(&page.warnings());
    let verdict = if options.json { verdict.map_err(Failure::reported) } else { verdict };
    all([verdict, printed])
}

/// Returns true if the results go to standard output.
fn prints(options: &BatchArguments) -> bool {
    options.output.as_deref().is_none_or(|path| path == Path::new("-"))
}

fn check(options: &BatchArguments) -> Fallible {
    let is_stream = |path: &Path| path == Path::new("-");
    let vectors = [&options.seed, &options.times, &options.shared];
    let vectors = vectors.into_iter().map(|option| vectors::standard_inputs(option).len()).sum::<usize>();
    let files = [&options.file, &options.lanes].into_iter().filter(|path| is_stream(path));
    if files.count() + vectors > 1 {
        return Err(Failure::usage("standard input can be read for one purpose only: `-` is given twice"));
    }
    if options.json && options.output.as_deref().is_some_and(is_stream) {
        return Err(Failure::usage("`-o -` and `--json` both print to standard output")
            .help("leave `-o -` out: the JSON object has the results"));
    }
    if options.output_format.is_some() && (options.json || !prints(options)) {
        return Err(Failure::usage("`--output-format` applies to printed results only").help(
            "leave the option out: the format of a file follows from its name (`-o out.arrow`), and `--json` prints an object",
        ));
    }
    let differentiates = differentiates(options);
    let about = [
        ("--strict", options.strict),
        ("--wrt", !options.wrt.is_empty()),
        ("--verify", options.verify.is_some()),
    ];
    if let Some((option, _)) = about.into_iter().find(|(_, is_given)| *is_given && !differentiates) {
        return Err(Failure::usage(format_args!("`{option}` applies to derivatives only")).help(
            "request derivatives by `--grad LOSS`, `--seed NAME=VALUE`, `--hessian LOSS` or `--of OUT`",
        ));
    }
    if !options.times.is_empty() && options.hessian.is_none() && options.jacobian.is_none() {
        return Err(Failure::usage("`--times` needs a Jacobian or a Hessian to multiply")
            .help("add `--of OUT` or `--hessian LOSS`"));
    }
    if options.threads.is_some() && !matches!(options.device.as_str(), "auto" | "cpu") {
        return Err(Failure::usage(
            "`--threads` applies to the CPU only, and `--device` names another device",
        )
        .help("leave one of the two out"));
    }
    Ok(())
}

/// Returns the device that executes the lanes.
fn device(options: &BatchArguments) -> Fallible<Device> {
    match (options.device.as_str(), options.threads) {
        (_, Some(threads)) => Ok(Device::cpu_with(usize::from(threads.get()))),
        (name, None) => drivers::device(name),
    }
}

fn differentiates(options: &BatchArguments) -> bool {
    let of = [&options.grad, &options.hessian, &options.jacobian];
    !options.seed.is_empty() || of.into_iter().any(|option| option.is_some())
}

fn program(options: &BatchArguments) -> Fallible<Arc<Program>> {
    let load = if differentiates(options) { load::differentiable_module } else { load::module };
    let module = load(&options.file, &options.constants)?;
    let program = start::in_numbers(&options.file, &options.numbers, module)?;
    let program = match options.notation() {
        Notation::Signed => program,
        notation => Arc::new(Arc::unwrap_or_clone(program).with_notation(notation)),
    };
    Ok(differentiated_by(&program, &options.wrt).unwrap_or(program))
}

/// Prepares the program for derivatives with respect to the names of `--wrt`. Returns `None` if there are no names, or
/// if a name is unknown. A later check reports unknown names.
fn differentiated_by(program: &Arc<Program>, names: &[String]) -> Option<Arc<Program>> {
    if names.is_empty() {
        return None;
    }
    let begin = Machine::at_begin(Arc::clone(program)).ok()?.into_state();
    let subject = Subject::new(Arc::clone(program), begin, false, u64::MAX).ok()?;
    let inputs = subject::variables(&subject::inputs(&subject, names).ok()?).ok()?;
    Some(subject.prepared(&[], &inputs, true).program)
}

/// Failure for an error that prevents the execution of all lanes: no engine, no memory for the cells, or invalid
/// arguments.
fn lacking(error: Error) -> Failure {
    match error {
        Error::Engine(error) => crate::engine::missing(&error),
        error => Failure::of(Exit::Usage, &error),
    }
}

fn task(options: &BatchArguments, executable: &Executable) -> Fallible<LaneTask> {
    let cells = |option: &str, names: &[String]| {
        let names = names.iter().flat_map(|argument| given::parts(argument)).map(str::trim);
        let found =
            names.map(|name| executable.reals(name).map_err(|error| Failure::refused(option, &error)));
        found.collect::<Fallible<Vec<_>>>()
    };
    let by = cells("--wrt", &options.wrt)?;
    if !options.seed.is_empty() {
        return Ok(LaneTask::Gradient { loss: seeded(options, executable)?, by });
    }
    if let Some(loss) = &options.hessian {
        let loss = executable.loss(loss.trim()).map_err(|error| Failure::refused("--hessian", &error))?;
        return Ok(match options.times.is_empty() {
            true => LaneTask::Hessian { loss, by },
            false => LaneTask::HessianProduct { loss, along: direction(options, executable)? },
        });
    }
    Ok(match (&options.grad, &options.jacobian, options.back, options.check) {
        (Some(loss), ..) => {
            let loss = executable.loss(loss.trim()).map_err(|error| Failure::refused("--grad", &error))?;
            LaneTask::Gradient { loss, by }
        }
        (None, Some(of), ..) => {
            let of = cells("--of", std::slice::from_ref(of))?;
            match options.times.is_empty() {
                true => LaneTask::Jacobian { of, by },
                false => LaneTask::JacobianProduct { of, along: direction(options, executable)? },
            }
        }
        (None, None, false, false) => LaneTask::Run,
        (None, None, true, false) => LaneTask::Back,
        (None, None, false, true) => LaneTask::RoundTrip,
        (None, None, true, true) => LaneTask::RoundTripBack,
    })
}

/// Returns the loss of the option `--seed`: the sum of seed times value over the named cells.
fn seeded(options: &BatchArguments, executable: &Executable) -> Fallible<LossCell> {
    vector(executable, ("--seed", &options.seed), |parts| executable.seeded_bits(parts))
}

/// Returns the direction of the option `--times`.
fn direction(options: &BatchArguments, executable: &Executable) -> Fallible<LaneDirection> {
    vector(executable, ("--times", &options.times), |parts| LaneDirection::of_bits(executable, parts))
}

/// Reads the vector of an option. `made` converts the vector; its argument has the named cells, each with the bits
/// of its numbers.
fn vector<T>(
    executable: &Executable,
    (option, arguments): (&str, &[String]),
    made: impl FnOnce(&[(RealCells, &[u64])]) -> Result<T, Error>,
) -> Fallible<T> {
    let program = executable.program();
    let begin = begin(program)?;
    let subject = Subject::new(Arc::clone(program), begin, false, u64::MAX).map_err(Failure::usage)?;
    let SelectedNumbers { selections, bits } = SelectedNumbers::of_cells(&subject, option, arguments)?;
    let mut bits = &bits[..];
    let mut parts = Vec::new();
    for selection in &selections {
        let (own, others) = bits.split_at(selection.variables.len().min(bits.len()));
        bits = others;
        parts.push((
            executable.reals(&selection.name).map_err(|error| Failure::refused(option, &error))?,
            own,
        ));
    }
    made(&parts).map_err(|error| Failure::refused(option, &error))
}

/// Returns the state of the program before any inputs are set.
fn begin(program: &Arc<Program>) -> Fallible<State> {
    let machine = Machine::at_begin(Arc::clone(program)).map_err(|error| lacking(error.into()))?;
    Ok(machine.into_state())
}

/// Returns the cells of `--shared` by name, each with the bits of its value.
fn shared(options: &BatchArguments, program: &Program) -> Fallible<Vec<(String, Vec<u64>)>> {
    let mut state = begin(&Arc::new(program.clone()))?;
    let given = given::assigned(program, &mut state, "--shared", &options.shared)?;
    let mut shared = Vec::new();
    for n in given {
        let Some(global) = program.module().globals.get(n) else { continue };
        if global.shape == Shape::Stack {
            return Err(Failure::usage(format_args!(
                "--shared {}: this is a stack, and lanes can share only cells",
                global.name
            )));
        }
        let bits = program.read(&state, n).into_iter().map(reviver_vm::values::Value::bits).collect();
        shared.push((global.name.clone(), bits));
    }
    Ok(shared)
}

fn input(
    options: &BatchArguments,
    program: &Program,
    shared: &[(String, Vec<u64>)],
) -> Fallible<Box<dyn LaneReader>> {
    let path = &options.lanes;
    let format = if path == Path::new("-") { None } else { Some(LaneFormat::of(path)?) };
    Ok(match format {
        Some(LaneFormat::Npz) => Box::new(ArrayInput::npz(path, program)?),
        Some(LaneFormat::Npy) => Box::new(ArrayInput::npy(path, &unnamed(options, program, shared))?),
        Some(LaneFormat::Csv) => Box::new(CsvInput::begin(OpenLanes::open(path)?)?),
        Some(LaneFormat::Arrow(_)) => arrow_reader(OpenLanes::open(path)?)?,
        None => match OpenLanes::open(path)? {
            open if open.is_arrow() => arrow_reader(open)?,
            open => Box::new(CsvInput::begin(open)?),
        },
    })
}

/// Returns the column names for a `.npy` file, which stores no names: all inputs that the lanes don't share, in the
/// order of their declarations.
fn unnamed(options: &BatchArguments, program: &Program, shared: &[(String, Vec<u64>)]) -> Vec<String> {
    let travel = if options.back { Travel::Backward } else { Travel::Forward };
    let globals = program.module().globals.iter().enumerate();
    let own = globals.filter(|(_, global)| {
        program.takes(global.role, travel)
            && !(global.is_shared && travel == Travel::Forward)
            && !shared.iter().any(|(name, _)| *name == global.name)
    });
    own.flat_map(|(n, _)| (0..program.cells(n).len()).map(move |element| program.cell_name(n, element)))
        .collect()
}

fn prepared(
    options: &BatchArguments,
    executable: &Executable,
    task: LaneTask,
    input: &dyn LaneReader,
    shared: Vec<(String, Vec<u64>)>,
) -> Fallible<PreparedBatch> {
    let device = device(options)?;
    let has_driver = device.name() != Device::cpu().name();
    let batch = Batch::new(executable, device).with(BatchOptions {
        most_steps: options.max_steps.unwrap_or(u64::MAX),
        keeps_going: options.keep_going,
        allows_doubt: !options.strict,
        interrupt: Some(interrupt::flag()),
    });
    let names = input.names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let shared =
        shared.into_iter().fold(LaneInputs::new(0), |lanes, (name, bits)| lanes.shared_bits_of(&name, bits));
    let prepare = || batch.prepare(task, &names, &shared);
    let (prepared, words) = if has_driver { drivers::captured(prepare) } else { (prepare(), String::new()) };
    prepared.map_err(|error| drivers::with_words(unsuited(options, executable.program(), &error), &words))
}

/// Failure for lanes that can't be prepared, for example because a column is missing or unknown. The failure has
/// advice.
fn unsuited(options: &BatchArguments, program: &Program, error: &Error) -> Failure {
    if let Error::Interrupted = error {
        return subject::interrupted(&"stopped while the program was compiled for the lanes");
    }
    if let Error::Device(error) = error {
        return Failure::usage(format_args!("--device {}: {error}", options.device))
            .help("use `--device cpu`, which executes every program");
    }
    let file = read::shown(&options.lanes);
    let failure = Failure::usage(format_args!("{file}: {}", error.cause())).caused_by(error);
    match error {
        Error::MissingColumns { names } => {
            let first = names.first().map_or("", String::as_str);
            let base = first.split('[').next().unwrap_or_default();
            failure
                .help(format_args!("add a column for each missing cell, or set `{base}` for all lanes with `--shared {base}=…`"))
                .detail("missing", names.clone().into())
        }
        Error::NotTaken { name, role: Role::Out | Role::Garbage, backward: false } => {
            failure.help(format_args!(
                "leave out the column `{name}`, or add `--back` to run the lanes backward from their results"
            ))
        }
        Error::SharedColumn { name } => {
            let base = name.split('[').next().unwrap_or_default();
            failure.help(format_args!(
                "leave out the column, and set the value for all lanes with `--shared {base}=…`"
            ))
        }
        Error::Unknown { .. } | Error::NotTaken { .. } => {
            let travel = if options.back { Travel::Backward } else { Travel::Forward };
            let taken = program.module().globals.iter().filter(|global| program.takes(global.role, travel));
            let names: Vec<&str> = taken.map(|global| global.name.as_str()).collect();
            let inputs = names.join(", ");
            let failure = match error {
                Error::Unknown { near: None, .. } => failure,
                _ => failure.with_cure(error),
            };
            failure.help(format_args!("the inputs of a lane are {inputs}; leave other columns out"))
        }
        Error::NamedTwice { .. } => Failure::refused("--wrt", error),
        Error::Stack { .. } => {
            failure.help("use `reviver run` for one set of inputs at a time: it supports stacks")
        }
        _ => Failure::refused(file, error),
    }
}

/// Opens the output of a batch. Call this function after the lane file is opened, so that the output doesn't overwrite
/// this file, and before lanes are read, so that errors are reported early.
fn output(options: &BatchArguments, plan: &LanePlan) -> Fallible<Box<dyn LaneWriter>> {
    if prints(options) {
        return printed(options, plan);
    }
    let path = options.output.as_deref().unwrap_or(Path::new("-"));
    let (format, force) = (LaneFormat::of(path)?, options.force.force);
    let target = match format {
        LaneFormat::Csv => {
            let kind = ("a table with the columns of this batch", CsvOutput::header(plan));
            OutputTarget::beginning(path, kind, force)?
        }
        LaneFormat::Npz => OutputTarget::new(path, &kinds::ARRAYS, force)?,
        LaneFormat::Arrow(_) => OutputTarget::new(path, &kinds::RECORD_BATCHES, force)?,
        LaneFormat::Npy => {
            return Err(Failure::usage(format_args!(
                "{}: results have names, which a `.npy` can't store",
                read::shown(path)
            ))
            .help("write a `.npz`, or a `.csv`"));
        }
    };
    let Some(file) = target.begin()? else { return printed(options, plan) };
    Ok(match format {
        LaneFormat::Npz => Box::new(NpzOutput::begin(file, plan)),
        LaneFormat::Arrow(form) => arrow_writer(LaneTarget::File(file), form, plan)?,
        LaneFormat::Csv | LaneFormat::Npy => Box::new(CsvOutput::begin(LaneTarget::File(file), plan)?),
    })
}

/// Returns the writer for results on standard output.
fn printed(options: &BatchArguments, plan: &LanePlan) -> Fallible<Box<dyn LaneWriter>> {
    Ok(match options.output_format.as_deref() {
        Some("arrow") => arrow_writer(LaneTarget::printed(), ArrowForm::Stream, plan)?,
        _ if options.json => Box::new(ColumnsKept::new(plan)),
        _ => Box::new(CsvOutput::begin(LaneTarget::printed(), plan)?),
    })
}

/// Block of lanes that were read together.
struct ReadBlock {
    lanes: usize,
    columns: Vec<Vec<u64>>,
    /// Line numbers of the lanes in the lane file; empty if its format has no lines.
    lines: Vec<u64>,
}

/// Executed block of lanes.
struct FinishedBlock {
    first: u64,
    lanes: usize,
    /// Inputs of the sampled lanes, which are verified after the batch.
    picked: PickedInputs,
    results: Vec<Vec<u64>>,
    outcome: BlockOutcome,
}

/// Reads, runs and writes one block after another, and counts completed lanes. While a block runs, the previous
/// block is written and the next block is read.
fn lanes(
    options: &BatchArguments,
    prepared: &PreparedBatch,
    input: &mut dyn LaneReader,
    output: &mut dyn LaneWriter,
    page: &mut BatchPage,
) -> Result<(), BatchStop> {
    let mut running = prepared.begin();
    let blocks = blocks(options, prepared, &mut running, (input, output), page);
    page.lanes = running.lanes();
    // If a sum over lanes overflows, the batch fails after the last lane, and an output file isn't completed.
    match (blocks, running.sums()) {
        (blocks, Ok(sums)) => {
            page.sums = sums;
            blocks
        }
        (Ok(()), Err(error)) => Err(BatchStop::unwritten(Failure::new(Exit::Check, error))),
        (Err(stop), Err(_)) => Err(stop),
    }
}

/// Processes all blocks for [`lanes`]. Unless writing has failed, all completed lanes are written before the
/// function returns, even if it returns an error.
fn blocks(
    options: &BatchArguments,
    prepared: &PreparedBatch,
    running: &mut RunningBatch<'_>,
    (input, output): (&mut dyn LaneReader, &mut dyn LaneWriter),
    page: &mut BatchPage,
) -> Result<(), BatchStop> {
    let plan = prepared.plan();
    let progress = LaneProgress::new();
    let mut size = BlockSize::of(options);
    let sampled = options.verified();
    let mut before = None;
    let first = read_block(plan, input, size.lanes, &progress, page);
    let mut next = first.map_err(BatchStop::before_the_end)?;
    while let Some(block) = next {
        let (ran, (written, read)) = concurrently(
            || carried_out(plan, &mut *running, &block, (&progress, sampled)),
            || {
                let written = before.take().map_or(Ok(()), |done| write_block(plan, output, done, page));
                (written, read_block(plan, input, size.lanes, &progress, page))
            },
        );
        written.map_err(BatchStop::unwritten)?;
        let (done, time) = ran.unwrap_or(Err(Error::LostThread)).map_err(|error| {
            BatchStop::before_the_end(ended_by(options, page, &block, running.lanes(), error))
        })?;
        page.watch.run += time;
        size.learn(block.lanes, time);
        match read {
            Ok(read) => (before, next) = (Some(done), read),
            // Lanes before the damaged place of the file are still executed and written.
            Err(failure) => {
                return match write_block(plan, output, done, page) {
                    Ok(()) => Err(BatchStop::before_the_end(failure)),
                    Err(unwritten) => Err(BatchStop::unwritten(unwritten.and(failure))),
                };
            }
        }
    }
    before.map_or(Ok(()), |done| write_block(plan, output, done, page)).map_err(BatchStop::unwritten)
}

/// Number of lanes in a block.
struct BlockSize {
    lanes: usize,
    /// True with `--keep-partial`: the size of a block is adapted to half a second of work, because the work of an
    /// interrupted block is lost.
    is_timed: bool,
}

impl BlockSize {
    fn of(options: &BatchArguments) -> BlockSize {
        let is_timed = options.keep_partial;
        BlockSize { lanes: if is_timed { BlockSize::FIRST } else { BLOCK }, is_timed }
    }

    const FIRST: usize = 64;
    const GOAL: Duration = Duration::from_millis(500);

    /// Adapts the size to the measured time of a block with `lanes` lanes.
    fn learn(&mut self, lanes: usize, time: Duration) {
        if self.is_timed {
            let rate = lanes as f64 / time.as_secs_f64().max(1e-6);
            let goal = (rate * BlockSize::GOAL.as_secs_f64()) as usize;
            self.lanes = goal.clamp(1, self.lanes.saturating_mul(8)).min(BLOCK);
        }
    }
}

/// Reads the next lanes, at most `most`. Returns `None` at the end of the file.
fn read_block(
    plan: &LanePlan,
    input: &mut dyn LaneReader,
    most: usize,
    progress: &LaneProgress,
    page: &mut BatchPage,
) -> Fallible<Option<ReadBlock>> {
    let started = Instant::now();
    let mut columns = vec![Vec::new(); plan.inputs.len()];
    let lanes = input.read(plan.executable.program(), &plan.inputs, most, &mut columns)?;
    page.watch.read += started.elapsed();
    progress.expect(lanes, input.share_read());
    Ok((lanes > 0).then(|| ReadBlock { lanes, columns, lines: input.take_lines() }))
}

/// Executes the lanes of a block. Returns the finished block, and the time that the execution took.
fn carried_out(
    plan: &LanePlan,
    running: &mut RunningBatch<'_>,
    block: &ReadBlock,
    (progress, sampled): (&LaneProgress, usize),
) -> Result<(FinishedBlock, Duration), Error> {
    let (started, first) = (Instant::now(), running.lanes());
    let inputs: Vec<&[u64]> = block.columns.iter().map(Vec::as_slice).collect();
    let mut results = zeros(plan.results.len(), block.lanes)?;
    let mut there: Vec<&mut [u64]> = results.iter_mut().map(Vec::as_mut_slice).collect();
    let outcome = running.block(&inputs, block.lanes, &mut there, &|lanes| progress.advance(lanes))?;
    let picked = picked(sampled, first, block.lanes, &inputs);
    Ok((FinishedBlock { first, lanes: block.lanes, picked, results, outcome }, started.elapsed()))
}

fn write_block(
    plan: &LanePlan,
    output: &mut dyn LaneWriter,
    done: FinishedBlock,
    page: &mut BatchPage,
) -> Fallible {
    let started = Instant::now();
    let columns: Vec<&[u64]> = done.results.iter().map(Vec::as_slice).collect();
    let failures = &done.outcome.failures;
    let block = DoneBlock { first: done.first, lanes: done.lanes, columns: &columns, failures };
    output.write(plan.executable.program(), &block)?;
    page.watch.written(started);
    page.sample.add(done.picked, &block);
    page.add(done.outcome);
    Ok(())
}

/// Returns the failure for an error that ended the batch in a block; `first` is the number of the block's first lane.
fn ended_by(
    options: &BatchArguments,
    page: &BatchPage,
    block: &ReadBlock,
    first: u64,
    error: Error,
) -> Failure {
    match error {
        Error::Lane { lane, error } => {
            let row = usize::try_from(lane - first).unwrap_or(usize::MAX);
            page.lane_failed(lane, block.lines.get(row).copied(), &error)
        }
        Error::Interrupted => {
            let failure =
                subject::interrupted(&format_args!("stopped after {}", counted(first as usize, "lane")));
            let is_lost = !options.keep_partial && (options.json || !prints(options));
            if is_lost {
                failure.help("add `--keep-partial` to keep the results of finished lanes")
            } else {
                failure
            }
        }
        error => lacking(error),
    }
}
