//! Law of programs that compute gradients themselves: as statements, these gradients have the same bits.

use std::sync::Arc;

use reviver_assembler::assemble::assemble_with;
use reviver_assembler::constants::Replacements;
use reviver_assembler::disassemble::disassemble;
use reviver_assembler::files::FilesInMemory;
use reviver_assembler::render::render;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_isa::names::register_class;
use reviver_vm::{Cause, Trap, Travel};

use crate::run::{End, LONGEST, travel};
use crate::subject::{Subject, load};

/// Law: a program whose gradients are replaced by statements computes the same values.
pub fn own_gradients(subject: &Subject) -> Result<(), String> {
    compared(subject).map(drop)
}

/// Checks the law. Returns false if there is nothing to compare: the program doesn't switch gradient mode, traps, or uses
/// the mode in a way that can't be written as statements.
///
/// # Errors
/// A sentence if the program violates the law.
pub fn compared(subject: &Subject) -> Result<bool, String> {
    if !subject.program.switches_mode() {
        return Ok(false);
    }
    let mut machine = subject.machine(false);
    let input = machine.state().input.clone();
    if travel(&mut machine, Travel::Forward, LONGEST) != End::Bound {
        return Ok(false);
    }
    let replaced = Replacements { own_gradients: true, ..Replacements::default() };
    let text = subject.text.clone().into_bytes();
    let assembly = assemble_with("subject.rasm", text, &FilesInMemory::new(), replaced);
    let Some(module) = assembly.module else {
        let is_refusal = |code| matches!(code, Some(ProblemCode::NoAdjointProgram | ProblemCode::NoProgram));
        return match assembly.diagnostics.iter().all(|diagnostic| is_refusal(diagnostic.code)) {
            true => Ok(false),
            false => Err(render(&assembly.sources, &assembly.diagnostics, false)),
        };
    };
    let text = disassemble(&module);
    let plain = subject.with_program(Arc::new(load(module)?));
    let mut other = plain.machine(false);
    other.state_mut().input = input;
    let end = travel(&mut other, Travel::Forward, 100 * LONGEST);
    // A variable must not be closed outside of gradient mode while it has an adjoint. The machine keeps such an adjoint.
    if let End::Trap(Trap {
        cause: Cause::NotVacant { class: Class::Real, .. } | Cause::FrameNotVacant { class: Class::Real, .. },
        ..
    }) = end
    {
        return Ok(false);
    }
    if end != End::Bound {
        return Err(format!("as statements: {end:?}\n{}", text));
    }
    for (n, global) in subject.program.module().globals.iter().enumerate() {
        // A register without statements is no global.
        if global.shape == Shape::Stack || register_class(&global.name).is_some() {
            continue;
        }
        let Some((m, _)) = plain.program.global(&global.name) else {
            return Err(format!("as statements: no {}\n{}", global.name, text));
        };
        let (expected, found) =
            (subject.program.read(machine.state(), n), plain.program.read(other.state(), m));
        if expected != found {
            return Err(format!(
                "{} is {found:?} as statements, expected {expected:?}\n{}",
                global.name, text
            ));
        }
    }
    Ok(true)
}
