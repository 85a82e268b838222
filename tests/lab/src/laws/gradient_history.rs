//! Laws of gradients with and without a history. In floats, a gradient without a history equals the gradient with one,
//! despite lost bits. A gradient with an early turning point equals the gradient that turns at the end.

use reviver_isa::instruction::Class;
use reviver_vm::differentiate::{
    DifferentiateError, Gradient, Origin, Subject as Differentiated, Variable, gradient,
};
use reviver_vm::trap::Cause;

use super::gradient::is_of_values_alone;
use crate::run::LONGEST;
use crate::subject::Subject;

/// Number of losses to try.
const LOSSES: usize = 2;
/// Tolerance for rounding in the reverse sweep, relative to the gradient's size.
const ROUNDING: f64 = 1e-5;

/// Law: a gradient without a history equals the gradient with one.
pub fn histories_agree(subject: &Subject) -> Result<(), String> {
    if subject.program.module().real.is_exact() || !is_of_values_alone(subject) {
        return Ok(());
    }
    let differentiated = |exact| subject.differentiated(exact, LONGEST);
    let (Ok(plain), Ok(exact)) = (differentiated(false), differentiated(true)) else { return Ok(()) };
    losses(&reals(&exact)).take(LOSSES).try_for_each(|loss| match gradient(&exact, loss) {
        // A trapping run has no gradient.
        Err(_) => Ok(()),
        Ok(expected) => compare(&plain, gradient(&plain, loss), &expected),
    })
}

/// Law: turning after the last change of the loss gives the same gradient as turning at the end.
pub fn turning_point(subject: &Subject) -> Result<(), String> {
    if !is_of_values_alone(subject) {
        return Ok(());
    }
    let differentiated = || subject.differentiated(true, LONGEST);
    let (Ok(early), Ok(late)) = (differentiated(), differentiated()) else { return Ok(()) };
    let late = Differentiated { whole: true, ..late };
    let cells = reals(&late);
    losses(&cells).take(LOSSES).try_for_each(|loss| {
        // A run that traps after the last change of the loss doesn't reach its end, so its gradient can't turn at the
        // end.
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

/// Returns the variables that can be losses: cells, but not entries of stacks.
fn losses(reals: &[Variable]) -> impl Iterator<Item = &Variable> {
    reals.iter().filter(|real| matches!(real.origin, Origin::Cell(_)))
}

/// Returns all reals of globals, including stacks.
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
        // No backward run can pass a deliberate erasure.
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
