//! `reviver bench`: measures the times of a program on all engines, which take turns.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver::{CheckLevel, CompileOptions, EngineChoice, Error, Executable, LossCell, Workspace};
use reviver_vm::{Program, State, Travel};

use crate::cli::BenchOptions;
use crate::failure::{Exit, Failure, Fallible, all, counted};
use crate::output::bench::{BenchPage, EngineFigures, Figure};
use crate::output::value_sources::{values_json, values_text};
use crate::stopwatch::{TimedWork, in_turns};
use crate::{interrupt, output, read, start, streams, subject};

pub fn run(options: &BenchOptions) -> Fallible {
    start::check_input(&options.given, &[])?;
    let program = start::plain_program(&options.given)?;
    if options.explain {
        return explain(options, &program);
    }
    let state = start::machine(&options.given, &program, Travel::Forward)?.into_state();
    let page = page(options, &program, &state)?;
    let verdict = match page.is_stopped {
        true => {
            let rounds = counted(usize::try_from(page.rounds).unwrap_or(usize::MAX), "round");
            Err(subject::interrupted(&format_args!("stopped after {rounds}")))
        }
        false => Ok(()),
    };
    let printed = streams::print_with(|out| match options.json {
        true => output::object(page.members(), &verdict, out),
        false => page.text(out),
    });
    let verdict = if options.json { verdict.map_err(Failure::reported) } else { verdict };
    all([verdict, printed])
}

/// Prints the values that the reverse sweep of native code uses.
fn explain(options: &BenchOptions, program: &Arc<Program>) -> Fallible {
    let level = if options.checking.unchecked { CheckLevel::Unchecked } else { CheckLevel::Checked };
    let contender = contender(options, program, CompileOptions { engine: EngineChoice::Jit, level });
    let Contender { loss, .. } = contender.map_err(|error| failure(options, error))?;
    let Some(values) = loss.as_ref().and_then(LossCell::used_values) else {
        let failure = Failure::new(
            Exit::Check,
            "no native function computes the whole gradient: the program does more than change cells",
        );
        return Err(failure.help("stacks, tapes, `show`, rules and adjoints as operands need the interpreter; without `--explain`, the times are measured"));
    };
    streams::print_with(|out| match options.json {
        true => output::object(values_json(&values), &Ok(()), out),
        false => values_text(&values, out),
    })
}

/// Engine to measure, with the compiled program.
struct Contender {
    compiled: CompileOptions,
    program: Executable,
    loss: Option<LossCell>,
    figures: EngineFigures,
}

/// Call that is timed: a forward run, a backward run, or a gradient.
#[derive(Clone, Copy)]
enum BenchedCall {
    Forward,
    Back,
    Gradient,
}

fn page(options: &BenchOptions, program: &Arc<Program>, state: &State) -> Fallible<BenchPage> {
    let started = Instant::now();
    let mut contenders = Vec::new();
    let mut missing = None;
    let usual = [EngineChoice::Interp, EngineChoice::Jit].map(CompileOptions::from);
    let level = CheckLevel::Unchecked;
    let unchecked = options.checking.unchecked.then_some(CompileOptions { engine: EngineChoice::Jit, level });
    for compiled in usual.into_iter().chain(unchecked) {
        match contender(options, program, compiled) {
            Ok(contender) => contenders.push(contender),
            Err(Error::Engine(error)) => missing = Some(error.to_string()),
            Err(error) => return Err(failure(options, error)),
        }
    }
    let (rounds, ended) = measured(&mut contenders, state, options.seconds);
    let is_stopped = match ended {
        Ok(()) => false,
        Err(Error::Interrupted) => true,
        Err(error) => return Err(failure(options, error)),
    };
    let engines = contenders.into_iter().map(|contender| (contender.compiled, contender.figures)).collect();
    Ok(BenchPage { engines, missing, rounds, is_stopped, seconds: started.elapsed().as_secs_f64() })
}

fn contender(
    options: &BenchOptions,
    program: &Arc<Program>,
    compiled: CompileOptions,
) -> Result<Contender, Error> {
    let started = Instant::now();
    let program = Executable::new(&read::name(&options.given.file), program, compiled)?;
    let loss = options.loss.as_deref().map(|name| program.loss(name)).transpose()?;
    let seconds = started.elapsed().as_secs_f64();
    let is_native = program.is_native() && loss.as_ref().is_none_or(LossCell::is_native);
    let native = (compiled.engine != EngineChoice::Interp).then_some((seconds, is_native));
    Ok(Contender { compiled, program, loss, figures: EngineFigures { native, ..EngineFigures::default() } })
}

