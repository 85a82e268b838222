//! Many lanes: one program at very many inputs, forward, back and for its derivatives. A lane is a run like any other, and comes to the
//! bits that it comes to alone; lanes know nothing of each other, so that their order and their number of threads change nothing. What is
//! asked of lanes is in [`plan`], what they are given and come to in [`lanes`], who carries them out in [`device`].

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod choice;
mod cpu;
pub mod device;
pub mod fixed;
mod given;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod gpu_passes;
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
mod sum;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cells::RealCells;
use super::error::Error;
use super::executable::Executable;
use super::loss::LossCell;

use choice::Device;
use lanes::{LaneInputs, LaneResults};
use plan::LaneTask;
use prepared::PreparedBatch;

/// A program, and who carries out its lanes. Calls may be made from several threads at once.
#[derive(Clone, Debug)]
pub struct Batch {
    executable: Executable,
    device: Device,
    options: BatchOptions,
}

/// What holds for each lane of a batch.
#[derive(Clone, Debug)]
pub struct BatchOptions {
    /// The most steps that a lane may make in one direction.
    pub most_steps: u64,
    /// Whether lanes go on where another one has failed. If not, the batch fails with the failing lane that has the least number.
    pub keeps_going: bool,
    /// Whether derivatives come although values that count were lost ([`Error::Doubtful`]); if not, such a lane fails.
    pub allows_doubt: bool,
    /// Set by who wants the batch to stop: lanes look at it every now and then, and it ends with [`Error::Interrupted`].
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for BatchOptions {
    fn default() -> BatchOptions {
        BatchOptions { most_steps: u64::MAX, keeps_going: false, allows_doubt: false, interrupt: None }
    }
}

impl BatchOptions {
    /// Whether somebody wants the batch to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl Batch {
    /// Lanes of a program on a device.
    pub fn new(executable: &Executable, device: Device) -> Batch {
        Batch { executable: executable.clone(), device, options: BatchOptions::default() }
    }

    /// With other options.
    #[must_use]
    pub fn with(self, options: BatchOptions) -> Batch {
        Batch { options, ..self }
    }

    /// Runs each lane from its inputs to its results: a column for each cell that is a result.
    ///
    /// # Errors
    /// A column that is missing, none of the program's, or has a number that doesn't fit; and, unless the others are to go on, the first
    /// lane that failed ([`Error::Lane`]).
    pub fn run(&self, lanes: &LaneInputs) -> Result<LaneResults, Error> {
        self.whole(LaneTask::Run, lanes)
    }

    /// Runs each lane from its results back to its inputs.
    ///
    /// # Errors
    /// As [`Batch::run`].
    pub fn back(&self, lanes: &LaneInputs) -> Result<LaneResults, Error> {
        self.whole(LaneTask::Back, lanes)
    }

    /// Runs each lane from its inputs to its results and back again; a lane that isn't restored has failed.
    ///
    /// # Errors
    /// As [`Batch::run`].
    pub fn round_trip(&self, lanes: &LaneInputs) -> Result<LaneResults, Error> {
        self.whole(LaneTask::RoundTrip, lanes)
    }

    /// The value of a loss in each lane (`y`), and its derivatives by real inputs (`x'`): by some cells, or by all where none are named.
    /// Of an input that all lanes share there is one derivative, the sum of those of the lanes ([`LaneResults::sums`]).
    ///
    /// # Errors
    /// As [`Batch::run`].
    pub fn gradient(
        &self,
        loss: &LossCell,
        by: &[RealCells],
        lanes: &LaneInputs,
    ) -> Result<LaneResults, Error> {
        self.whole(LaneTask::Gradient { loss: loss.clone(), by: by.to_vec() }, lanes)
    }

    /// All derivatives of some reals by real inputs in each lane, with a pass back for each of the former: a column `y/x` for the
    /// derivative of `y` by `x`, beside a column for each value.
    ///
    /// # Errors
    /// As [`Batch::run`].
    pub fn jacobian(
        &self,
        of: &[RealCells],
        by: &[RealCells],
        lanes: &LaneInputs,
    ) -> Result<LaneResults, Error> {
        self.whole(LaneTask::Jacobian { of: of.to_vec(), by: by.to_vec() }, lanes)
    }

    /// Makes everything ready for lanes that come in blocks, from a file, say: `columns` are the cells that each lane has a number of its
    /// own for, and `shared` the lanes' common ones, with their numbers.
    ///
    /// # Errors
    /// What can't be asked, or a cell that can't be given, is missing, or is named twice.
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
        let mut results = LaneResults::new(prepared.plan(), lanes.len())?;
        let bits = lanes.bits(prepared.plan())?;
        let inputs: Vec<&[u64]> = bits.iter().map(|bits| &**bits).collect();
        let mut running = prepared.begin();
        let outcome = running.block(&inputs, lanes.len(), &mut results.columns_mut(), &|_| {})?;
        results.ended(outcome, running.sums()?);
        Ok(results)
    }
}
