//! Laws of program texts: disassembly and formatting preserve a program, and inversion inverts its effect.

use reviver_assembler::disassemble::disassemble;
use reviver_assembler::source::{FileId, Sources};
use reviver_assembler::{format, image, invert, parser, render};
use reviver_isa::Module;
use reviver_isa::module::{Role, Structure};
use reviver_vm::digest::value_digest;
use reviver_vm::given::Tape;
use reviver_vm::state::State;
use reviver_vm::{Machine, Program, Travel};

use super::gradient::is_of_values_alone;
use super::same;
use crate::run::{End, LONGEST, trace, travel};
use crate::subject::{Subject, module};

fn source(text: &str) -> (Sources, FileId) {
    let mut sources = Sources::new();
    let file = sources.add("subject.rasm", text);
    (sources, file)
}

/// Returns the text of the inverse program.
///
/// # Errors
/// Diagnostics if the text can't be inverted.
pub fn inverse(text: &str) -> Result<String, String> {
    let (sources, file) = source(text);
    let (body, diagnostics) = parser::parse(&sources, file);
    let complain = |diagnostics: &[_]| render::render(&sources, diagnostics, false);
    if !diagnostics.is_empty() {
        return Err(complain(&diagnostics));
    }
    let inverse = invert::invert(&body).map_err(|diagnostics| complain(&diagnostics))?;
    Ok(format::print_with(&sources, &inverse))
}

/// Returns a text in the canonical layout.
///
/// # Errors
/// Diagnostics if the text can't be parsed.
pub fn formatted(text: &str) -> Result<String, String> {
    let (sources, file) = source(text);
    format::format(&sources, file).map_err(|diagnostics| render::render(&sources, &diagnostics, false))
}

/// Returns a module without data about its text, which doesn't affect runs.
fn bare(module: &Module) -> Module {
    Module { structure: Structure::default(), ..module.clone() }
}

/// Law: the inverse of the inverse is the original program.
pub fn inverting_twice(subject: &Subject) -> Result<(), String> {
    if !subject.is_reversible() {
        return Ok(());
    }
    let once = inverse(&subject.text)?;
    let twice = inverse(&once)?;
    let module = module(&twice).map_err(|error| format!("inverted twice it doesn't assemble:\n{error}"))?;
    let (found, expected) = (bare(&module), inverted_twice(subject.program.module()));
    if found != expected {
        return Err(format!("inverted twice it is another program:\n{twice}"));
    }
    same("the text inverted four times", inverse(&inverse(&twice)?)?, twice)
}

/// Returns the module that inverting twice should give. An input's default is lost, because it doesn't apply to the
/// result that the input becomes in the inverse.
fn inverted_twice(module: &Module) -> Module {
    let mut module = bare(module);
    for global in &mut module.globals {
        if global.role != Role::InOut {
            global.default = None;
        }
    }
    module
}

/// A program that ran to its end, and the inverse program that ran with its results.
struct Undone {
    forward: Machine,
    inverse: Subject,
    text: String,
    back: Machine,
}

/// Law: the inverse program, given the results, restores the start.
pub fn inverse_undoes(subject: &Subject) -> Result<(), String> {
    let Some(Undone { inverse, text, back, .. }) = undone(subject)? else { return Ok(()) };
    let mut arrived = subject.machine(false).state().try_clone().unwrap();
    let start = value_digest(&subject.program, &arrived);
    hand_over((&inverse.program, back.state()), (&subject.program, &mut arrived));
    same(&format!("the values after the inverse\n{text}"), value_digest(&subject.program, &arrived), start)
}

/// Law: a backward run and the inverse program take the output tape in the same displayed order. Both show the input
/// tape in the order in which it was given.
pub fn backward_tapes_agree(subject: &Subject) -> Result<(), String> {
    let Some(Undone { forward, inverse, text, back }) = undone(subject)? else { return Ok(()) };
    let program = &subject.program;
    let made = program.in_text_order(Tape::Output, forward.state().output.clone());
    let given = program.in_text_order(Tape::Input, subject.machine(false).state().input.clone());
    let mut end = forward.into_state();
    end.output = program.in_text_order(Tape::Output, made.clone());
    let mut backward = subject.resume(end, None);
    same("the end of the way back", travel(&mut backward, Travel::Backward, LONGEST), End::Bound)?;
    let found = program.in_text_order(Tape::Input, backward.state().input.clone());
    same("the tape that was found by running backward", &found, &given)?;
    let found = inverse.program.in_text_order(Tape::Output, back.state().output.clone());
    same(&format!("the tape that was found by the inverse\n{text}"), &found, &given)
}

