//! The laws of the gradient driver: in floats, what it finds without a history is what it finds with one,
//! whatever the way back loses; and what it finds by turning round early, it finds from the end.

use reviver_isa::instruction::Class;
use reviver_vm::differentiate::{
    DifferentiateError, Gradient, Origin, Subject as Differentiated, Variable, gradient,
};
use reviver_vm::trap::Cause;

use super::gradient::is_of_values_alone;
use crate::run::LONGEST;
use crate::subject::Subject;

/// Losses tried.
const LOSSES: usize = 2;
/// The part of a gradient's size by which rounding on the way back may change it.
const ROUNDING: f64 = 1e-5;

/// A gradient without a history is the gradient with one.
pub fn histories_agree(subject: &Subject) -> Result<(), String> {
    if subject.program.module().real.is_exact() || !is_of_values_alone(subject) {
        return Ok(());
    }
    let differentiated = |exact| subject.differentiated(exact, LONGEST);
    let (Ok(plain), Ok(exact)) = (differentiated(false), differentiated(true)) else { return Ok(()) };
    losses(&reals(&exact)).take(LOSSES).try_for_each(|loss| match gradient(&exact, loss) {
        // What traps has no gradient.
        Err(_) => Ok(()),
        Ok(expected) => compare(&plain, gradient(&plain, loss), &expected),
    })
}

/// Turning round behind the last change of the loss finds the gradient that turning at the end finds.
pub fn turning_is_early_enough(subject: &Subject) -> Result<(), String> {
    if !is_of_values_alone(subject) {
        return Ok(());
    }
    let differentiated = || subject.differentiated(true, LONGEST);
    let (Ok(early), Ok(late)) = (differentiated(), differentiated()) else { return Ok(()) };
    let late = Differentiated { whole: true, ..late };
    let cells = reals(&late);
    losses(&cells).take(LOSSES).try_for_each(|loss| {
        // What traps behind the last change has no end to turn at.
        let Ok(expected) = gradient(&late, loss) else { return Ok(()) };
        let found = gradient(&early, loss).map_err(|error| format!("turning early: {error}"))?;
        let components = |gradient: &Gradient| late.components(&gradient.adjoints, 0, &cells).unwrap();
        let (found, expected) = (components(&found), components(&expected));
        if found == expected {
            Ok(())
        } else {
            Err(format!("turning early the gradient is {found:?}, at the end {expected:?}"))
        }
    })
}

/// Those that may be losses: cells.
fn losses(reals: &[Variable]) -> impl Iterator<Item = &Variable> {
    reals.iter().filter(|real| matches!(real.origin, Origin::Cell(_)))
}

/// All reals of globals, those on a stack too.
fn reals(subject: &Differentiated) -> Vec<Variable> {
    let globals = subject.program.module().globals.iter().enumerate();
    let reals = globals.filter(|(_, global)| global.class == Class::Real);
    reals.flat_map(|(n, _)| subject.variables(n).unwrap_or_default()).collect()
}

fn compare(
    subject: &Differentiated,
    found: Result<Gradient, DifferentiateError>,
    expected: &Gradient,
) -> Result<(), String> {
    let found = match found {
        Ok(found) => found,
        // No way leads back over what was erased on purpose.
        Err(DifferentiateError::Trap { explanation, .. }) if explanation.cause == Cause::Irreversible => {
            return Ok(());
        }
        Err(error) => return Err(format!("without a history there is no gradient: {error}")),
    };
    let cells = reals(subject);
    let components = |gradient: &Gradient| subject.components(&gradient.adjoints, 0, &cells).unwrap();
    let (found, expected) = (components(&found), components(expected));
    let size = expected.iter().fold(0.0, |size: f64, component| size.max(component.abs()));
    let digits = subject.program.ulp(subject.number(1.0)) / f64::EPSILON;
    let differs =
        |(found, expected): (&f64, &f64)| (found - expected).abs() > ROUNDING * digits.sqrt() * size;
    if found.iter().zip(&expected).any(differs) {
        return Err(format!("without a history the gradient is {found:?}, with one {expected:?}"));
    }
    Ok(())
}
