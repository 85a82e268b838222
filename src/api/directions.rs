//! Calls for derivatives along a direction: products of a Jacobian and of a Hessian with a vector, and Taylor series. A direction has a
//! component for each cell that it names; all other reals stay where they are. Reads what was given; what a workspace holds besides stays.

use reviver_vm::differentiate::matrices::{self, MAX_ORDER};
use reviver_vm::differentiate::{Subject, Trust, Variable};
use reviver_vm::values::Value;

use super::cells::{RealCells, variables};
use super::error::Error;
use super::gradient::{approximate, certain};
use super::loss::LossCell;
use super::vectors;
use super::workspace::Workspace;

/// Some results, and their derivatives along a direction.
#[derive(Clone, Debug)]
pub struct DirectionalDerivatives {
    /// A number for each cell, in the order in which the cells were named.
    pub values: Vec<f64>,
    /// The Jacobian's product with the direction: a component for each cell.
    pub product: Vec<f64>,
    /// How far they can be trusted.
    pub trust: Trust,
}

/// A value with its gradient, and the derivative of the gradient along a direction.
#[derive(Clone, Debug)]
pub struct HessianProduct {
    /// The loss.
    pub value: f64,
    /// A component for each real that the direction names, in their order.
    pub gradient: Vec<f64>,
    /// The Hessian's product with the direction, in the same order.
    pub product: Vec<f64>,
    /// How far they can be trusted.
    pub trust: Trust,
}

/// Taylor series of some results along a direction v: f(x + t·v) = c₀ + c₁·t + c₂·t² + …
#[derive(Clone, Debug)]
pub struct TaylorSeries {
    /// For each cell, in the order in which the cells were named, its coefficients from order 0 on.
    pub coefficients: Vec<Vec<f64>>,
    /// How far they can be trusted.
    pub trust: Trust,
}

/// A direction, as the program's numbers.
struct CallDirection {
    inputs: Vec<Variable>,
    components: Vec<f64>,
}

impl Workspace {
    /// The Jacobian of some reals times a direction, found by one run over dual numbers: a Jacobian–vector product.
    ///
    /// # Errors
    /// As [`Workspace::gradient`]; and a slice of another length than its cells, a number that the number system hasn't got, a cell that is
    /// named twice.
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
        certain(shared, &found.trust)?;
        let values = found.values.iter().map(|&bits| approximate(&shared.program, bits)).collect();
        Ok(DirectionalDerivatives { values, product: found.product, trust: found.trust })
    }

    /// The Hessian of a loss times a direction, found by one gradient pass over dual numbers. The Hessian is that by the reals which the
    /// direction names.
    ///
    /// # Errors
    /// As [`Workspace::jacobian_times`].
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
        certain(shared, &found.trust)?;
        let value = loss.sum(&found.values);
        let product = found.products.into_iter().next().unwrap_or_default();
        Ok(HessianProduct { value, gradient: found.gradient, product, trust: found.trust })
    }

    /// The Taylor series of some reals along a direction up to an order, at most 16, found by one run over truncated series.
    ///
    /// # Errors
    /// As [`Workspace::jacobian_times`]; and an order that is 0 or greater than 16.
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
        certain(shared, &found.trust)?;
        Ok(TaylorSeries { coefficients: found.coefficients, trust: found.trust })
    }

    /// The program at the start that was given, and a direction from there.
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
