//! Laws of second derivatives: a Hessian is symmetric, and agrees with differences of gradients. Both need many
//! digits, so they are checked in binary64 only.

use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::differentiate::matrices::{Hessian, hessian};
use reviver_vm::differentiate::{DifferentiateError, Subject as Differentiated, Variable, gradient};

use super::gradient::{is_of_values_alone, rng};
use crate::pairing::bits;
use crate::rng::Rng;
use crate::run::{LONGEST, trace};
use crate::subject::Subject;

/// Maximum number of inputs.
const INPUTS: usize = 4;
/// Number of losses to try.
const LOSSES: usize = 3;

/// Law: a Hessian is symmetric, and matches differences of gradients.
pub fn hessians(subject: &Subject) -> Result<(), String> {
    let module = subject.program.module();
    let fits = module.real == RealSystem::F64 && !subject.has_rules();
    if !fits || !is_of_values_alone(subject) {
        return Ok(());
    }
    let run = trace(subject, true);
    if !run.end.arrived() {
        return Ok(());
    }
    let rounding = ROUNDINGS_OF_A_STEP * run.steps() as f64 * f64::EPSILON;
    let Ok(differentiated) = subject.differentiated(true, LONGEST) else { return Ok(()) };
    let mut rng = rng();
    let cells = cells(&differentiated);
    for _ in 0..LOSSES.min(cells.len()) {
        let loss = rng.pick(&cells).clone();
        let inputs = reached(&differentiated, &loss, &cells);
        // A value on a stack can't be a loss, and a run that traps has no Hessian.
        let seeds = differentiated.seeds_of(&loss);
        if let Ok(hessian) = seeds.and_then(|seeds| hessian(&differentiated, &seeds, &inputs)) {
            symmetric(&hessian, rounding)?;
            as_differences(&differentiated, &loss, &inputs, &hessian, &mut rng)?;
        }
    }
    Ok(())
}

/// Returns all reals of globals, including stacks.
pub(super) fn cells(subject: &Differentiated) -> Vec<Variable> {
    let globals = subject.program.module().globals.iter().enumerate();
    let reals = globals.filter(|(_, global)| global.class == Class::Real);
    reals.flat_map(|(n, _)| subject.variables(n).unwrap_or_default()).collect()
}

/// Returns the first few cells with respect to which a loss has a derivative other than 0. Returns no cells if the
/// gradient of the loss traps.
fn reached(subject: &Differentiated, loss: &Variable, cells: &[Variable]) -> Vec<Variable> {
    let Ok(gradient) = gradient(subject, loss) else { return Vec::new() };
    let components = subject.components(&gradient.adjoints, 0, cells).unwrap();
    let reaching = cells.iter().zip(components).filter(|(_, component)| *component != 0.0);
    reaching.map(|(cell, _)| cell.clone()).take(INPUTS).collect()
}

/// Returns the largest magnitude among the entries of a Hessian and of its gradient.
fn size(hessian: &Hessian) -> f64 {
    hessian.products.iter().flatten().chain(&hessian.gradient).fold(0.0, |size, entry| entry.abs().max(size))
}

/// Rounding error of a step in the reverse sweep, in units in the last place of the seed, which is 1. The product of
/// this error and the number of steps is the absolute tolerance for entries whose terms cancel.
const ROUNDINGS_OF_A_STEP: f64 = 4.0;

fn symmetric(hessian: &Hessian, rounding: f64) -> Result<(), String> {
    let rows = &hessian.products;
    for (i, j) in (0..rows.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let (above, below) = (rows[j][i], rows[i][j]);
        if (above - below).abs() > 1e-9 * size(hessian) + rounding {
            return Err(format!("the Hessian is not symmetric: {above} and {below}"));
        }
    }
    Ok(())
}

/// Compares the Hessian's product with the difference quotient of two gradients along a direction, if all runs take
/// the same path. The tolerance is an estimate of the quotient's error: its change with smaller steps, plus the
/// difference of both one-sided quotients. The second part is needed at jumps: `atan2` jumps where its first source
/// is 0 and the second is negative, and gradients on both sides may be equal.
fn as_differences(
    subject: &Differentiated,
    loss: &Variable,
    inputs: &[Variable],
    hessian: &Hessian,
    rng: &mut Rng,
) -> Result<(), String> {
    let direction: Vec<f64> = inputs.iter().map(|_| rng.within(-16..=16) as f64 / 16.0).collect();
    let Ok((steps, here)) = gradient_at(subject, loss, inputs, &direction, 0.0) else { return Ok(()) };
    let quotients = |above: &[f64], below: &[f64], distance: f64| -> Vec<f64> {
        above.iter().zip(below).map(|(above, below)| (above - below) / distance).collect()
    };
    // Returns the central difference quotient, then both one-sided ones.
    let difference = |step: f64| -> Result<Option<[Vec<f64>; 3]>, DifferentiateError> {
        let above = gradient_at(subject, loss, inputs, &direction, step)?;
        let below = gradient_at(subject, loss, inputs, &direction, -step)?;
        let same_path = above.0 == steps && below.0 == steps;
        let (above, below) = (&above.1, &below.1);
        let (one, other) = (quotients(above, &here, step), quotients(&here, below, step));
        Ok(same_path.then(|| [quotients(above, below, 2.0 * step), one, other]))
    };
    let differences = [1e-3, 1e-4, 1e-5].map(difference);
    let [Ok(Some([coarse, ..])), Ok(Some([middle, ..])), Ok(Some([fine, one, other]))] = differences else {
        return Ok(());
    };
    for n in 0..inputs.len() {
        let product: f64 = hessian.products.iter().zip(&direction).map(|(row, d)| row[n] * d).sum();
        let by_step = (coarse[n] - middle[n]).abs() + (middle[n] - fine[n]).abs();
        let error = by_step + (one[n] - other[n]).abs() + 1e-6 * size(hessian);
        if (product - middle[n]).abs() > 8.0 * error {
            return Err(format!("a Hessian times a direction is {product}, by differences {}", middle[n]));
        }
    }
    Ok(())
}

/// Returns the gradient at a start moved by `step` along a direction, and the number of steps of its run.
fn gradient_at(
    subject: &Differentiated,
    loss: &Variable,
    inputs: &[Variable],
    direction: &[f64],
    step: f64,
) -> Result<(u64, Vec<f64>), DifferentiateError> {
    let mut start = subject.start.try_clone()?;
    for (input, component) in inputs.iter().zip(direction) {
        if let Some(number) = input.origin.of(&mut start) {
            *number = bits(&subject.program, f64::from_bits(*number) + step * component);
        }
    }
    let moved = Differentiated::new(subject.program.clone(), start, subject.exact, subject.max_steps)?;
    let moved = Differentiated { runner: subject.runner.clone(), ..moved };
    let gradient = gradient(&moved, loss)?;
    Ok((gradient.steps, moved.components(&gradient.adjoints, 0, inputs)?))
}