/// Runs a program and then its inverse. `None` if there is no inverse, or if values depend on adjoints or the mode.
fn undone(subject: &Subject) -> Result<Option<Undone>, String> {
    let forward = trace(subject, false);
    // Adjoints aren't copied to the inverse program, so values must not depend on them.
    if !subject.is_exact() || !forward.end.arrived() || !is_of_values_alone(subject) {
        return Ok(None);
    }
    let text = inverse(&subject.text)?;
    let inverse = Subject::on(subject.engine, &text)
        .map_err(|error| format!("the inverse doesn't assemble:\n{error}\n{text}"))?;
    let mut machine = inverse.machine(false);
    hand_over((&subject.program, forward.machine.state()), (&inverse.program, machine.state_mut()));
    let end = travel(&mut machine, Travel::Forward, LONGEST);
    same(&format!("the end of the inverse\n{text}"), end, End::Bound)?;
    Ok(Some(Undone { forward: forward.machine, inverse, text, back: machine }))
}

/// Copies the values of one program's state to another program with the same names. The output tape becomes the input
/// tape, in display order.
fn hand_over((from, old): (&Program, &State), (to, new): (&Program, &mut State)) {
    for (n, global) in from.module().globals.iter().enumerate() {
        let Some((m, _)) = to.global(&global.name) else { continue };
        let texts: Vec<String> = from.read(old, n).into_iter().map(|value| from.text(value)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        // If the value is refused, the digests differ, and the law reports that.
        let _ = to.give(new, m, &texts);
    }
    new.int_stack.clone_from(&old.int_stack);
    new.real_stack.clone_from(&old.real_stack);
    new.input = to.in_text_order(Tape::Input, from.in_text_order(Tape::Output, old.output.clone()));
    new.output = to.in_text_order(Tape::Output, from.in_text_order(Tape::Input, old.input.clone()));
}

/// Law: a disassembly assembles to the same bytes, and these bytes decode to the same module.
pub fn disassembly(subject: &Subject) -> Result<(), String> {
    let original = subject.program.module();
    disassembled(original)?;
    let mut turned = Module { inverse: !original.inverse, ..original.clone() };
    // In the inverse program, a cell declared as garbage is an input.
    let garbage = turned.globals.iter_mut().filter(|global| global.role == Role::Garbage);
    garbage.for_each(|global| global.role = Role::In);
    disassembled(&turned)
}

fn disassembled(original: &Module) -> Result<(), String> {
    let bytes = image::encode(original).unwrap();
    let decoded = image::decode(&bytes).map_err(|error| format!("the image is refused: {error}"))?;
    if decoded != *original {
        return Err("the image decodes to another module".into());
    }
    let text = disassemble(original);
    let again =
        module(&text).map_err(|error| format!("the disassembly doesn't assemble:\n{error}\n{text}"))?;
    if image::encode(&again).unwrap() != bytes {
        return Err(format!("the disassembly assembles to other bytes:\n{text}"));
    }
    Ok(())
}

/// Law: the formatted text is the same program, and formatting is idempotent.
pub fn formatting(subject: &Subject) -> Result<(), String> {
    let once = formatted(&subject.text)?;
    same("the text formatted twice", formatted(&once)?, once.clone())?;
    let module = module(&once).map_err(|error| format!("formatted it doesn't assemble:\n{error}"))?;
    let without_lines = |module: &Module| {
        let mut module = module.clone();
        module.structure.set_text(Vec::new(), Vec::new(), Vec::new());
        module
    };
    if without_lines(&module) != without_lines(subject.program.module()) {
        return Err(format!("formatted it is another program:\n{once}"));
    }
    Ok(())
}
