//! Round trip by inversion, `run(invert p) ∘ run(p) = id`. The inverse of each program in `programs/` is given the
//! results and the displayed tape, and restores the inputs. A backward run does the same.
//!
//! Inputs of the programs are in their headers: `;! run n=10 -> …`.

use std::path::PathBuf;
use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::diagnostic::Severity;
use reviver_assembler::files::Disk;
use reviver_assembler::invert::{Inversion, invert_text};
use reviver_assembler::render::render;
use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_lab::tree::in_tree;
use reviver_vm::given::Tape;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::Value;
use reviver_vm::{Machine, Program, State, Stop, Travel};

/// Programs without an inverse, because they erase or overwrite.
const WITHOUT_INVERSE: [&str; 14] = [
    "erase.rasm",
    "faq_overwrite.rasm",
    "bisection.rasm",
    "bubble_sort.rasm",
    "checkpoint_listing.rasm",
    "collatz_plain.rasm",
    "particles_forked_plain.rasm",
    "particles_plain.rasm",
    "besselj_plain.rasm",
    "bundle_adjustment_plain.rasm",
    "graph_embedding_plain.rasm",
    "mixture_plain.rasm",
    "sparse_dot_plain.rasm",
    "sparse_matvec_plain.rasm",
];

#[test]
fn inverses_undo_their_programs() {
    let mut runs = 0;
    let mut failures = Vec::new();
    for path in programs() {
        let name = path.display().to_string();
        match undone(&name) {
            Ok(count) => runs += count,
            Err(reason) => failures.push(format!("{name}: {reason}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(runs >= 100, "only {runs} runs were undone");
}

#[test]
fn an_erasing_program_has_no_inverse() {
    let name = folder().join(WITHOUT_INVERSE[0]).display().to_string();
    let complaint = inverse(&name, &name).expect_err("it erases");
    assert!(complaint.contains("`overwrite` has no inverse"), "{complaint}");
    assert!(complaint.contains("`erase` has no inverse"), "{complaint}");
}

#[test]
fn an_inverse_in_another_folder_finds_its_includes() {
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("inverse.rasm").display().to_string();
    for program in ["rle.rasm", "schroedinger.rasm"] {
        let name = folder().join(program).display().to_string();
        let text = inverse(&name, &target).unwrap();
        assert!(text.contains("programs/lib/"), "{text}");
        load(&target, text).unwrap();
    }
}

fn folder() -> PathBuf {
    in_tree("programs")
}

fn programs() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| {
        path.extension().is_some_and(|extension| extension == "rasm")
            && !WITHOUT_INVERSE.iter().any(|name| path.ends_with(name))
    })
}

/// Runs a program with the inputs of each header line for which [`given`] returns inputs, and undoes each run. Returns
/// the number of runs.
fn undone(name: &str) -> Result<usize, String> {
    let text = std::fs::read_to_string(name).map_err(|error| error.to_string())?;
    let inverse = load(&format!("{name}.inverse"), inverse(name, name)?)?;
    let program = load(name, text.clone())?;
    let runs: Vec<Vec<&str>> = text.lines().filter_map(given).collect();
    for given in &runs {
        is_undone(&program, &inverse, given).map_err(|reason| format!("{given:?}: {reason}"))?;
    }
    Ok(runs.len())
}

/// Returns the inputs in a header line. Returns `None` unless the line is a run that completes, in the program's own
/// number system.
fn given(line: &str) -> Option<Vec<&str>> {
    let (given, result) = line.strip_prefix(";! run ")?.split_once("->")?;
    let fails = ["trap", "error", "unrestored"];
    let as_written = result.split_whitespace().all(|word| !fails.contains(&word));
    let given: Vec<&str> = given.split_whitespace().collect();
    let plain = |word: &&str| word.contains('=') && !word.starts_with("real=") && !word.starts_with("word=");
    (as_written && given.iter().all(plain)).then_some(given)
}

fn inverse(name: &str, inverse_name: &str) -> Result<String, String> {
    let bytes = std::fs::read(name).map_err(|error| error.to_string())?;
    let Inversion { sources, text, .. } = invert_text(name, bytes, inverse_name, &Disk);
    text.map_err(|diagnostics| render(&sources, &diagnostics, false))
}

fn load(name: &str, text: String) -> Result<Arc<Program>, String> {
    let assembly = assemble(name, text.into_bytes(), &Disk);
    let flawless = assembly.diagnostics.iter().all(|d| d.severity < Severity::Warning);
    let module = assembly.module.filter(|_| flawless);
    let module = module.ok_or_else(|| render(&assembly.sources, &assembly.diagnostics, false))?;
    Program::new(module, 0).map(Arc::new).map_err(|violations| format!("{violations:?}"))
}

fn is_undone(program: &Arc<Program>, inverse: &Arc<Program>, given: &[&str]) -> Result<(), String> {
    let mut machine = Machine::at_begin(Arc::clone(program)).unwrap();
    give(&mut machine, given)?;
    let start = machine.state().try_clone().unwrap();
    finish(&mut machine)?;
    let mut way_back = Machine::at_begin(Arc::clone(inverse)).unwrap();
    hand_over(&machine, &mut way_back, Travel::Forward);
    finish(&mut way_back)?;
    compare(program, &start, &way_back, Tape::Output).map_err(|reason| format!("the inverse: {reason}"))?;
    let mut way_back = Machine::at_end(Arc::clone(program)).unwrap();
    hand_over(&machine, &mut way_back, Travel::Backward);
    go(&mut way_back, Travel::Backward)?;
    compare(program, &start, &way_back, Tape::Input).map_err(|reason| format!("backward: {reason}"))
}

fn give(machine: &mut Machine, given: &[&str]) -> Result<(), String> {
    let program = Arc::clone(machine.program());
    for word in given {
        let (name, values) = word.split_once('=').ok_or("no value")?;
        let texts: Vec<&str> = values.split(',').collect();
        if name == "tape" {
            let entries: Result<Vec<TapeEntry>, _> =
                texts.iter().map(|text| program.parse_entry(text)).collect();
            let entries = entries.map_err(|error| error.to_string())?;
            machine.state_mut().input = program.in_text_order(Tape::Input, entries);
        } else {
            let (global, _) = program.global(name).ok_or(format!("no cell `{name}`"))?;
            program.give(machine.state_mut(), global, &texts).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

fn finish(machine: &mut Machine) -> Result<(), String> {
    go(machine, Travel::Forward)
}

/// Runs to the end of the program. Garbage at the end is an error.
fn go(machine: &mut Machine, travel: Travel) -> Result<(), String> {
    loop {
        match machine.run(travel, u64::MAX).map_err(|trap| format!("{trap:?}"))? {
            Stop::Bound => break,
            Stop::Budget | Stop::Interrupted => return Err("it does not end".into()),
            Stop::Shown { .. } => {}
        }
    }
    let garbage = machine.program().garbage(machine.state(), travel);
    if garbage.is_empty() { Ok(()) } else { Err(format!("garbage: {garbage:?}")) }
}

/// Copies the results of a run to another machine, which has the inverse program or is at the program's end. The tape
/// is copied as displayed.
fn hand_over(from: &Machine, to: &mut Machine, travel: Travel) {
    let program = Arc::clone(to.program());
    for (number, global) in program.module().globals.iter().enumerate() {
        if program.takes(global.role, travel) {
            copy(from, number, to);
        }
    }
    let tape = from.program().in_text_order(Tape::Output, from.state().output.clone());
    let given = Tape::given(travel);
    let entries = program.in_text_order(given, tape);
    match given {
        Tape::Input => to.state_mut().input = entries,
        Tape::Output => to.state_mut().output = entries,
    }
}

/// Copies a global; both programs declare the same cells in the same order.
fn copy(from: &Machine, number: usize, to: &mut Machine) {
    if from.program().module().globals[number].shape == Shape::Stack {
        let values = from.program().read(from.state(), number);
        let program = Arc::clone(to.program());
        return program.give_values(to.state_mut(), number, &values).unwrap();
    }
    let pairs: Vec<(usize, usize)> = from.program().cells(number).zip(to.program().cells(number)).collect();
    for (source, target) in pairs {
        match from.program().module().globals[number].class {
            Class::Int => to.state_mut().ints[target] = from.state().ints[source],
            Class::Real => to.state_mut().reals[target] = from.state().reals[source],
        }
    }
}

/// Checks that all inputs are restored: bit for bit, or floats within the tolerance. `tape` says which tape of `end`
/// has the restored input tape.
fn compare(program: &Program, start: &State, end: &Machine, tape: Tape) -> Result<(), String> {
    let real = &program.module().real;
    let tolerance = if real.is_exact() { 0.0 } else { program.module().tolerance() };
    for (number, global) in program.module().globals.iter().enumerate() {
        let given = program.read(start, number);
        let found = end.program().read(end.state(), number);
        let same = |(a, b): (&Value, &Value)| {
            a == b || (program.approximate(*a) - program.approximate(*b)).abs() <= tolerance
        };
        if given.len() != found.len() || !given.iter().zip(&found).all(same) {
            return Err(format!("`{}` was {given:?} and is {found:?}", global.name));
        }
    }
    let (found, other) = match tape {
        Tape::Input => (&end.state().input, &end.state().output),
        Tape::Output => (&end.state().output, &end.state().input),
    };
    let (was, is) = (
        program.in_text_order(Tape::Input, start.input.clone()),
        end.program().in_text_order(tape, found.clone()),
    );
    if was != is || !other.is_empty() {
        return Err(format!("the tape was {was:?} and is {is:?}"));
    }
    Ok(())
}
