//! `reviver plot`: runs a program forward and backward, and plots the values of cells.

use reviver_assembler::constants::Replacements;
use reviver_debugger::command::CommandError;
use reviver_debugger::session::Session;
use reviver_inspect::follow::PlacedObserver;
use reviver_inspect::listing::OpenedProgram;
use reviver_inspect::memory::{Cell, Memory, Target};
use reviver_inspect::points::BreakPlace;
use reviver_isa::instruction::Class;
use reviver_pictures::palette::{COLOURS, CURVES};
use reviver_vm::strategy::{CheckpointedRun, Retention, Strategy, loses_nothing};
use reviver_vm::{Program, Travel};

use crate::cli::PlotOptions;
use crate::failure::{Failure, Fallible, all};
use crate::following::cells::{self, ObservedCell};
use crate::following::sampler::{Sampled, Sampler};
use crate::output::picture;
use crate::output::plot::PlotPage;
use crate::run_to_end::{self, Ending, RunToEnd, Shows};
use crate::{ended, load, read, start, streams, write};

pub fn run(options: &PlotOptions) -> Fallible {
    start::check_input(&options.given, &[])?;
    let bytes = read::source(&options.given.file)?;
    let load = if options.grad.is_some() { load::differentiable } else { load::module_with };
    let module = load(&options.given, bytes.clone())?;
    let program = start::in_numbers(&options.given.file, &options.given.numbers, module)?;
    let (at, at_named) =
        options.at.as_deref().map_or(Ok(Default::default()), |place| places(options, bytes, place))?;
    let machine = start::machine(&options.given, &program, Travel::Forward)?;
    let memory = Memory::new(program.clone());
    if options.cells.is_empty() {
        return Err(cells::unchosen(&memory));
    }
    let most = if options.against.is_some() { COLOURS } else { CURVES };
    let mut chosen = cells::named(&memory, machine.state(), "--cells", &options.cells, most)?;
    let against = options.against.as_deref();
    let against = against.map(|name| cells::one(&memory, machine.state(), "--against", name)).transpose()?;
    chosen.extend(against.clone());
    let loss = options.grad.as_deref().map(|name| cells::one(&memory, machine.state(), "--of", name));
    let loss = loss.transpose()?.map(|cell| loss_of(&program, &cell)).transpose()?;
    let target = write::picture(&options.drawn)?;
    let comes_back = comes_back(options, &program);
    let mut checkpointed_run = run_to_end::begin(machine, retention(options, &program), Travel::Forward)?;
    let sampled = Sampled { adjoints: loss.is_some(), drift: options.drift, at };
    let mut sampler = Sampler::new(memory.clone(), &chosen, sampled, checkpointed_run.machine().state());
    let outcome = travel(options, &mut checkpointed_run, &mut sampler, (loss, comes_back))?;
    let page = PlotPage {
        file: read::titled(&options.given.file),
        cells: chosen,
        has_against: against.is_some(),
        adjoints_of: options.grad.as_deref(),
        is_apart: options.apart,
        shows_drift: options.drift,
        shows_erased: options.erased,
        at: options.at.as_ref().map(|_| at_named),
        sampler,
    };
    let drawn = picture::write_plot(&page.plot(), target);
    all([outcome, drawn])
}

/// Returns the places that `--at` names, resolved as in the debugger, and a label for these places.
fn places(options: &PlotOptions, bytes: Vec<u8>, place: &str) -> Fallible<(Vec<BreakPlace>, String)> {
    let given = &options.given;
    let constants = load::constants(&given.file, &bytes, &given.constants)?;
    let replacements = Replacements {
        constants: &constants,
        cells: &load::whole_cells(&given.set),
        own_gradients: options.grad.is_some(),
    };
    let opened = OpenedProgram::open_with(&read::name(&given.file), bytes, read::files(), replacements);
    let opened = opened.map_err(|error| Failure::load(&error).caused_by(&error))?;
    let session = Session::at_begin(opened).map_err(|error| Failure::load(error).caused_by(&error))?;
    session.places_to_stop(place).map_err(|error| {
        let error = CommandError::from(error);
        let plain = "name a line with an instruction (`12`, `file:12`), a label or a procedure".to_owned();
        Failure::usage(format_args!("--at: {error}")).help(error.help().unwrap_or(plain))
    })
}

