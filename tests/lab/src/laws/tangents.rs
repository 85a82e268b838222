//! Law of tangents as programs: the program that `jvp --emit` writes computes the derivatives of a run over dual numbers,
//! and the values of the original.

use reviver_assembler::adjoint::{DerivedProgram, TangentRequest, tangent_text};
use reviver_assembler::files::FilesInMemory;
use reviver_assembler::render::render;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, RealSystem, Role, Shape};
use reviver_vm::differentiate::matrices::{JacobianProduct, Sweep, jacobian_product};
use reviver_vm::differentiate::{Origin, Subject as Differentiated, Variable};
use reviver_vm::{Machine, Travel};

use super::gradient::is_of_values_alone;
use crate::run::{End, LONGEST, travel};
use crate::subject::Subject;

/// Tolerance, in units of the machine precision of the greatest number in the run. Dual numbers have other formulas than
/// the partial derivatives of rows, so both round differently. A difference of large numbers keeps their errors.
const PRECISIONS: f64 = 1e5;

/// Law: the tangents as a program are the derivatives along the direction.
pub fn emitted_tangents(subject: &Subject) -> Result<(), String> {
    compared(subject).map(drop)
}

/// Checks the law, and returns the number of results that were compared. None is compared if the program traps, if dual
/// numbers lose a derivative or can't be used, or if the tangents can't be written as a program.
///
/// # Errors
/// A sentence if the program violates the law.
pub fn compared(subject: &Subject) -> Result<usize, String> {
    if !is_of_values_alone(subject) || subject.has_rules() {
        return Ok(0);
    }
    let Ok(differentiated) = subject.differentiated(false, LONGEST) else { return Ok(0) };
    let inputs = Reals::of(&differentiated, |role| role.is_given())?;
    let results = Reals::of(&differentiated, |role| matches!(role, Role::Out | Role::InOut))?;
    let direction: Vec<f64> = (0..inputs.variables.len()).map(component).collect();
    let Ok(expected) = jacobian_product(&differentiated, &results.variables, &inputs.variables, &direction)
    else {
        return Ok(0);
    };
    if expected.sweep == Sweep::Reverse || !expected.verification_report.reports.is_empty() {
        return Ok(0);
    }
    let request = TangentRequest { inputs: inputs.names };
    let bytes = subject.text.clone().into_bytes();
    let names = (&request, "subject.rasm");
    let DerivedProgram { sources, text, suffix } =
        tangent_text("subject.rasm", bytes, names, &FilesInMemory::new());
    let text = match text {
        Ok(text) => text,
        Err(diagnostics) => {
            let is_refusal = |code| code == Some(ProblemCode::NoAdjointProgram);
            return match diagnostics.iter().all(|diagnostic| is_refusal(diagnostic.code)) {
                true => Ok(0),
                false => Err(render(&sources, &diagnostics, false)),
            };
        }
    };
    let emitted = Subject::on(subject.engine, &text)
        .map_err(|error| format!("the tangent program doesn't assemble:\n{error}\n{text}"))?;
    let mut run = TangentRun::new(&emitted, &differentiated, suffix)?;
    run.set(&request.inputs, &direction)?;
    run.finish().map_err(|error| format!("the tangent program: {error}\n{text}"))?;
    run.compare(&results.names, &expected).map_err(|error| format!("the tangent program: {error}\n{text}"))
}

/// Returns a component of the direction.
fn component(n: usize) -> f64 {
    const COMPONENTS: [f64; 5] = [1.0, -0.5, 0.25, 0.0, 2.0];
    COMPONENTS.get(n % COMPONENTS.len()).copied().unwrap_or_default()
}

/// The reals of some globals, in order.
struct Reals {
    names: Vec<String>,
    variables: Vec<Variable>,
}

