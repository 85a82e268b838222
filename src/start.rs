//! Builds a program at its start from the options that are common to all commands that run programs. The module handles
//! all kinds of inputs; commands run the program.

use std::path::Path;
use std::sync::Arc;

use reviver::source;
use reviver_isa::module::{Global, Module, Role, Shape};
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::given::Tape;
use reviver_vm::notation::Notation;
use reviver_vm::strategy::loses_nothing;
use reviver_vm::{CheckLevel, Machine, Program, State, Travel};

use crate::cli::{Given, OtherNumbers, Start};
use crate::failure::{Exit, Failure, Fallible};
use crate::{given, load, read, streams};

/// Checks that standard input has one purpose only. `others` are further files that the command reads.
pub fn check_input(options: &Given, others: &[Option<&Path>]) -> Fallible {
    let tape = options.tape.as_deref().map(|tape| Path::new(tape.strip_prefix('@').unwrap_or(tape)));
    let readers = [Some(&*options.file), tape];
    let files = readers.iter().chain(others).filter(|path| **path == Some(Path::new("-")));
    let cells = options.set.iter().flat_map(|set| set.split(',')).filter(|part| part.ends_with("=@-"));
    if files.count() + cells.count() > 1 {
        return Err(Failure::usage("standard input can be read for one purpose only: `-` is given twice"));
    }
    Ok(())
}

/// Checks that a saved state of an unchecked run is continued only with `--unchecked`; otherwise returns a failure.
pub fn check_level(path: &Path, state: &State, level: CheckLevel) -> Fallible {
    if !state.counters.is_unchecked || !level.is_checked() {
        return Ok(());
    }
    let failure = Failure::usage(format_args!(
        "{}: this state was saved by a run with `--unchecked`, so its numbers may be wrong",
        read::shown(path)
    ));
    Err(failure.help("add `--unchecked` to continue from this state, or run again from the start"))
}

/// Loads the program in the requested number system; integers are written in the requested notation.
pub fn program(options: &Start) -> Fallible<Arc<Program>> {
    Ok(written(options, plain_program(&options.given)?))
}

/// Loads the program like [`program`], for derivatives: gradients that it computes itself become statements.
pub fn differentiable(options: &Start) -> Fallible<Arc<Program>> {
    let given = &options.given;
    let module = load::differentiable(given, read::source(&given.file)?)?;
    Ok(written(options, in_numbers(&given.file, &given.numbers, module)?))
}

/// Returns the program with integers in the requested notation.
fn written(options: &Start, program: Arc<Program>) -> Arc<Program> {
    match options.notation() {
        Notation::Signed => program,
        notation => Arc::new(Arc::unwrap_or_clone(program).with_notation(notation)),
    }
}

/// Loads the program in the requested number system, with integers in the default notation.
pub fn plain_program(options: &Given) -> Fallible<Arc<Program>> {
    in_numbers(&options.file, &options.numbers, load::module_with(options, read::source(&options.file)?)?)
}

/// Lays out a module as a program in the requested number system.
pub fn in_numbers(file: &Path, options: &OtherNumbers, mut module: Module) -> Fallible<Arc<Program>> {
    let own = (module.word, module.real);
    source::set_numbers(&mut module, options.real, options.word);
    let renumbered = (module.word, module.real) != own;
    load::program(file, module).map_err(|failure| match renumbered {
        true => failure.help(format_args!(
            "leave `--word` and `--real` out: the program is written for integers of {} bits and for {}",
            own.0.bits(),
            own.1
        )),
        false => failure,
    })
}

/// Returns a machine with all inputs set: at the start of the program, or for a backward run at its end. Prints a
/// note for each value whose `default` is used.
pub fn machine(options: &Given, program: &Arc<Program>, travel: Travel) -> Fallible<Machine> {
    begun(options, program, travel).map(|begun| begun.machine)
}

/// Machine at the start of its run, with the values whose `default` was used.
pub struct Begun {
    pub machine: Machine,
    /// Indices of the results that were set to their `default`.
    pub assumed: Vec<usize>,
}

/// Returns a machine at the start of its run, with the values whose `default` was used.
pub fn begun(options: &Given, program: &Arc<Program>, travel: Travel) -> Fallible<Begun> {
    begun_with(options, &[], program, travel)
}

