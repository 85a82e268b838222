//! Prepared batches, which execute lanes block by block and sum over all lanes. This module reads no files.

use std::sync::Arc;

use reviver_vm::differentiate::check::{Check, check_rows};
use reviver_vm::differentiate::{Origin, SeededCell};

use super::choice::Device;
use super::device::{BlockOutcome, LaneBlock, LanesDone, PreparedLanes};
use super::dual_lane;
use super::lane::{give, workspace};
use super::lanes::{LaneInputs, LaneResults};
use super::plan::{LanePlan, ResultColumn, ResultSource};
use super::sum::{LaneSum, SumOverLanes, TooLarge};
use crate::error::Error;
use crate::gradient::approximate;

/// Batch that is compiled for a task and ready for lanes.
#[derive(Debug)]
pub struct PreparedBatch {
    plan: Arc<LanePlan>,
    lanes: Box<dyn PreparedLanes>,
}

impl PreparedBatch {
    pub(super) fn new(plan: Arc<LanePlan>, device: &Device) -> Result<PreparedBatch, Error> {
        let lanes = device.0.prepare(&plan)?;
        Ok(PreparedBatch { plan, lanes })
    }

    /// Returns the plan, which describes the computation of each lane.
    pub fn plan(&self) -> &LanePlan {
        &self.plan
    }

    /// Returns the name of the device that executes the lanes.
    pub fn device(&self) -> &str {
        self.lanes.device()
    }

    /// Returns the number of loops that the device executes by a dispatch switch, see
    /// [`PreparedLanes::switched_loops`].
    pub fn switched_loops(&self) -> u32 {
        self.lanes.switched_loops()
    }

    /// Verifies the derivatives of a lane by dual numbers and by finite differences. `inputs` and `results` have one
    /// number of the lane for each column of the plan.
    pub fn check(&self, inputs: &[u64], results: &[u64]) -> Result<Check, Error> {
        let plan = &*self.plan;
        let mut call = workspace(plan)?;
        give(&mut call, plan, |column| inputs.get(column).copied());
        if plan.task.is_dual() {
            return dual_lane::check(&call, plan, results);
        }
        let shared = &plan.executable.shared;
        let failed = |error| Error::of_derivative(&shared.name, error);
        let subject = call.subject().map_err(failed)?;
        let mut origins = Vec::new();
        let mut rows = vec![Vec::new(); plan.losses.len()];
        for (column, &bits) in plan.results.iter().zip(results) {
            let ResultSource::Adjoint { loss, cell } = column.source else { continue };
            if loss == 0 {
                origins.push(Origin::Cell(cell));
            }
            rows.get_mut(loss)
                .into_iter()
                .for_each(|row: &mut Vec<f64>| row.push(approximate(&shared.program, bits)));
        }
        let losses: Vec<Vec<SeededCell>> = plan.losses.iter().map(|loss| loss.seeds.to_vec()).collect();
        check_rows(&subject, &losses, &origins, &rows).map_err(failed)
    }

    /// Starts the batch at lane 0.
    pub fn begin(&self) -> RunningBatch<'_> {
        let sums = self.plan.summed.iter().map(|_| LaneSum::default()).collect();
        RunningBatch { batch: self, lanes: 0, sums }
    }
}

/// Batch in progress: some of its lanes are done.
#[derive(Debug)]
pub struct RunningBatch<'b> {
    batch: &'b PreparedBatch,
    /// Number of completed lanes.
    lanes: u64,
    sums: Vec<LaneSum>,
}

impl RunningBatch<'_> {
    /// Executes the next lanes of the batch. `inputs` and `results` have a slice for each column of the plan. Unless
    /// lanes continue after failures, the first failed lane is returned as the error.
    pub fn block(
        &mut self,
        inputs: &[&[u64]],
        lanes: usize,
        results: &mut [&mut [u64]],
        progress: &LanesDone<'_>,
    ) -> Result<BlockOutcome, Error> {
        let plan = &*self.batch.plan;
        check_lengths(plan, inputs, lanes, results)?;
        let block = LaneBlock { first: self.lanes, lanes, inputs, results: &mut *results };
        let mut outcome = self.batch.lanes.carry_out(block, progress)?;
        if !plan.options.keeps_going && !outcome.failures.is_empty() {
            let failure = outcome.failures.swap_remove(0);
            return Err(Error::Lane { lane: failure.lane, error: Box::new(failure.error) });
        }
        let system = plan.executable.program().module().real;
        for (&column, sum) in plan.summed.iter().zip(&mut self.sums) {
            let own = results.get(column).map_or(&[][..], |column| &**column);
            sum.add(system, own).map_err(|TooLarge| too_large(plan, column))?;
        }
        self.lanes += lanes as u64;
        Ok(outcome)
    }

    /// Executes the next lanes of the batch. `inputs` has the columns of the plan, in the plan's order; values that all
    /// lanes share are ignored. The sums of the results are those over all completed lanes of the batch.
    ///
    /// # Errors
    /// The errors of [`Batch::run`](super::Batch::run).
    pub fn lanes_of(&mut self, inputs: &LaneInputs<'_>) -> Result<LaneResults, Error> {
        let plan = &*self.batch.plan;
        let bits = inputs.bits(plan)?;
        let mut results = LaneResults::new(plan, self.lanes, inputs.len())?;
        let columns: Vec<&[u64]> = bits.iter().map(|bits| &**bits).collect();
        let outcome = self.block(&columns, inputs.len(), &mut results.columns_mut(), &|_| {})?;
        results.ended(outcome, self.sums()?);
        Ok(results)
    }

    /// Returns the number of completed lanes.
    pub fn lanes(&self) -> u64 {
        self.lanes
    }

    /// Returns the sums over all completed lanes. A failed lane counts as 0.
    ///
    /// # Errors
    /// An error if a sum is too large for the number system.
    pub fn sums(&self) -> Result<Vec<SumOverLanes>, Error> {
        let plan = &*self.batch.plan;
        let system = plan.executable.program().module().real;
        let total = |(&column, sum): (&usize, &LaneSum)| {
            let bits = sum.total(system).map_err(|TooLarge| too_large(plan, column))?;
            let is_derivative = plan.results.get(column).is_some_and(ResultColumn::is_derivative);
            Ok(SumOverLanes { name: name(plan, column), is_derivative, bits })
        };
        plan.summed.iter().zip(&self.sums).map(total).collect()
    }
}

fn name(plan: &LanePlan, column: usize) -> String {
    plan.results.get(column).map_or(String::new(), |column| column.name.clone())
}

fn too_large(plan: &LanePlan, column: usize) -> Error {
    Error::SumTooLarge { name: name(plan, column), system: plan.executable.program().module().real }
}

fn check_lengths(
    plan: &LanePlan,
    inputs: &[&[u64]],
    lanes: usize,
    results: &[&mut [u64]],
) -> Result<(), Error> {
    let is_right = inputs.len() == plan.inputs.len()
        && results.len() == plan.results.len()
        && inputs.iter().all(|column| column.len() == lanes)
        && results.iter().all(|column| column.len() == lanes);
    if is_right {
        Ok(())
    } else {
        Err(Error::Columns { inputs: plan.inputs.len(), results: plan.results.len(), lanes })
    }
}
