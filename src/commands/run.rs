//! `reviver run`: from arguments to a machine, and from what it did to an exit code.

use std::path::Path;
use std::sync::Arc;

use reviver_isa::instruction::Class;
use reviver_isa::module::{Module, Role};
use reviver_vm::{Machine, Program, checkpoint};

use crate::cli::Run;
use crate::failure::{Exit, Failure, Outcome};
use crate::journey::{Ending, Report, RoundTrip, travel};
use crate::{given, load, output, write};

pub fn run(options: &Run) -> Outcome {
    check_streams(options)?;
    let module = load::module(&options.file)?;
    let program = renumbered(options, module)?;
    let mut machine = start(options, &program)?;
    if options.exact {
        machine.keep_residues();
    }
    let report = travel(options, &mut machine)?;
    if let Some(path) = &options.save_state {
        write::whole(path, &checkpoint::encode(&program, machine.state(), machine.residues()))?;
    }
    let printed = print(options, &report);
    // A reader that has gone away doesn't change what the run came to.
    verdict(options, &report).and(printed)
}

fn print(options: &Run, report: &Report) -> Outcome {
    if let Some(path) = &options.tape_out
        && matches!(report.ending, Ending::Arrived)
    {
        let lines: String = output::resulting_tape(report).iter().map(|value| format!("{value}\n")).collect();
        write::text(Some(path), &lines)?;
    }
    write::print(&output::render(report, options))
}

/// Each standard stream serves one purpose.
fn check_streams(options: &Run) -> Outcome {
    let is_stream = |path: &Path| path == Path::new("-");
    let readers = [
        is_stream(&options.file),
        options.tape.as_deref() == Some("-"),
        options.from_state.as_deref().is_some_and(is_stream),
    ];
    let cells = options.set.iter().flat_map(|set| set.split(',')).filter(|part| part.ends_with("=@-"));
    if readers.into_iter().filter(|&reads| reads).count() + cells.count() > 1 {
        return Err(Failure::usage("standard input can be read for one purpose only: `-` is given twice"));
    }
    if options.json && options.tape_out.as_deref().is_some_and(is_stream) {
        return Err(Failure::usage("`--tape-out -` and `--json` both print")
            .help("the JSON object has the tape already"));
    }
    if options.save_state.as_deref().is_some_and(is_stream) {
        return Err(Failure::usage("a state can't be printed").help("name a file after `--save-state`"));
    }
    Ok(())
}

/// The program with the numbers that the options ask for.
fn renumbered(options: &Run, mut module: Module) -> Outcome<Arc<Program>> {
    let own = (module.word, module.real);
    if let Some(choice) = options.real {
        module.real = choice.over(module.real);
    }
    if let Some(word) = options.word {
        module.word = word;
    }
    let renumbered = (module.word, module.real) != own;
    load::program(&options.file, module).map_err(|failure| match renumbered {
        true => failure.help(format_args!(
            "the program is written for integers of {} bits and for {}; `--word` and `--real` ask for other numbers",
            own.0.bits(),
            own.1
        )),
        false => failure,
    })
}

fn start(options: &Run, program: &Arc<Program>) -> Outcome<Machine> {
    if let Some(path) = &options.from_state {
        let (state, residues) = checkpoint::decode(program, &load::bytes(path)?)
            .map_err(|error| Failure::load(format_args!("{}: {error}", load::name(path))))?;
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
        let Some(declared) = program.module().globals.get(global) else { continue };
        let (name, role) = (&declared.name, declared.role);
        let fits = if options.back { role.is_result() } else { role.is_given() };
        if fits {
            continue;
        }
        let failure = Failure::usage(format_args!("`{name}` can't be given: it is `{}`", role.directive()));
        return Err(match (role, options.back) {
            (Role::Private, _) => failure.help("private cells start and end at their initial value"),
            (_, true) => failure.help("a backward run is given the results, and finds the inputs"),
            (_, false) => failure.help("a forward run is given the `.in` and `.inout` cells"),
        });
    }
    let missing = program.declared_garbage().find(|(n, _)| options.back && !given.contains(n));
    match missing {
        Some((_, garbage)) => Err(Failure::usage(format_args!(
            "going back needs the garbage `{}` that the forward run left",
            garbage.name
        ))
        .help(format_args!("add `--set {}=…`", garbage.name))),
        None => Ok(()),
    }
}

/// The exit code that a report deserves, with what is to be said on stderr.
fn verdict(options: &Run, report: &Report) -> Outcome {
    match &report.ending {
        Ending::Trapped(explanation) => {
            let message = output::trap("trap", &load::name(&options.file), explanation);
            return Err(Failure { exit: Exit::Trap, message });
        }
        Ending::Limited => {
            let limit = options.max_steps.unwrap_or_default();
            let failure =
                Failure::new(Exit::StepLimit, format_args!("stopped after {limit} steps, before the end"));
            return Err(failure.help("raise `--max-steps`, or go on from a state saved with `--save-state`"));
        }
        Ending::Arrived => {}
    }
    if let Some(trip) = &report.round_trip {
        round_trip_verdict(options, report, trip)?;
    }
    if report.garbage.is_empty() {
        return Ok(());
    }
    let message = output::garbage(report);
    if options.check || options.back {
        return Err(Failure { exit: Exit::Check, message });
    }
    write::complain(&message);
    Ok(())
}

fn round_trip_verdict(options: &Run, report: &Report, trip: &RoundTrip) -> Outcome {
    let failure = match &trip.ending {
        Ending::Arrived if trip.restored => return Ok(()),
        Ending::Arrived => Failure::new(Exit::Check, "the start was not restored"),
        Ending::Limited => {
            return Err(Failure::new(Exit::StepLimit, "the way back takes more than `--max-steps`"));
        }
        Ending::Trapped(explanation) => {
            let message = output::trap("trap on the way back", &load::name(&options.file), explanation);
            Failure { exit: Exit::Check, message }
        }
    };
    let hint = !options.exact && loses_bits(report.program.module());
    Err(if hint { failure.help("`--exact` keeps the bits that are lost on the way") } else { failure })
}

/// Whether the program computes with floats. (A trap at an erasure gives its own advice.)
fn loses_bits(module: &Module) -> bool {
    let is_real = |class: Class| class == Class::Real;
    let reals = module.globals.iter().any(|global| is_real(global.class))
        || module.procedures.iter().any(|p| p.frame.iter().any(|variable| is_real(variable.class)));
    reals && !module.real.is_exact()
}
