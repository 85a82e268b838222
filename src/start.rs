//! From the options that all running commands share to a program at its start. Knows what can be given;
//! doesn't know what happens then.

use std::path::Path;
use std::sync::Arc;

use reviver_isa::instruction::Class;
use reviver_isa::module::{Module, Role};
use reviver_vm::room::OutOfMemory;
use reviver_vm::{Machine, Program, Travel};

use crate::cli::Given;
use crate::failure::{Exit, Failure, Outcome};
use crate::{given, load};

/// Standard input can be read once. `others` are the files that a command reads besides.
pub fn check_input(options: &Given, others: &[Option<&Path>]) -> Outcome {
    let readers = [Some(&*options.file), options.tape.as_deref().map(Path::new)];
    let files = readers.iter().chain(others).filter(|path| **path == Some(Path::new("-")));
    let cells = options.set.iter().flat_map(|set| set.split(',')).filter(|part| part.ends_with("=@-"));
    if files.count() + cells.count() > 1 {
        return Err(Failure::usage("standard input can be read for one purpose only: `-` is given twice"));
    }
    Ok(())
}

/// The program with the numbers that the options ask for.
pub fn program(options: &Given) -> Outcome<Arc<Program>> {
    in_numbers(options, load::module(&options.file)?)
}

/// A module as a program with the numbers that the options ask for.
pub fn in_numbers(options: &Given, mut module: Module) -> Outcome<Arc<Program>> {
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

/// A machine at the beginning (or, to travel backward, at the end) with everything given.
pub fn machine(options: &Given, program: &Arc<Program>, travel: Travel) -> Outcome<Machine> {
    let machine = match travel {
        Travel::Forward => Machine::at_begin(program.clone()),
        Travel::Backward => Machine::at_end(program.clone()),
    };
    let mut machine = machine.map_err(no_memory)?;
    let given = given::set(program, machine.state_mut(), &options.set)?;
    check_given(program, &given, travel)?;
    if let Some(argument) = &options.tape {
        let mut tape = given::tape(program, argument)?;
        check_tape(program, tape.len())?;
        // The end of the input tape is read first; the end of the output tape was written last.
        match travel {
            Travel::Backward => machine.state_mut().output = tape,
            Travel::Forward => {
                tape.reverse();
                machine.state_mut().input = tape;
            }
        }
    }
    Ok(machine)
}

/// There is no memory for the program's cells.
fn no_memory(error: OutOfMemory) -> Failure {
    Failure::new(Exit::Trap, format_args!("{error} for the cells of the program"))
        .help("smaller arrays take less: an integer or a real takes 8 bytes")
}

fn check_tape(program: &Program, values: usize) -> Outcome {
    let limit = program.module().limits.tape;
    if values as u64 <= u64::from(limit) {
        return Ok(());
    }
    let message = format!("the tape holds {values} values, and the program's tapes at most {limit}");
    Err(Failure::usage(message).help("`.limit tape` in the program raises the limit"))
}

/// Forward runs are given inputs, backward runs results, all of the declared garbage among them.
fn check_given(program: &Program, given: &[usize], travel: Travel) -> Outcome {
    let back = travel == Travel::Backward;
    for &global in given {
        let Some(declared) = program.module().globals.get(global) else { continue };
        let (name, role) = (&declared.name, declared.role);
        let fits = if back { role.is_result() } else { role.is_given() };
        if fits {
            continue;
        }
        let failure = Failure::usage(format_args!("`{name}` can't be given: it is `{}`", role.directive()));
        return Err(match (role, back) {
            (Role::Private, _) => failure.help("private cells start and end at their initial value"),
            (_, true) => failure.help("a backward run is given the results, and finds the inputs"),
            (_, false) => failure.help("a forward run is given the `.in` and `.inout` cells"),
        });
    }
    let missing = program.declared_garbage().find(|(n, _)| back && !given.contains(n));
    match missing {
        Some((_, garbage)) => Err(Failure::usage(format_args!(
            "going back needs the garbage `{}` that the forward run left",
            garbage.name
        ))
        .help(format_args!("add `--set {}=…`", garbage.name))),
        None => Ok(()),
    }
}

/// Whether the program computes with floats, or erases.
pub fn loses_bits(module: &Module) -> bool {
    let is_real = |class: Class| class == Class::Real;
    let reals = module.globals.iter().any(|global| is_real(global.class))
        || module.procedures.iter().any(|p| p.frame.iter().any(|variable| is_real(variable.class)));
    let erases = module.code.iter().any(|instruction| !instruction.update.is_reversible());
    erases || reals && !module.real.is_exact()
}
