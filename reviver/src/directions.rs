//! Directional derivatives: Jacobian–vector and Hessian–vector products, and Taylor series. A direction has a
//! component for each cell that it names; all other reals stay constant. These calls read the workspace's inputs and
//! change nothing else in it.

use reviver_vm::differentiate::matrices::{self, MAX_ORDER};
use reviver_vm::differentiate::{Subject, Variable, VerificationReport};
use reviver_vm::values::Value;

use super::cells::{RealCells, variables};
use super::error::Error;
use super::gradient::{approximate, certain};
use super::loss::LossCell;
use super::vectors;
use super::workspace::Workspace;

/// Values of some results, and their derivatives along a direction.
#[derive(Clone, Debug)]
pub struct DirectionalDerivatives {
    /// Value of each cell, in the order in which the cells were named.
    pub values: Vec<f64>,
    /// Product of the Jacobian with the direction: a component for each cell.
    pub product: Vec<f64>,
    /// Verification report of the derivatives.
    pub verification_report: VerificationReport,
}

/// Value and gradient of a loss, and the derivative of the gradient along a direction.
#[derive(Clone, Debug)]
pub struct HessianProduct {
    /// Value of the loss.
    pub value: f64,
    /// Gradient: a component for each real of the direction, in the direction's order.
    pub gradient: Vec<f64>,
    /// Product of the Hessian with the direction: a component for each real of the direction, in the same order.
    pub product: Vec<f64>,
    /// Verification report of the derivatives.
    pub verification_report: VerificationReport,
}

/// Taylor series of some results along a direction v: f(x + t·v) = c₀ + c₁·t + c₂·t² + …
#[derive(Clone, Debug)]
pub struct TaylorSeries {
    /// Coefficients of each cell from order 0 on, in the order in which the cells were named.
    pub coefficients: Vec<Vec<f64>>,
    /// Verification report of the derivatives.
    pub verification_report: VerificationReport,
}

/// Direction of a derivative: some inputs, each with a component that is rounded to the program's number system.
struct CallDirection {
    inputs: Vec<Variable>,
    components: Vec<f64>,
}

impl Workspace {
    /// Computes a Jacobian–vector product by one run over dual numbers.
    ///
    /// # Errors
    /// The errors of [`Workspace::gradient`]; a slice with another length than its cells, a number that the number
    /// system can't represent, or a cell named twice.
    pub fn jacobian_times(
        &self,
        of: &[RealCells],
        direction: &[(RealCells, &[f64])],
    ) -> Result<DirectionalDerivatives, Error> {
        let shared = &self.executable.shared;
        let (subject, CallDirection { inputs, components }) = self.along(direction)?;
        let outputs = self.own_variables(of)?;
        let found = matrices::jacobian_product(&subject, &outputs, &inputs, &components)
            .map_err(|error| Error::of_derivative(&shared.name, error))?;
        certain(shared, &found.verification_report)?;
        let values = found.values.iter().map(|&bits| approximate(&shared.program, bits)).collect();
        Ok(DirectionalDerivatives {
            values,
            product: found.product,
            verification_report: found.verification_report,
        })
    }

    /// Computes a Hessian–vector product by one gradient over dual numbers. The Hessian's rows and columns
    /// are the reals that the direction names.
    ///
    /// # Errors
    /// The errors of [`Workspace::jacobian_times`].
    pub fn hessian_times(
        &self,
        loss: &LossCell,
        direction: &[(RealCells, &[f64])],
    ) -> Result<HessianProduct, Error> {
        let shared = &self.executable.shared;
        let (subject, CallDirection { inputs, components }) = self.along(direction)?;
        if loss.shared.of.id != shared.id {
            return Err(Error::Foreign);
        }
        let found = matrices::hessian_products(&subject, &loss.seeds, &inputs, &[components])
            .map_err(|error| Error::of_derivative(&shared.name, error))?;
        certain(shared, &found.verification_report)?;
        let value = loss.sum(&found.values);
        let product = found.products.into_iter().next().unwrap_or_default();
        Ok(HessianProduct {
            value,
            gradient: found.gradient,
            product,
            verification_report: found.verification_report,
        })
    }

    /// Computes Taylor series of some reals along a direction, by one run over truncated series. `order` is the highest
    /// order of the coefficients, at most 16.
    ///
    /// # Errors
    /// The errors of [`Workspace::jacobian_times`]; an order that is 0 or greater than 16.
    pub fn taylor(
        &self,
        of: &[RealCells],
        direction: &[(RealCells, &[f64])],
        order: usize,
    ) -> Result<TaylorSeries, Error> {
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(Error::Order { order, most: MAX_ORDER });
        }
        let shared = &self.executable.shared;
        let (subject, CallDirection { inputs, components }) = self.along(direction)?;
        let outputs = self.own_variables(of)?;
        let found = matrices::taylor(&subject, &outputs, &inputs, &components, order)
            .map_err(|error| Error::of_derivative(&shared.name, error))?;
        certain(shared, &found.verification_report)?;
        Ok(TaylorSeries { coefficients: found.coefficients, verification_report: found.verification_report })
    }

    /// Returns the subject of differentiation at the current inputs, with the direction in the program's number
    /// system.
    fn along(&self, direction: &[(RealCells, &[f64])]) -> Result<(Subject, CallDirection), Error> {
        let shared = &self.executable.shared;
        let program = &shared.program;
        let parts = vectors::components(program, shared.id, direction)?;
        self.inputs.complete(program)?;
        let subject = self.subject().map_err(|error| Error::of_derivative(&shared.name, error))?;
        let number = |(_, bits): &(Variable, u64)| program.approximate(Value::Real(*bits));
        let components = parts.iter().map(number).collect();
        let inputs = parts.into_iter().map(|(variable, _)| variable).collect();
        Ok((subject, CallDirection { inputs, components }))
    }

    fn own_variables(&self, cells: &[RealCells]) -> Result<Vec<Variable>, Error> {
        match cells.iter().all(|cells| cells.0.executable == self.executable.shared.id) {
            true => Ok(variables(cells).collect()),
            false => Err(Error::Foreign),
        }
    }
}
