//! Law of gradients as programs: the program that `grad --emit` writes computes the bits of the gradient.

use reviver_assembler::adjoint::{AdjointRequest, CellSeed, DerivedProgram, DroppedAdjoints, adjoint_text};
use reviver_assembler::files::FilesInMemory;
use reviver_assembler::render::render;
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_vm::Travel;
use reviver_vm::differentiate::{Origin, Subject as Differentiated, Variable, early_uncomputes, gradient};

use super::gradient::is_of_values_alone;
use crate::run::{End, LONGEST, travel};
use crate::subject::Subject;

/// Relative tolerance of derivatives of programs with `erf`.
const OF_ERF: f64 = 1e-9;
/// Number of losses to try.
const LOSSES: usize = 2;

/// Law: the gradient as a program computes the bits of the gradient.
pub fn emitted_gradients(subject: &Subject) -> Result<(), String> {
    compared(subject).map(drop)
}

/// Checks the law, and returns the number of gradients that were compared. A gradient isn't compared if the program
/// traps, if the gradient must be repeated with a history, or if it can't be written as a program.
///
/// # Errors
/// A sentence if the program violates the law.
pub fn compared(subject: &Subject) -> Result<usize, String> {
    if !is_of_values_alone(subject) || !subject.is_reversible() {
        return Ok(0);
    }
    let Ok(differentiated) = subject.differentiated(false, LONGEST) else { return Ok(0) };
    let mut compared = 0;
    let globals = subject.program.module().globals.iter().enumerate();
    let reals: Vec<usize> = globals
        .filter(|(_, global)| global.class == Class::Real && global.shape != Shape::Stack)
        .map(|(n, _)| n)
        .collect();
    for global in reals.into_iter().rev().take(LOSSES) {
        let last = differentiated.variables(global).map_err(|error| error.to_string())?.pop();
        let loss = last.filter(|loss| matches!(loss.origin, Origin::Cell(_)));
        let is_compared = loss.map_or(Ok(false), |loss| emitted_gradient(subject, &differentiated, &loss))?;
        compared += usize::from(is_compared);
    }
    Ok(compared)
}

/// Compares the gradient of a loss with that of the emitted program. Returns false if there is nothing to compare.
fn emitted_gradient(
    subject: &Subject,
    differentiated: &Differentiated,
    loss: &Variable,
) -> Result<bool, String> {
    let Ok(expected) = gradient(differentiated, loss) else { return Ok(false) };
    // A gradient that was recomputed with a history isn't that of a plain run.
    if expected.verification_report.recomputed.is_some() {
        return Ok(false);
    }
    let program = &subject.program;
    let Origin::Cell(cell) = loss.origin else { return Ok(false) };
    let request = AdjointRequest {
        seeds: vec![seed(subject, loss)],
        dropped: DroppedAdjoints::Pushed,
        early_uncomputes: early_uncomputes(program, &[cell]),
    };
    let bytes = subject.text.clone().into_bytes();
    let files = FilesInMemory::new();
    let DerivedProgram { sources, text, suffix } =
        adjoint_text("subject.rasm", bytes, (&request, "subject.rasm"), &files);
    let text = match text {
        Ok(text) => text,
        Err(diagnostics) => {
            let is_refusal = |code| code == Some(ProblemCode::NoAdjointProgram);
            return match diagnostics.iter().all(|diagnostic| is_refusal(diagnostic.code)) {
                true => Ok(false),
                false => Err(render(&sources, &diagnostics, false)),
            };
        }
    };
    let emitted = Subject::on(subject.engine, &text).map_err(|error| {
        format!("the gradient of `{}` doesn't assemble:\n{error}\n{text}", differentiated.name(loss))
    })?;
    let mut machine = emitted.machine(false);
    machine.state_mut().input.clone_from(&differentiated.start.input);
    let end = travel(&mut machine, Travel::Forward, 100 * LONGEST);
    let describe = |what: String| {
        format!("the gradient of `{}` as a program: {what}\n{text}", differentiated.name(loss))
    };
    if end != End::Bound {
        return Err(describe(format!("{end:?}")));
    }
    for (n, global) in program.module().globals.iter().enumerate() {
        let is_array = global.class == Class::Real && global.shape != Shape::Stack;
        if !is_array || !global.role.is_given() {
            continue;
        }
        let variables = differentiated.variables(n).map_err(|error| error.to_string())?;
        let expected = differentiated.components(&expected.adjoints, 0, &variables).unwrap();
        let adjoint = format!("{}{suffix}", global.name);
        let Some((m, _)) = emitted.program.global(&adjoint) else {
            return Err(describe(format!("no {adjoint}")));
        };
        let found = emitted.program.read(machine.state(), m);
        let found: Vec<f64> = found.into_iter().map(|value| emitted.program.approximate(value)).collect();
        // The signs of zeros may differ. The derivative of `erf` is written as another formula than the machine's.
        let has_erf = program.module().code.iter().any(|instruction| instruction.function == Function::Erf);
        let size = expected.iter().fold(0.0f64, |most, number| most.max(number.abs()));
        let is_same = |a: f64, b: f64| a == b || has_erf && (a - b).abs() <= OF_ERF * size;
        if !found.iter().zip(&expected).all(|(&a, &b)| is_same(a, b)) || found.len() != expected.len() {
            return Err(describe(format!("{adjoint} is {found:?}, expected {expected:?}")));
        }
    }
    Ok(true)
}

/// Returns the loss with the seed 1.
fn seed(subject: &Subject, loss: &Variable) -> CellSeed {
    let global = subject.program.module().globals.get(loss.global);
    let element = loss.element as u64;
    let indices = match global.map(|global| global.shape) {
        Some(Shape::Vector(_)) => vec![element],
        Some(Shape::Matrix(_, columns)) => vec![element / u64::from(columns), element % u64::from(columns)],
        _ => Vec::new(),
    };
    CellSeed { name: global.map_or(String::new(), |global| global.name.clone()), indices, seed: 1.0 }
}