/// Does the same as [`begun`], and also sets the cells that `more` names.
pub fn begun_with(
    options: &Given,
    more: &[(String, Vec<String>)],
    program: &Arc<Program>,
    travel: Travel,
) -> Fallible<Begun> {
    let machine = match travel {
        Travel::Forward => Machine::at_begin(program.clone()),
        Travel::Backward => Machine::at_end(program.clone()),
    };
    let mut machine = machine.map_err(no_memory)?;
    let mut given = given::set(program, machine.state_mut(), &options.set)?;
    given.extend(given::given_values(program, machine.state_mut(), "--inputs", more)?);
    check_given(program, &given, travel)?;
    check_missing(program, &given, travel)?;
    let assumed = assume(program, &mut machine, &given, travel)?;
    if let Some(argument) = &options.tape {
        let tape = Tape::given(travel);
        let entries = given::tape(program, argument)?;
        check_tape(program, entries.len())?;
        let entries = program.in_text_order(tape, entries);
        match tape {
            Tape::Input => machine.state_mut().input = entries,
            Tape::Output => machine.state_mut().output = entries,
        }
    }
    Ok(Begun { machine, assumed })
}

/// Failure for cells that don't fit into memory.
fn no_memory(error: OutOfMemory) -> Failure {
    Failure::new(Exit::Trap, format_args!("{error} for the cells of the program"))
        .help("declare smaller arrays: each integer or real takes 8 bytes")
}

fn check_tape(program: &Program, values: usize) -> Fallible {
    let limit = program.module().limits.tape;
    if values as u64 <= u64::from(limit) {
        return Ok(());
    }
    let message = format!("the tape holds {values} values, and the program's tapes at most {limit}");
    Err(Failure::usage(message).help("raise the limit with `.limit tape` in the program"))
}

/// If the direction requires every value, sets missing values to their defaults, and prints a note for each. Returns
/// the indices of the globals whose values were missing.
fn assume(program: &Program, machine: &mut Machine, given: &[usize], travel: Travel) -> Fallible<Vec<usize>> {
    let mut assumed = Vec::new();
    for (n, global) in program.assumed(given, travel) {
        program.give_default(machine.state_mut(), n).map_err(no_memory)?;
        let name = &global.name;
        streams::complain(&format!("note: `{name}` isn't given: its `default` is used\n"));
        assumed.push(n);
    }
    Ok(assumed)
}

/// Checks that all given cells are inputs (for a forward run) or results (for a backward run).
fn check_given(program: &Program, given: &[usize], travel: Travel) -> Fallible {
    let back = travel == Travel::Backward;
    for &global in given {
        let Some(declared) = program.module().globals.get(global) else { continue };
        let (name, role) = (&declared.name, declared.role);
        if program.takes(role, travel) {
            continue;
        }
        let failure = Failure::usage(format_args!("`{name}` can't be given: it is `{}`", role.directive()));
        return Err(match (role, back) {
            (Role::Private, _) => {
                failure.help("leave it out: a private cell starts and ends with its initial value")
            }
            (_, true) => failure.help("give only results: a backward run computes the inputs"),
            (_, false) => {
                failure.help("give only `.in` and `.inout` cells: a forward run computes the results")
            }
        });
    }
    Ok(())
}

/// Checks that a backward run is given every result. A missing result can't be assumed to be 0, because possibly no
/// forward run ends with this value.
fn check_missing(program: &Program, given: &[usize], travel: Travel) -> Fallible {
    const NAMED: usize = 8;
    let globals = program.missing(given, travel);
    let missing: Vec<&str> = globals.iter().map(|(_, g)| g.name.as_str()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let shown = missing.get(..NAMED).unwrap_or(&missing);
    let quoted: Vec<String> = shown.iter().map(|name| format!("`{name}`")).collect();
    let more = match missing.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = match travel {
        Travel::Backward => "running backward needs every result of the forward run",
        Travel::Forward => "an inverse program needs every result of the program that it undoes",
    };
    let settings: Vec<String> = shown.iter().map(|name| format!("{name}=…")).collect();
    let failure = Failure::usage(format_args!("{what}; not given: {}{more}", quoted.join(", ")))
        .help(format_args!("add `--set {}`; one value fills all cells of an array", settings.join(",")))
        .detail("missing", missing.clone().into());
    let stack = globals.iter().find(|(_, global)| global.shape == Shape::Stack);
    Err(match stack {
        Some((_, Global { name, .. })) => failure.help(format_args!(
            "give the values of the stack `{name}` from its bottom; `{name}=` is an empty stack"
        )),
        None => failure,
    })
}

/// Returns true if the program computes with floats, or erases bits.
pub fn loses_bits(module: &Module) -> bool {
    !loses_nothing(module)
}