/// Times every call of every engine, and records the best times, also if an error ends the measurement. Returns the
/// number of complete rounds, and the error if there was one.
fn measured(contenders: &mut [Contender], state: &State, seconds: f64) -> (u64, Result<(), Error>) {
    let mut works = Vec::new();
    let mut deeds = Vec::new();
    let mut begun = Ok(());
    'contenders: for (n, contender) in contenders.iter_mut().enumerate() {
        for deed in [BenchedCall::Forward, BenchedCall::Back, BenchedCall::Gradient] {
            match work(contender, deed, state) {
                Ok(None) => {}
                Ok(Some((steps, work))) => {
                    works.push(work);
                    deeds.push((n, deed, steps));
                }
                Err(error) => {
                    begun = Err(error);
                    break 'contenders;
                }
            }
        }
    }
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    let (rounds, ended) = match begun {
        Ok(()) => in_turns(&mut works, until),
        Err(error) => (0, Err(error)),
    };
    for ((n, deed, steps), work) in deeds.into_iter().zip(&works) {
        let Some(contender) = contenders.get_mut(n) else { continue };
        let figure = Some(Figure { steps, seconds: work.seconds() });
        match deed {
            BenchedCall::Forward => contender.figures.forward = figure,
            BenchedCall::Back => contender.figures.back = figure,
            BenchedCall::Gradient => contender.figures.gradient = figure,
        }
    }
    (rounds, ended)
}

/// Prepares a call, runs it once, and returns the number of its steps with the work to time. Returns `None` if the call
/// isn't possible, for example if the program can't run backward.
fn work(
    contender: &mut Contender,
    deed: BenchedCall,
    state: &State,
) -> Result<Option<(u64, TimedWork<'static, Error>)>, Error> {
    let mut call = contender.program.workspace()?;
    call.stop_when(interrupt::flag());
    call.begin_with(Travel::Forward, state.try_clone()?)?;
    match deed {
        BenchedCall::Forward => {
            let steps = call.run()?;
            TimedWork::new(move || call.run().map(drop)).map(|work| Some((steps, work)))
        }
        BenchedCall::Back => {
            call.run()?;
            match back(&mut call) {
                Ok(steps) => {
                    TimedWork::new(move || call.run_back().map(drop)).map(|work| Some((steps, work)))
                }
                Err(error @ (Error::Trap { .. } | Error::NoSuchResults { .. })) => {
                    contender.figures.no_way_back = Some(error.to_string());
                    Ok(None)
                }
                Err(error) => Err(error),
            }
        }
        BenchedCall::Gradient => {
            let Some(loss) = contender.loss.clone() else { return Ok(None) };
            let found = call.gradient_anyway(&loss)?;
            contender.figures.is_recomputed = found.verification_report.recomputed.is_some();
            contender.figures.is_doubtful = !found.verification_report.reports.is_empty();
            let work = TimedWork::new(move || call.gradient_anyway(&loss).map(drop))?;
            Ok(Some((found.steps + found.steps_back, work)))
        }
    }
}

/// Runs backward from the end of a forward run, with the values of the end state as results. Returns the number of
/// steps.
fn back(call: &mut Workspace) -> Result<u64, Error> {
    let arrived = call.state()?.try_clone()?;
    call.begin_with(Travel::Backward, arrived)?;
    call.run_back()
}

fn failure(options: &BenchOptions, error: Error) -> Failure {
    let file = read::name(&options.given.file);
    match error {
        Error::Trap { backward, explanation, .. } => {
            let direction = if backward { " while running backward" } else { "" };
            output::trap(Exit::Trap, direction, &file, &explanation)
        }
        error @ (Error::Unknown { .. }
        | Error::Class { .. }
        | Error::Index { .. }
        | Error::Stack { .. }
        | Error::Several { .. }) => Failure::refused("--of", &error),
        error @ Error::Underivable(_) => Failure::of(Exit::Check, &error),
        error => Failure::of(Exit::Usage, &error),
    }
}
