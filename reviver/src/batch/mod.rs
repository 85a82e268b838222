//! Batches: one program at very many inputs, forward, backward and for derivatives. A lane is one call, and its results
//! are bit-identical to those of a single call. Lanes are independent, so neither their order nor the number of threads
//! changes results. [`plan`] describes the computation of each lane, [`lanes`] the inputs and results, and [`device`]
//! the interface of devices.

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod choice;
mod cpu;
pub mod device;
mod dual_lane;
pub mod fixed;
mod given;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod gpu_pass;
#[cfg(feature = "gpu")]
mod gpu_passes;
#[cfg(feature = "gpu")]
mod gpu_series;
mod group;
pub mod grouping;
mod lane;
pub mod lanes;
pub mod listing;
pub mod no_device;
mod order;
pub mod plan;
pub mod prepared;
pub mod probes;
pub mod sum;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cells::RealCells;
use super::error::Error;
use super::executable::Executable;
use super::loss::LossCell;

use choice::Device;
use lanes::{LaneInputs, LaneResults};
use plan::{LaneDirection, LaneTask};
use prepared::PreparedBatch;

/// A program and the device that executes its lanes. Several threads may call a batch at once.
#[derive(Clone, Debug)]
pub struct Batch {
    executable: Executable,
    device: Device,
    options: BatchOptions,
}

/// Options that apply to every lane of a batch.
#[derive(Clone, Debug)]
pub struct BatchOptions {
    /// Maximum number of steps of a lane in each direction.
    pub most_steps: u64,
    /// True to continue after a lane has failed. If false, the batch ends with the error of the first failed lane.
    pub keeps_going: bool,
    /// True to return derivatives of a lane although relevant values were lost. If false, such a lane fails with
    /// [`Error::Doubtful`].
    pub allows_doubt: bool,
    /// Flag that stops the batch when set. Lanes poll it regularly, and the batch ends with [`Error::Interrupted`].
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for BatchOptions {
    fn default() -> BatchOptions {
        BatchOptions { most_steps: u64::MAX, keeps_going: false, allows_doubt: false, interrupt: None }
    }
}

impl BatchOptions {
    /// Returns true if the interrupt flag is set.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl Batch {
    /// Creates a batch that runs a program on a device.
    pub fn new(executable: &Executable, device: Device) -> Batch {
        Batch { executable: executable.clone(), device, options: BatchOptions::default() }
    }

    /// Returns the batch with other options.
    #[must_use]
    pub fn with(self, options: BatchOptions) -> Batch {
        Batch { options, ..self }
    }

    /// Runs each lane from its inputs to its results. The results have a column for each result cell.
    ///
    /// # Errors
    /// A column that is missing, unknown to the program, or has a number that doesn't fit. Unless lanes continue
    /// after a failure, also the first failed lane ([`Error::Lane`]).
    pub fn run(&self, lanes: &LaneInputs) -> Result<LaneResults, Error> {
        self.whole(LaneTask::Run, lanes)
    }

    /// Runs each lane backward from its results to its inputs.
    ///
    /// # Errors
    /// The errors of [`Batch::run`].
    pub fn back(&self, lanes: &LaneInputs) -> Result<LaneResults, Error> {
        self.whole(LaneTask::Back, lanes)
    }

    /// Runs each lane from its inputs to its results and back again. A lane fails if its start isn't restored.
    ///
    /// # Errors
    /// The errors of [`Batch::run`].
    pub fn round_trip(&self, lanes: &LaneInputs) -> Result<LaneResults, Error> {
        self.whole(LaneTask::RoundTrip, lanes)
    }

    /// Computes, in each lane, a loss (`y`) and its derivatives (`x'`) with respect to the cells `by`. If `by` is
    /// empty, differentiates with respect to all real inputs. A shared input has one derivative, the sum over all lanes
    /// ([`LaneResults::sums`]).
    ///
    /// # Errors
    /// The errors of [`Batch::run`].
    pub fn gradient(
        &self,
        loss: &LossCell,
        by: &[RealCells],
        lanes: &LaneInputs,
    ) -> Result<LaneResults, Error> {
        self.whole(LaneTask::Gradient { loss: loss.clone(), by: by.to_vec() }, lanes)
    }

    /// Computes all derivatives of some reals by real inputs in each lane, with a reverse sweep for each output.
    /// Column `y/x` has the derivative of `y` by `x`, and column `y` the value of `y`.
    ///
    /// # Errors
    /// The errors of [`Batch::run`].
    pub fn jacobian(
        &self,
        of: &[RealCells],
        by: &[RealCells],
        lanes: &LaneInputs,
    ) -> Result<LaneResults, Error> {
        self.whole(LaneTask::Jacobian { of: of.to_vec(), by: by.to_vec() }, lanes)
    }

    /// Computes, in each lane, a loss (`y`) with its first derivatives (`x'`) and second derivatives (`x'/z`) with
    /// respect to the cells `by`. If `by` is empty, differentiates with respect to all real inputs.
    ///
    /// # Errors
    /// The errors of [`Batch::run`].
    pub fn hessian(
        &self,
        loss: &LossCell,
        by: &[RealCells],
        lanes: &LaneInputs,
    ) -> Result<LaneResults, Error> {
        self.whole(LaneTask::Hessian { loss: loss.clone(), by: by.to_vec() }, lanes)
    }

    /// Computes, in each lane, the product of a loss's Hessian with a direction. The Hessian's rows and columns are the
    /// reals of the direction. The column `y` has the loss, the column `x'` its derivative by `x`, and the column
    /// `x'/times` the product's component for `x`.
    ///
    /// # Errors
    /// The errors of [`Batch::run`].
    pub fn hessian_times(
        &self,
        loss: &LossCell,
        along: &LaneDirection,
        lanes: &LaneInputs,
    ) -> Result<LaneResults, Error> {
        self.whole(LaneTask::HessianProduct { loss: loss.clone(), along: along.clone() }, lanes)
    }

    /// Computes, in each lane, the product of the Jacobian of some reals with a direction. The column `y` has the value
    /// of `y`, and the column `y/times` the product's component for `y`.
    ///
    /// # Errors
    /// The errors of [`Batch::run`].
    pub fn jacobian_times(
        &self,
        of: &[RealCells],
        along: &LaneDirection,
        lanes: &LaneInputs,
    ) -> Result<LaneResults, Error> {
        self.whole(LaneTask::JacobianProduct { of: of.to_vec(), along: along.clone() }, lanes)
    }

    /// Prepares a task for lanes that arrive in blocks, for example from a file. `columns` are the cells with a number
    /// in each lane; `shared` has the cells that all lanes share, with their numbers.
    ///
    /// # Errors
    /// A task that isn't possible; a cell that isn't an input, is missing, or is named twice.
    pub fn prepare(
        &self,
        task: LaneTask,
        columns: &[&str],
        shared: &LaneInputs,
    ) -> Result<PreparedBatch, Error> {
        let shared = shared.shared_bits(&self.executable, task.travel())?;
        let plan = plan::LanePlan::new(&self.executable, task, columns, shared, self.options.clone())?;
        PreparedBatch::new(Arc::new(plan), &self.device)
    }

    fn whole(&self, task: LaneTask, lanes: &LaneInputs) -> Result<LaneResults, Error> {
        let columns: Vec<&str> = lanes.columns().collect();
        let prepared = self.prepare(task, &columns, lanes)?;
        prepared.begin().lanes_of(lanes)
    }
}
