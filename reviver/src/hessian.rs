//! Calls for second derivatives. A Hessian takes one gradient over dual numbers for each input.

use reviver_vm::differentiate::VerificationReport;
use reviver_vm::differentiate::matrices;

use super::cells::{RealCells, check_distinct, variables};
use super::error::Error;
use super::gradient::certain;
use super::loss::{LossCell, inputs};
use super::workspace::Workspace;

/// Value of a loss with its first and second derivatives. Inputs are in the order in which the caller named them.
#[derive(Clone, Debug)]
pub struct SecondDerivatives {
    /// Value of the loss.
    pub value: f64,
    /// Gradient component for each input.
    pub gradient: Vec<f64>,
    /// Hessian: a row for each input, with a column for each input.
    pub rows: Vec<Vec<f64>>,
    /// Verification report of the derivatives.
    pub verification_report: VerificationReport,
}

impl Workspace {
    /// Computes the second derivatives of a loss by some reals. If `by` is empty, computes them by all real inputs, in
    /// the order of their declarations. Reads the workspace's inputs and changes nothing else in it.
    ///
    /// # Errors
    /// The errors of [`Workspace::gradient`], or a real that `by` has twice.
    pub fn hessian(&self, loss: &LossCell, by: &[RealCells]) -> Result<SecondDerivatives, Error> {
        let shared = &self.executable.shared;
        let is_own = |cells: &RealCells| cells.0.executable == shared.id;
        if loss.shared.of.id != shared.id || !by.iter().all(is_own) {
            return Err(Error::Foreign);
        }
        check_distinct(&shared.program, by)?;
        self.inputs.complete(&shared.program)?;
        let variables: Vec<_> = match by {
            [] => variables(&inputs(&shared.program, shared.id, &shared.begin)?).collect(),
            by => variables(by).collect(),
        };
        let failed = |error| Error::of_derivative(&shared.name, error);
        let subject = self.subject().map_err(failed)?;
        let found = matrices::hessian(&subject, &loss.seeds, &variables).map_err(failed)?;
        certain(shared, &found.verification_report)?;
        let value = loss.sum(&found.values);
        Ok(SecondDerivatives {
            value,
            gradient: found.gradient,
            rows: found.products,
            verification_report: found.verification_report,
        })
    }
}
