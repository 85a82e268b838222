//! Calls for second derivatives: gradient passes over dual numbers, which are the interpreter's, one for each input.

use reviver_vm::differentiate::Trust;
use reviver_vm::differentiate::matrices;

use super::cells::{RealCells, variables};
use super::error::Error;
use super::gradient::certain;
use super::loss::{LossCell, inputs};
use super::workspace::Workspace;

/// A value with its first and second derivatives, by inputs in the order in which they were named.
#[derive(Clone, Debug)]
pub struct SecondDerivatives {
    /// The loss.
    pub value: f64,
    /// A component for each input.
    pub gradient: Vec<f64>,
    /// A row for each input, with a column for each input.
    pub rows: Vec<Vec<f64>>,
    /// How far they can be trusted.
    pub trust: Trust,
}

impl Workspace {
    /// The second derivatives of a loss by some reals; by all real inputs, in the order of their declarations, where none are named.
    /// Reads what was given; what the workspace holds besides stays.
    ///
    /// # Errors
    /// As [`Workspace::gradient`].
    pub fn hessian(&self, loss: &LossCell, by: &[RealCells]) -> Result<SecondDerivatives, Error> {
        let shared = &self.executable.shared;
        let is_own = |cells: &RealCells| cells.0.executable == shared.id;
        if loss.shared.of.id != shared.id || !by.iter().all(is_own) {
            return Err(Error::Foreign);
        }
        self.inputs.complete(&shared.program)?;
        let variables: Vec<_> = match by {
            [] => variables(&inputs(&shared.program, shared.id, &shared.begin)?).collect(),
            by => variables(by).collect(),
        };
        let failed = |error| Error::of_derivative(&shared.name, error);
        let subject = self.subject().map_err(failed)?;
        let found = matrices::hessian(&subject, &loss.seeds, &variables).map_err(failed)?;
        certain(shared, &found.trust)?;
        let value = loss.sum(&found.values);
        Ok(SecondDerivatives { value, gradient: found.gradient, rows: found.products, trust: found.trust })
    }
}
