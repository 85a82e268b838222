//! Laws of derivatives along directions: each engine has the interpreter's Hessian–vector products, Jacobian–vector
//! products and Taylor coefficients, with the same reports of lost derivatives.

use std::fmt::Debug;

use reviver_vm::differentiate::matrices::{hessian_products, jacobian_product, taylor};
use reviver_vm::differentiate::{
    DifferentiateError, Subject as Differentiated, Variable, VerificationReport,
};

use super::gradient::rng;
use super::second_order::cells;
use crate::rng::Rng;
use crate::run::LONGEST;
use crate::subject::Subject;

/// Maximum number of results that are differentiated.
const RESULTS: usize = 2;
/// Maximum number of inputs that a direction changes.
const INPUTS: usize = 3;
/// Order of the Taylor series.
const ORDER: usize = 3;

/// Law: the engine's derivatives along a direction equal those of the interpreter.
pub fn along_directions(subject: &Subject) -> Result<(), String> {
    let Ok(by_engine) = subject.differentiated(false, LONGEST) else { return Ok(()) };
    if by_engine.runner.is_none() {
        return Ok(());
    }
    let interpreted = Differentiated { runner: None, ..by_engine.clone() };
    let (mut rng, cells) = (rng(), cells(&by_engine));
    for _ in 0..RESULTS.min(cells.len()) {
        let result = rng.pick(&cells).clone();
        let inputs = some(&mut rng, &cells);
        let direction: Vec<f64> = inputs.iter().map(|_| rng.within(-16..=16) as f64 / 16.0).collect();
        let both = [&interpreted, &by_engine];
        let name = by_engine.name(&result);
        let products = both.map(|subject| {
            let directions = std::slice::from_ref(&direction);
            let found = hessian_products(subject, &subject.seeds_of(&result)?, &inputs, directions)?;
            Ok((found.values, found.gradient, found.products, reported(&found.verification_report)))
        });
        same(&format!("the Hessian of {name} times {direction:?} by {inputs:?}"), products)?;
        let results = std::slice::from_ref(&result);
        let products = both.map(|subject| {
            let found = jacobian_product(subject, results, &inputs, &direction)?;
            Ok((found.values, found.product, reported(&found.verification_report)))
        });
        same(&format!("the derivative of {name} along {direction:?} of {inputs:?}"), products)?;
        let series = both.map(|subject| {
            let found = taylor(subject, results, &inputs, &direction, ORDER)?;
            Ok((found.coefficients, reported(&found.verification_report)))
        });
        same(&format!("the series of {name} along {direction:?} of {inputs:?}"), series)?;
    }
    Ok(())
}

/// Picks a few different cells.
fn some(rng: &mut Rng, cells: &[Variable]) -> Vec<Variable> {
    let mut inputs: Vec<Variable> = Vec::new();
    for _ in 0..INPUTS {
        let input = rng.pick(cells).clone();
        if !inputs.contains(&input) {
            inputs.push(input);
        }
    }
    inputs
}

/// Returns the text of a verification report without its error bound, whose sums engines add in different orders.
fn reported(report: &VerificationReport) -> String {
    let losses: Vec<String> = report.reports.iter().map(|reported| format!("{reported:?}")).collect();
    format!("{losses:?} {:?}", report.recomputed)
}

/// Returns an error unless both results are equal. Two errors are equal if their messages are.
fn same<T: PartialEq + Debug>(
    what: &str,
    [interpreted, by_engine]: [Result<T, DifferentiateError>; 2],
) -> Result<(), String> {
    let (interpreted, by_engine) =
        (interpreted.map_err(|error| error.to_string()), by_engine.map_err(|error| error.to_string()));
    if interpreted == by_engine {
        return Ok(());
    }
    Err(format!("{what}: the interpreter has {interpreted:?}, the engine {by_engine:?}"))
}
