//! Lanes on the CPU. Threads take chunks of a block in ascending order, each thread with its own workspace, and run
//! lanes in SIMD groups if possible. A lane's results don't depend on other lanes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use reviver_vm::workers::{MOST_THREADS, share};

use super::device::{BlockOutcome, LaneBlock, LaneDevice, LaneFailure, LanesDone, PreparedLanes};
use super::group::{GroupLanes, PlanGroups, ThreadGroups};
use super::lane::{self, LaneRow};
use super::plan::LanePlan;
use crate::error::Error;
use crate::workspace::Workspace;

/// Device name of the CPU.
const NAME: &str = "cpu";

/// CPU device with a number of threads.
#[derive(Debug)]
pub(super) struct Cpu {
    threads: usize,
}

impl Cpu {
    pub fn new(threads: usize) -> Cpu {
        Cpu { threads: threads.clamp(1, MOST_THREADS as usize) }
    }

    /// Returns the device with one thread per available core.
    pub fn all() -> Cpu {
        Cpu::new(thread::available_parallelism().map_or(1, usize::from))
    }
}

impl LaneDevice for Cpu {
    fn name(&self) -> &str {
        NAME
    }

    fn prepare(&self, plan: &Arc<LanePlan>) -> Result<Box<dyn PreparedLanes>, Error> {
        Ok(Box::new(self.lanes(plan)?))
    }
}

impl Cpu {
    /// Prepares a plan for execution on these cores.
    pub fn lanes(&self, plan: &Arc<LanePlan>) -> Result<CpuLanes, Error> {
        let idle = Mutex::new(vec![lane::workspace(plan)?]);
        Ok(CpuLanes { threads: self.threads, plan: Arc::clone(plan), idle, groups: OnceLock::new() })
    }
}

#[derive(Debug)]
pub(super) struct CpuLanes {
    threads: usize,
    plan: Arc<LanePlan>,
    /// Workspaces that no thread is using.
    idle: Mutex<Vec<Workspace>>,
    /// Code for SIMD groups; `None` until a block with enough lanes needs it. The inner `None` means that the plan
    /// can't run in groups.
    groups: OnceLock<Option<PlanGroups>>,
}

/// Maximum number of lanes in a chunk. Short chunks balance the threads, and report progress often.
const LONGEST_CHUNK: usize = 1024;
/// Number of chunks for each thread in a block. There are more if chunks would be longer than the maximum.
const CHUNKS: usize = 16;

/// Chunk of lanes that one thread executes in sequence.
struct LaneChunk<'r> {
    /// Index of the chunk's first lane in the block.
    at: usize,
    lanes: usize,
    results: Vec<&'r mut [u64]>,
}

/// State shared by all threads that work on a block.
struct Work<'w, 'r> {
    first: u64,
    inputs: &'w [&'w [u64]],
    chunks: Mutex<std::vec::IntoIter<LaneChunk<'r>>>,
    groups: Option<&'w PlanGroups>,
    /// Number of the first failed lane; `u64::MAX` if no lane failed, or if the batch continues after failures.
    failed: AtomicU64,
    progress: &'w LanesDone<'w>,
}

impl PreparedLanes for CpuLanes {
    fn device(&self) -> &str {
        NAME
    }

    fn carry_out(&self, block: LaneBlock<'_, '_>, progress: &LanesDone<'_>) -> Result<BlockOutcome, Error> {
        let LaneBlock { first, lanes, inputs, results } = block;
        let length = lanes.div_ceil(self.threads * CHUNKS).clamp(1, LONGEST_CHUNK);
        let chunks = chunks(lanes, length, results);
        let threads = self.threads.min(chunks.len());
        let chunks = Mutex::new(chunks.into_iter());
        let begun = Instant::now();
        let groups = self.groups(lanes);
        let compile = begun.elapsed();
        let work = Work { first, inputs, chunks, groups, failed: AtomicU64::new(u64::MAX), progress };
        let outcomes = share(threads as u32, || self.thread(&work));
        let mut outcome = BlockOutcome { compile, ..BlockOutcome::default() };
        for own in outcomes {
            outcome.add(own.unwrap_or(Err(Error::LostThread))?);
        }
        outcome.failures.sort_unstable_by_key(|failure| failure.lane);
        Ok(outcome)
    }
}

impl CpuLanes {
    fn groups(&self, lanes: usize) -> Option<&PlanGroups> {
        if self.groups.get().is_none() && !PlanGroups::pays_off(lanes) {
            return None;
        }
        self.groups.get_or_init(|| PlanGroups::new(&self.plan)).as_ref()
    }

