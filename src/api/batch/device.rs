//! Who carries out lanes: the few things that a batch asks of a device. Knows no file and no program by name.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use reviver_vm::room::{self, OutOfMemory};

use super::plan::LanePlan;
use crate::api::error::Error;

/// Something that carries out lanes: the cores of this machine, or a device beside them.
pub trait LaneDevice: Debug + Send + Sync {
    /// What it is called where somebody chooses it, or is told of it.
    fn name(&self) -> &str;

    /// Makes ready what a plan asks of each lane.
    ///
    /// # Errors
    /// The device can't do that, or fails.
    fn prepare(&self, plan: &Arc<LanePlan>) -> Result<Box<dyn PreparedLanes>, Error>;
}

/// A plan that a device is ready to carry out, from several threads at once.
pub trait PreparedLanes: Debug + Send + Sync {
    /// What the device is called that carries them out.
    fn device(&self) -> &str;

    /// How many loops of the program are entered in several places, so that a device carries them out by a switch between these, and not as
    /// loops of its own. The cores need none.
    fn switched_loops(&self) -> u32 {
        0
    }

    /// Carries out the lanes of a block, and fills its columns. A lane that fails is in the outcome, and its results are 0.
    ///
    /// # Errors
    /// What keeps the block from being carried out: somebody stops it, there is no memory, the device is lost. What the columns hold
    /// then is nothing.
    fn carry_out(&self, block: LaneBlock<'_, '_>, progress: &LanesDone<'_>) -> Result<BlockOutcome, Error>;
}

/// Lanes that follow each other, and their numbers: a slice for each column of the plan, with a number for each lane, as the bits that a
/// state has in the cell.
#[derive(Debug)]
pub struct LaneBlock<'b, 'r> {
    /// The number of the first lane.
    pub first: u64,
    pub lanes: usize,
    pub inputs: &'b [&'b [u64]],
    pub results: &'b mut [&'r mut [u64]],
}

/// What became of the lanes of a block, apart from what they came to.
#[derive(Debug, Default)]
pub struct BlockOutcome {
    /// Lanes that failed, by their numbers.
    pub failures: Vec<LaneFailure>,
    /// Lanes whose derivatives may be wrong, and why the first one's may.
    pub doubtful: NotedLanes,
    /// Lanes whose way back was made again with a history.
    pub mended: NotedLanes,
    /// Lanes that have left something behind that should have been used up.
    pub leftovers: NotedLanes,
    /// How many lanes the processor has carried out because the device couldn't tell what becomes of them.
    pub by_processor: u64,
    /// Number of lanes whose derivatives were found in SIMD groups.
    pub in_groups: u64,
    /// What it took to make code that nobody needed before these lanes.
    pub compile: Duration,
    /// What it took to send words to a device, and to fetch results from it. It may have worked on other lanes meanwhile.
    pub upload: Duration,
    pub download: Duration,
    /// How long a device has worked on lanes, by its own clock. None where it has none.
    pub worked: Option<Duration>,
}

impl BlockOutcome {
    /// Adds what became of the lanes of other numbers.
    pub fn add(&mut self, other: BlockOutcome) {
        self.failures.extend(other.failures);
        self.doubtful.add(other.doubtful);
        self.mended.add(other.mended);
        self.leftovers.add(other.leftovers);
        self.by_processor += other.by_processor;
        self.in_groups += other.in_groups;
        self.compile += other.compile;
        self.upload += other.upload;
        self.download += other.download;
        self.add_work(other.worked);
    }

    /// Adds what a device has worked besides.
    pub(super) fn add_work(&mut self, other: Option<Duration>) {
        if let Some(other) = other {
            *self.worked.get_or_insert_default() += other;
        }
    }

    /// The same of lanes whose numbers in the outcome are places in a list: the numbers that stand there.
    #[cfg(feature = "gpu")]
    pub(super) fn renumbered(mut self, numbers: impl Fn(u64) -> u64) -> BlockOutcome {
        self.failures.iter_mut().for_each(|failure| failure.lane = numbers(failure.lane));
        for noted in [&mut self.doubtful, &mut self.mended, &mut self.leftovers] {
            noted.first.iter_mut().for_each(|(lane, _)| *lane = numbers(*lane));
        }
        self
    }
}

/// A lane that has no results.
#[derive(Debug)]
pub struct LaneFailure {
    pub lane: u64,
    pub error: Error,
}

impl LaneFailure {
    /// What tables of results say of it: 4 for a trap, 5 for the limit of steps, 1 for everything else. It is what the command `reviver`
    /// would end with, had it run this lane alone.
    pub fn status(&self) -> u8 {
        match self.error {
            Error::Trap { .. } => 4,
            Error::StepLimit { .. } => 5,
            _ => 1,
        }
    }
}

/// Lanes of which something is to be said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotedLanes {
    pub count: u64,
    /// The first of them, and what is to be said of it.
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

/// Columns of zeros, with one for each lane.
///
/// # Errors
/// There is no memory for them.
pub fn zeros(columns: usize, lanes: usize) -> Result<Vec<Vec<u64>>, OutOfMemory> {
    (0..columns).map(|_| room::zeros(lanes)).collect()
}

/// Is told how many more lanes are done, by whatever thread did them.
pub type LanesDone<'p> = dyn Fn(u64) + Sync + 'p;