/// Returns the loss of the plotted adjoints: the real cell that `--of` names.
fn loss_of(program: &Program, cell: &ObservedCell) -> Fallible<Cell> {
    if program.switches_mode() {
        let failure = Failure::usage("--of: the program switches gradient mode itself");
        return Err(failure
            .help("plot the text instead of an image, so that its gradients are replaced by statements"));
    }
    match cell.target {
        Target::Static(loss) if loss.class == Class::Real => Ok(loss),
        _ => Err(Failure::usage(format_args!(
            "--of: `{}` isn't a real cell, so it has no derivatives",
            cell.name
        ))),
    }
}

/// Returns the retention strategy of the backward run: the requested one, or `auto` if adjoints but no drift are
/// plotted, and the program loses bits. `None` if the backward run undoes steps without a history.
fn retention(options: &PlotOptions, program: &Program) -> Option<Retention> {
    let pace = &options.pace;
    let asked = pace.retained.retention().or(pace.exact.then_some(Retention::RESIDUES));
    let needs = options.grad.is_some() && !options.drift && !loses_nothing(program.module());
    asked.or(needs.then_some(Retention { strategy: Strategy::Auto, memory: None }))
}

/// Returns true if a backward run follows the forward run. Prints a note if erased bits prevent the backward run.
fn comes_back(options: &PlotOptions, program: &Program) -> bool {
    let erases = program.module().code.iter().any(|i| !i.update.is_reversible());
    let is_kept = retention(options, program).is_some();
    if !options.there && erases && !is_kept {
        let option = if options.drift { "`--drift` shows nothing" } else { "only the forward run is drawn" };
        streams::complain(&format!(
            "note: the program erases bits and can't run backward, so {option}; add `--exact` to keep these bits\n"
        ));
    }
    !options.there && (!erases || is_kept)
}

/// Runs forward, and backward if `comes_back` is true. The inner result is the verdict on the runs. If it is a failure,
/// the samples up to this failure are drawn. If the outer result is a failure, nothing is drawn.
fn travel(
    options: &PlotOptions,
    checkpointed_run: &mut CheckpointedRun,
    sampler: &mut Sampler,
    (loss, comes_back): (Option<Cell>, bool),
) -> Fallible<Fallible> {
    let places = sampler.places();
    let go = |checkpointed_run: &mut CheckpointedRun, sampler: &mut Sampler, travel| {
        let mut observer = PlacedObserver { places: places.clone(), looks: sampler };
        let to_end =
            RunToEnd { limit: options.pace.max_steps, shows: Shows::Dropped, observer: Some(&mut observer) };
        run_to_end::go(to_end, checkpointed_run, travel)
    };
    let ending = go(checkpointed_run, sampler, Travel::Forward)?;
    sampler.arrive(checkpointed_run.machine().state());
    if !matches!(ending, Ending::Arrived) || !comes_back {
        return Ok(ended::verdict(&options.given.file, "", &ending));
    }
    if let Some(loss) = loss {
        turn_round(checkpointed_run, loss)?;
    }
    sampler.turn_round(checkpointed_run.machine().state());
    let ending = go(checkpointed_run, sampler, Travel::Backward)?;
    sampler.arrive(checkpointed_run.machine().state());
    Ok(ended::verdict(&options.given.file, " while running backward", &ending))
}

/// Prepares the reverse sweep at the turning point: switches gradient mode on, and sets the adjoint of the loss to 1.
fn turn_round(checkpointed_run: &mut CheckpointedRun, loss: Cell) -> Fallible {
    let machine = checkpointed_run.machine_mut();
    let one = machine.program().parse(Class::Real, "1").map_err(Failure::usage)?;
    let state = machine.state_mut();
    state.make_adjoints().map_err(|error| {
        Failure::new(crate::failure::Exit::Trap, format_args!("{error} for the adjoints of all cells"))
            .help("declare smaller arrays")
    })?;
    state.set_mode(true);
    loss.adjoint().into_iter().for_each(|adjoint| adjoint.put(state, one));
    Ok(())
}