    /// Executes chunks until none are left.
    fn thread(&self, work: &Work<'_, '_>) -> Result<BlockOutcome, Error> {
        let mut outcome = BlockOutcome::default();
        let Some(mut chunk) = work.next() else { return Ok(outcome) };
        let mut call = self.workspace()?;
        let mut groups = work.groups.and_then(|groups| ThreadGroups::new(groups, &self.plan, &call));
        loop {
            self.chunk((&mut call, groups.as_mut()), work, &mut chunk, &mut outcome)?;
            (work.progress)(chunk.lanes as u64);
            match work.next() {
                Some(next) => chunk = next,
                None => break,
            }
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        Ok(outcome)
    }

    fn workspace(&self) -> Result<Workspace, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| lane::workspace(&self.plan), Ok)
    }

    fn chunk(
        &self,
        (call, mut groups): (&mut Workspace, Option<&mut ThreadGroups<'_>>),
        work: &Work<'_, '_>,
        chunk: &mut LaneChunk<'_>,
        outcome: &mut BlockOutcome,
    ) -> Result<(), Error> {
        if work.failed.load(Ordering::Relaxed) < work.first + chunk.at as u64 {
            return Ok(());
        }
        let mut inputs = Vec::with_capacity(work.inputs.len());
        inputs.extend(work.inputs.iter().map(|column| column.get(chunk.at..).unwrap_or_default()));
        if let Some(groups) = &mut groups {
            groups.begin(chunk.lanes, &inputs);
        }
        // Place of the next lane to run, in the order in which the thread takes the chunk's rows.
        let mut place = 0;
        // Lanes at places before this one run alone, because their group was abandoned.
        let mut next_group = 0;
        while place < chunk.lanes {
            if self.plan.options.is_interrupted() {
                return Err(Error::Interrupted);
            }
            if let Some(groups) = &mut groups {
                groups.reorder(place, chunk.lanes, &inputs);
            }
            let row = groups.as_ref().map_or(place, |groups| groups.row(place));
            let lane = work.first + (chunk.at + row) as u64;
            // Only lanes with numbers above that of the first failed lane are skipped. Lanes with lower numbers may be
            // at later places of the order.
            if work.failed.load(Ordering::Relaxed) < lane {
                place += 1;
                continue;
            }
            if let Some(groups) = groups.as_mut().filter(|_| place >= next_group) {
                if groups.is_full(place) {
                    groups.write(&mut chunk.results);
                }
                match groups.carry_out(&self.plan, place..chunk.lanes, &inputs) {
                    GroupLanes::Done(lanes) => {
                        place += lanes;
                        outcome.in_groups += lanes as u64;
                        continue;
                    }
                    GroupLanes::Alone(lanes) => next_group = place + lanes,
                }
            }
            self.alone(
                call,
                work,
                LaneRow { lane, row, inputs: &inputs, results: &mut chunk.results },
                outcome,
            )?;
            place += 1;
        }
        if let Some(groups) = groups {
            groups.write(&mut chunk.results);
        }
        Ok(())
    }

    /// Executes a lane alone, and records its failure if it fails.
    fn alone(
        &self,
        call: &mut Workspace,
        work: &Work<'_, '_>,
        row: LaneRow<'_, '_>,
        outcome: &mut BlockOutcome,
    ) -> Result<(), Error> {
        let lane = row.lane;
        match lane::carry_out(call, &self.plan, row, outcome) {
            Ok(()) => {}
            Err(error) if !error.is_of_one_lane() => return Err(error),
            Err(error) => {
                outcome.failures.push(LaneFailure { lane, error });
                if !self.plan.options.keeps_going {
                    work.failed.fetch_min(lane, Ordering::Relaxed);
                }
            }
        }
        Ok(())
    }
}

impl<'r> Work<'_, 'r> {
    /// Returns the next chunk, in ascending order of lanes. So if a lane fails, all lanes with lower numbers are in
    /// chunks that a thread has taken, and the first failed lane is found.
    fn next(&self) -> Option<LaneChunk<'r>> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner).next()
    }
}

fn chunks<'r>(lanes: usize, length: usize, results: &'r mut [&mut [u64]]) -> Vec<LaneChunk<'r>> {
    let columns = results.len();
    let chunk = |at| LaneChunk { at, lanes: length.min(lanes - at), results: Vec::with_capacity(columns) };
    let mut chunks: Vec<LaneChunk<'r>> = (0..lanes).step_by(length).map(chunk).collect();
    for column in results {
        let parts = column.chunks_mut(length);
        chunks.iter_mut().zip(parts).for_each(|(chunk, part)| chunk.results.push(part));
    }
    chunks
}