impl Reals {
    fn of(subject: &Differentiated, is_wanted: impl Fn(Role) -> bool) -> Result<Reals, String> {
        let is_real = |global: &Global| global.class == Class::Real && global.shape != Shape::Stack;
        let mut found = Reals { names: Vec::new(), variables: Vec::new() };
        for (n, global) in subject.program.module().globals.iter().enumerate() {
            if is_real(global) && is_wanted(global.role) {
                found.names.push(global.name.clone());
                found.variables.extend(subject.variables(n).map_err(|error| error.to_string())?);
            }
        }
        Ok(found)
    }
}

/// A run of a tangent program.
struct TangentRun {
    emitted: Differentiated,
    machine: Machine,
    suffix: String,
    /// The greatest magnitude of a real in the run.
    greatest: f64,
}

impl TangentRun {
    fn new(emitted: &Subject, original: &Differentiated, suffix: String) -> Result<TangentRun, String> {
        let mut machine = emitted.machine(false);
        machine.state_mut().input.clone_from(&original.start.input);
        let emitted = emitted.differentiated(false, LONGEST).map_err(|error| error.to_string())?;
        Ok(TangentRun { emitted, machine, suffix, greatest: 1.0 })
    }

    /// Sets the tangents of inputs to the components of the direction.
    fn set(&mut self, inputs: &[String], direction: &[f64]) -> Result<(), String> {
        let mut components = direction.iter();
        for input in inputs {
            for cell in self.cells(&format!("{input}{}", self.suffix))? {
                let component = components.next().copied().unwrap_or_default();
                self.machine.state_mut().reals[cell] = self.emitted.number(component);
            }
        }
        Ok(())
    }

    /// Returns the cells of a global.
    fn cells(&self, name: &str) -> Result<Vec<usize>, String> {
        let (n, _) = self.emitted.program.global(name).ok_or_else(|| format!("no {name}"))?;
        let variables = self.emitted.variables(n).map_err(|error| error.to_string())?;
        let cell = |variable: &Variable| match variable.origin {
            Origin::Cell(cell) => Some(cell),
            _ => None,
        };
        Ok(variables.iter().filter_map(cell).collect())
    }

    fn finish(&mut self) -> Result<(), String> {
        for _ in 0..100 * LONGEST {
            let end = travel(&mut self.machine, Travel::Forward, 1);
            let reals = self.machine.state().reals.iter();
            let magnitudes = reals.map(|&bits| self.number(bits).abs());
            self.greatest = magnitudes.fold(self.greatest, f64::max);
            match end {
                End::Bound => return Ok(()),
                End::Budget => {}
                trap => return Err(format!("{trap:?}")),
            }
        }
        Err("it doesn't end".to_owned())
    }

    fn number(&self, bits: u64) -> f64 {
        self.emitted.program.approximate(reviver_vm::values::Value::Real(bits))
    }

    /// Compares values and tangents of results, and returns their number.
    fn compare(&self, results: &[String], expected: &JacobianProduct) -> Result<usize, String> {
        let mut n = 0;
        for result in results {
            let tangents = self.cells(&format!("{result}{}", self.suffix))?;
            for (cell, tangent) in self.cells(result)?.into_iter().zip(tangents) {
                let reals = &self.machine.state().reals;
                let (value, tangent) = (reals[cell], self.number(reals[tangent]));
                if Some(&value) != expected.values.get(n) {
                    return Err(format!("`{result}` has another value: {}", self.number(value)));
                }
                let product = expected.product.get(n).copied().unwrap_or(f64::NAN);
                let is_close = (tangent - product).abs() <= self.tolerance();
                if !is_close {
                    return Err(format!("`{result}{}` is {tangent}, expected {product}", self.suffix));
                }
                n += 1;
            }
        }
        Ok(n)
    }

    fn tolerance(&self) -> f64 {
        let precision = match self.emitted.program.module().real {
            RealSystem::F64 => f64::EPSILON,
            RealSystem::F32 => f64::from(f32::EPSILON),
            RealSystem::Fixed(bits) => 0.5f64.powi(bits.into()),
        };
        PRECISIONS * precision * self.greatest
    }
}
