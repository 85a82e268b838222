//! Gradients of several losses in one call. Losses with the same turning point share a forward sweep.

use super::cells::{RealCells, check_distinct};
use super::error::Error;
use super::executable::Executable;
use super::gradient::{approximate, certain};
use super::loss::LossCell;
use super::vectors;
use super::workspace::Workspace;

/// Values of some losses, and their gradients.
#[derive(Clone, Debug, Default)]
pub struct Gradients {
    /// Value of each loss.
    pub values: Vec<f64>,
    /// Gradient of each loss: a component for each real, in the order in which the reals were named. If the losses are
    /// cells, these are the rows of a Jacobian.
    pub rows: Vec<Vec<f64>>,
}

impl Executable {
    /// Returns each of some reals as a loss.
    ///
    /// # Errors
    /// The errors of [`Executable::loss`].
    pub fn losses(&self, of: &[RealCells]) -> Result<Vec<LossCell>, Error> {
        let shared = &self.shared;
        let ones: Vec<Vec<f64>> = of.iter().map(|cells| vec![1.0; cells.len()]).collect();
        let parts: Vec<(RealCells, &[f64])> =
            of.iter().copied().zip(ones.iter().map(|ones| &ones[..])).collect();
        let cells = vectors::components(&shared.program, shared.id, &parts)?;
        cells.into_iter().map(|cell| LossCell::new(shared, vec![cell])).collect()
    }
}

impl Workspace {
    /// Computes the values of some losses, and their gradients by some reals of the initial state.
    ///
    /// # Errors
    /// The errors of [`Workspace::gradient`], or a real that `by` has twice.
    pub fn gradients(&mut self, losses: &[LossCell], by: &[RealCells]) -> Result<Gradients, Error> {
        let shared = self.executable.shared.clone();
        if by.iter().any(|cells| cells.0.executable != shared.id) {
            return Err(Error::Foreign);
        }
        check_distinct(&shared.program, by)?;
        let mut found = Gradients::default();
        let each = |loss: usize, values: &[u64], adjoints: &[u64]| {
            found.values.push(losses.get(loss).map_or(0.0, |loss| loss.sum(values)));
            let own = by.iter().flat_map(|cells| adjoints.get(cells.0.range()).unwrap_or_default());
            found.rows.push(own.map(|&bits| approximate(&shared.program, bits)).collect());
        };
        self.gradients_bits(losses, each, |report| certain(&shared, report))?;
        Ok(found)
    }
}
