//! A batch that is ready, and lanes that come to it block by block: what they share is summed on the way. Reads no file.

use std::sync::Arc;

use reviver_vm::differentiate::check::{Check, check_rows};
use reviver_vm::differentiate::{Origin, SeededCell};

use super::choice::Device;
use super::device::{BlockOutcome, LaneBlock, LanesDone, PreparedLanes};
use super::lane::{give, workspace};
use super::plan::{LanePlan, ResultColumn, ResultSource};
use super::sum::{LaneSum, TooLarge};
use crate::api::error::Error;
use crate::api::gradient::approximate;

/// A batch that is ready to be given lanes.
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

    /// What is asked of each lane.
    pub fn plan(&self) -> &LanePlan {
        &self.plan
    }

    /// What the device is called that carries lanes out.
    pub fn device(&self) -> &str {
        self.lanes.device()
    }

    /// How many loops of the program a device carries out by a switch, as [`PreparedLanes::switched_loops`] has it.
    pub fn switched_loops(&self) -> u32 {
        self.lanes.switched_loops()
    }

    /// Compares the derivatives that a lane came to with dual numbers and with differences of runs near by. `inputs` and
    /// `results` are the lane's numbers, one for each column of the plan.
    ///
    /// # Errors
    /// A trap or the step limit in a run over dual numbers, no memory, somebody stops it.
    pub fn check(&self, inputs: &[u64], results: &[u64]) -> Result<Check, Error> {
        let plan = &*self.plan;
        let mut call = workspace(plan)?;
        give(&mut call, plan, |column| inputs.get(column).copied());
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

    /// Begins with lane 0.
    pub fn begin(&self) -> RunningBatch<'_> {
        let sums = self.plan.summed.iter().map(|_| LaneSum::default()).collect();
        RunningBatch { batch: self, lanes: 0, sums }
    }
}

/// A batch of which some lanes are done.
#[derive(Debug)]
pub struct RunningBatch<'b> {
    batch: &'b PreparedBatch,
    /// How many.
    lanes: u64,
    sums: Vec<LaneSum>,
}

/// A sum over all lanes, by the name of its column: as the bits of the program's reals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumOverLanes {
    pub name: String,
    /// True of a derivative by what all lanes share, false of a value.
    pub is_derivative: bool,
    pub bits: u64,
}

impl RunningBatch<'_> {
    /// Carries out the lanes that follow: a slice for each column of the plan. Unless lanes go on where one has failed, the first of
    /// those is the error.
    ///
    /// # Errors
    /// As [`super::Batch::run`].
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

    /// How many lanes are done.
    pub fn lanes(&self) -> u64 {
        self.lanes
    }

    /// The sums over all lanes until now. One that failed counts as 0.
    ///
    /// # Errors
    /// A sum that is too large for the number system.
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
