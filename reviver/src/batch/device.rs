//! Interface between a batch and the devices that execute its lanes. This module reads no files, and depends on no
//! particular program.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use reviver_vm::allocation::{self, OutOfMemory};

use super::plan::LanePlan;
use crate::error::Error;

/// Device that executes lanes: the CPU, or a GPU.
pub trait LaneDevice: Debug + Send + Sync {
    /// Returns the name by which users choose the device and messages refer to it.
    fn name(&self) -> &str;

    /// Prepares the computation that a plan requests of each lane.
    ///
    /// # Errors
    /// An error if the device can't execute the plan, or fails.
    fn prepare(&self, plan: &Arc<LanePlan>) -> Result<Box<dyn PreparedLanes>, Error>;
}

/// Plan that a device has prepared. Several threads may execute it at once.
pub trait PreparedLanes: Debug + Send + Sync {
    /// Returns the name of the device that executes the lanes.
    fn device(&self) -> &str;

    /// Returns the number of irreducible loops. The device executes such a loop by a dispatch switch instead of a
    /// structured loop. On the CPU, the number is 0.
    fn switched_loops(&self) -> u32 {
        0
    }

    /// Executes the lanes of a block, and fills its result columns. The outcome lists the failed lanes; their results
    /// are 0.
    fn carry_out(&self, block: LaneBlock<'_, '_>, progress: &LanesDone<'_>) -> Result<BlockOutcome, Error>;
}

/// Block of consecutive lanes. `inputs` and `results` have a slice for each column of the plan. A slice has one number
/// for each lane, as the bits that a state stores.
#[derive(Debug)]
pub struct LaneBlock<'b, 'r> {
    /// Number of the first lane.
    pub first: u64,
    /// Number of lanes in the block.
    pub lanes: usize,
    /// Input columns, in the order of the plan.
    pub inputs: &'b [&'b [u64]],
    /// Result columns, in the order of the plan.
    pub results: &'b mut [&'r mut [u64]],
}

/// Outcome of a block of lanes, without the results of the lanes.
#[derive(Debug, Default)]
pub struct BlockOutcome {
    /// Failed lanes, by their numbers.
    pub failures: Vec<LaneFailure>,
    /// Lanes with unverified derivatives, and the reason for the first such lane.
    pub doubtful: NotedLanes,
    /// Lanes whose reverse sweep was recomputed with a history.
    pub recomputed: NotedLanes,
    /// Lanes that ended with leftovers: cells, tapes or stacks that should be empty and aren't.
    pub leftovers: NotedLanes,
    /// Number of lanes that the CPU executed, because the device didn't complete them.
    pub by_processor: u64,
    /// Number of lanes differentiated in SIMD groups.
    pub in_groups: u64,
    /// Time spent compiling code that no earlier lanes needed.
    pub compile: Duration,
    /// Time spent sending data to a device. Sending may overlap with work on other lanes.
    pub upload: Duration,
    /// Time spent fetching results from a device.
    pub download: Duration,
    /// Time that a device worked on lanes, by the device's clock. `None` if it has no clock.
    pub worked: Option<Duration>,
}

impl BlockOutcome {
    /// Adds the outcome of other lanes in the same batch.
    pub fn add(&mut self, other: BlockOutcome) {
        self.failures.extend(other.failures);
        self.doubtful.add(other.doubtful);
        self.recomputed.add(other.recomputed);
        self.leftovers.add(other.leftovers);
        self.by_processor += other.by_processor;
        self.in_groups += other.in_groups;
        self.compile += other.compile;
        self.upload += other.upload;
        self.download += other.download;
        self.add_work(other.worked);
    }

    /// Adds the device time of another outcome; the sum is `None` if neither has a time.
    pub(super) fn add_work(&mut self, other: Option<Duration>) {
        if let Some(other) = other {
            *self.worked.get_or_insert_default() += other;
        }
    }

    /// Replaces each lane number `n` in the outcome by `numbers(n)`. Callers use it if the block contained only some
    /// lanes of a larger block.
    #[cfg(feature = "gpu")]
    pub(super) fn renumbered(mut self, numbers: impl Fn(u64) -> u64) -> BlockOutcome {
        self.failures.iter_mut().for_each(|failure| failure.lane = numbers(failure.lane));
        for noted in [&mut self.doubtful, &mut self.recomputed, &mut self.leftovers] {
            noted.first.iter_mut().for_each(|(lane, _)| *lane = numbers(*lane));
        }
        self
    }
}

/// Lane that failed and has no results.
#[derive(Debug)]
pub struct LaneFailure {
    /// Number of the lane in its batch.
    pub lane: u64,
    /// Reason for the failure.
    pub error: Error,
}

impl LaneFailure {
    /// Returns the status of the failure in result tables: 4 for a trap, 5 for the step limit, 1 for any other failure.
    /// The status equals the exit code of the `reviver` command for a run of this lane alone.
    pub fn status(&self) -> u8 {
        match self.error {
            Error::Trap { .. } => 4,
            Error::StepLimit { .. } => 5,
            _ => 1,
        }
    }
}

/// Lanes with the same remark, such as unverified derivatives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotedLanes {
    /// Number of lanes with the remark.
    pub count: u64,
    /// The first such lane, and the text of its remark.
    pub first: Option<(u64, String)>,
}

impl NotedLanes {
    pub(super) fn note(&mut self, lane: u64, say: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.as_ref().is_none_or(|(first, _)| lane < *first) {
            self.first = Some((lane, say()));
        }
    }

    fn add(&mut self, other: NotedLanes) {
        self.count += other.count;
        let lane = |noted: &Option<(u64, String)>| noted.as_ref().map_or(u64::MAX, |(lane, _)| *lane);
        if lane(&other.first) < lane(&self.first) {
            self.first = other.first;
        }
    }
}

/// Allocates columns of zeros, each with one number for each lane.
///
/// # Errors
/// [`OutOfMemory`] if there is no memory for the columns.
pub fn zeros(columns: usize, lanes: usize) -> Result<Vec<Vec<u64>>, OutOfMemory> {
    (0..columns).map(|_| allocation::zeros(lanes)).collect()
}

/// Progress callback. Its argument is the number of lanes that a thread has just completed.
pub type LanesDone<'p> = dyn Fn(u64) + Sync + 'p;
