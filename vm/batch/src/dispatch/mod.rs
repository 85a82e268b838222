//! Execution of lanes on a device: a shader with its buffers, and batches in blocks that fit into the buffers. This
//! module is independent of SSA functions and programs.
//!
//! | module | contents |
//! |---|---|
//! | `capacity` | the number of lanes that fit on a device |
//! | `kernels` | choice of the kernels that lanes begin and continue with |
//! | `pipeline` | a compiled kernel |
//! | `buffers` | memory for one block of lanes |
//! | `pace` | the amount of work in one submission |
//! | `clock` | the time that a device works on a submission |

mod buffers;
mod capacity;
mod clock;
mod kernels;
mod pace;
mod pipeline;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use buffers::{Buffers, DispatchRequest, LaneSpan, Pending};
use capacity::WordShape;
use kernels::Kernels;
use pace::Pace;
use pipeline::Pipeline;

use crate::device::{BatchDevice, DeviceNumbers, WaitLimit};
use crate::error::BatchError;
use crate::shader::{KernelKind, LaneShader, WORKGROUP, status};
use crate::valid::names_wide_floats;

/// The outcome of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneStatus {
    /// The lane has reached the end of its run, and its outputs are valid.
    Finished,
    /// A check failed, or the device can't decide the outcome. The CPU must execute the lane.
    Failed,
    /// The lane exceeded its step limit.
    OutOfSteps,
}

/// The outcomes of the lanes of a batch, with timings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LanesRun {
    /// The outcome of each lane.
    pub statuses: Vec<LaneStatus>,
    /// The number of steps of each lane. Empty if the request doesn't ask for step counts. The number is undefined for
    /// a failed lane.
    pub steps: Vec<u64>,
    /// Compile time of the resumable kernel, if this batch was the first one that needed the kernel.
    pub compile: Duration,
    /// Time for laying out input words for the device and sending them. During this time, the device may execute other
    /// lanes.
    pub upload: Duration,
    /// Time for fetching results from the device, and for laying them out in columns.
    pub download: Duration,
    /// Time that the device worked on the lanes, by the device's own clock; `None` if the device has no clock.
    pub worked: Option<Duration>,
}

/// A shader on a device. Several threads may execute batches on it at the same time.
#[derive(Debug)]
pub(crate) struct DeviceShader {
    device: BatchDevice,
    passes: Kernels,
    shape: WordShape,
    most_lanes: usize,
    /// Memory that no batch uses at present.
    idle: Mutex<Vec<Buffers>>,
    pace: Mutex<Pace>,
}

/// Maximum number of lanes of a block, even if more lanes would fit. If a batch has several blocks, the CPU sends the
/// next block while the device executes the previous one. But small blocks would leave a device partly idle.
const LANES_OF_A_BLOCK: usize = 1 << 18;
/// Maximum number of blocks on the device at the same time: the one being executed, and the next one.
const BLOCKS_AT_A_TIME: usize = 2;
/// Maximum number of buffers that are kept for later batches: enough for two concurrent batches.
const MOST_IDLE: usize = 2 * BLOCKS_AT_A_TIME;
/// Results of at most this many bytes are copied back with every submission. Larger results are copied back when all
/// lanes have ended.
const FEW_BYTES: usize = 1 << 16;

impl DeviceShader {
    /// Compiles the kernel that lanes begin with.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::Shader`] for an invalid text. Returns [`BatchError::Lacks`] if the device doesn't have
    /// the number types, or ends loops after too few iterations. Returns [`BatchError::Memory`] if not even one
    /// workgroup fits. Passes on errors of the device.
    pub fn new(device: &BatchDevice, shader: &LaneShader) -> Result<Self, BatchError> {
        if names_wide_floats(&shader.wgsl) {
            device.has(DeviceNumbers::F64)?;
        }
        let shape = WordShape::of(shader);
        let most_lanes = shape.most_lanes(&device.wgpu().limits());
        if most_lanes == 0 {
            return Err(BatchError::Memory { lanes: WORKGROUP as usize });
        }
        let passes = Kernels::new(device, shader, shape)?;
        let pace = Mutex::new(Pace::new(passes.most_iterations(), passes.has_non_resumable()));
        Ok(Self { device: device.clone(), passes, shape, most_lanes, idle: Mutex::new(Vec::new()), pace })
    }

    /// Returns the largest number of lanes that the device can hold at once. Longer batches are executed in blocks.
    pub fn most_lanes(&self) -> usize {
        self.most_lanes
    }

    /// Executes a batch. `inputs` and `outputs` have a column of `lanes` words for each input and output word. The
    /// outputs of a lane that has not finished are undefined. `stop` is checked about ten times a second.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::Count`] for columns of the wrong size, [`BatchError::Interrupted`], [`BatchError::Lost`],
    /// [`BatchError::Memory`], and errors of the device. The outputs are undefined then.
    pub fn run(
        &self,
        inputs: &[&[u64]],
        outputs: &mut [&mut [u64]],
        lanes: usize,
        most_steps: u64,
        stop: &AtomicBool,
    ) -> Result<LanesRun, BatchError> {
        self.fits(inputs, outputs, lanes)?;
        let mut batch = Batch {
            shader: self,
            inputs,
            outputs,
            most_steps,
            stop,
            pace: *lock(&self.pace),
            free: Vec::new(),
            heard: Instant::now(),
            ran: LanesRun { steps: vec![0; lanes * self.shape.steps], ..LanesRun::default() },
            statuses: vec![status::BEGINS; lanes],
        };
        if lanes > 0 {
            batch.execute()?;
        }
        *lock(&self.pace) = batch.pace;
        let (ran, statuses) = (batch.ran, batch.statuses);
        let idle = &mut *lock(&self.idle);
        idle.extend(batch.free.into_iter().take(MOST_IDLE.saturating_sub(idle.len())));
        Ok(LanesRun { statuses: ended(&statuses)?, ..ran })
    }

    fn fits(&self, inputs: &[&[u64]], outputs: &[&mut [u64]], lanes: usize) -> Result<(), BatchError> {
        let columns = |what: &str, are: usize, should: usize| {
            let error = || BatchError::Count { what: what.to_owned(), are, should };
            if are == should { Ok(()) } else { Err(error()) }
        };
        columns("input columns", inputs.len(), self.shape.inputs)?;
        columns("output columns", outputs.len(), self.shape.outputs)?;
        let mut lengths =
            inputs.iter().map(|column| column.len()).chain(outputs.iter().map(|column| column.len()));
        lengths.find(|length| *length != lanes).map_or(Ok(()), |length| Err(buffers::count(length, lanes)))
    }

    /// Returns idle or new buffers for a block of `wanted` lanes. If buffers for `wanted` lanes don't fit on the
    /// device, returns buffers for fewer lanes.
    fn buffers(&self, wanted: usize) -> Result<Buffers, BatchError> {
        if let Some(buffers) = self.idle_buffers(wanted) {
            return Ok(buffers);
        }
        let mut lanes = wanted.next_power_of_two().min(self.most_lanes);
        let mut buffers = self.new_buffers(lanes);
        while matches!(buffers, Err(BatchError::Memory { .. })) && lanes > WORKGROUP as usize {
            lanes /= 2;
            buffers = self.new_buffers(lanes);
        }
        buffers
    }

    /// Returns idle buffers for at least `wanted` lanes. If all idle buffers are smaller, they are dropped, so that
    /// new ones fit on the device.
    fn idle_buffers(&self, wanted: usize) -> Option<Buffers> {
        let idle = &mut *lock(&self.idle);
        let fitting = idle.iter().position(|buffers| buffers.capacity() >= wanted);
        if fitting.is_none() {
            idle.clear();
        }
        fitting.map(|place| idle.swap_remove(place))
    }

    fn new_buffers(&self, lanes: usize) -> Result<Buffers, BatchError> {
        Buffers::new(&self.device, self.passes.bindings(), self.shape, lanes)
    }

    /// Limits the iterations of each lane in one dispatch; used in tests.
    #[cfg(test)]
    pub fn limit_iterations(&self, iterations: u32) {
        *lock(&self.pace) =
            Pace::new(iterations.min(self.passes.most_iterations()), self.passes.has_non_resumable());
    }

    #[cfg(test)]
    fn limited_to(mut self, most_lanes: usize) -> Self {
        self.most_lanes = most_lanes;
        self
    }
}

/// A batch in progress.
struct Batch<'a, 'b> {
    shader: &'a DeviceShader,
    inputs: &'a [&'a [u64]],
    outputs: &'a mut [&'b mut [u64]],
    most_steps: u64,
    stop: &'a AtomicBool,
    pace: Pace,
    /// Buffers that no block uses.
    free: Vec<Buffers>,
    /// The time at which the CPU last noticed that a submission was finished.
    heard: Instant,
    /// Results of the batch, without the statuses. Until all lanes have ended, `statuses` has the statuses as the
    /// device's words.
    ran: LanesRun,
    statuses: Vec<u32>,
}

/// A block that is in flight on the device.
struct Submission {
    buffers: Buffers,
    range: Range<usize>,
    block: LaneSpan,
    pass: KernelKind,
    /// Maximum number of iterations of each lane in each dispatch of this submission.
    iterations: u32,
    pending: Pending,
}

impl<'a> Batch<'a, '_> {
    /// Executes all blocks in order. While the device executes one block, the CPU reads the previous block's results
    /// and sends the next block's inputs.
    fn execute(&mut self) -> Result<(), BatchError> {
        let lanes = self.statuses.len();
        let of_a_block = self.prepare(lanes)?;
        self.pace = self.pace.for_lanes(of_a_block.min(lanes));
        let mut begin = 0;
        let mut next = None;
        while begin < lanes || next.is_some() {
            let current = match next.take() {
                Some(flight) => flight,
                None => self.submit(&mut begin, of_a_block)?,
            };
            if begin < lanes && !self.free.is_empty() {
                next = Some(self.submit(&mut begin, of_a_block)?);
            }
            let buffers = self.finish(current)?;
            self.free.push(buffers);
        }
        Ok(())
    }

    /// Acquires buffers, and returns the number of lanes of a block.
    fn prepare(&mut self, lanes: usize) -> Result<usize, BatchError> {
        let most = self.shader.most_lanes().min(LANES_OF_A_BLOCK);
        let blocks = lanes.div_ceil(most);
        let wanted = lanes.div_ceil(blocks).next_multiple_of(WORKGROUP as usize);
        let first = self.shader.buffers(wanted)?;
        let of_a_block = first.capacity().min(wanted);
        self.free.push(first);
        if of_a_block < lanes {
            match self.shader.buffers(of_a_block) {
                Ok(second) if second.capacity() >= of_a_block => self.free.push(second),
                // If there are buffers for only one block, the CPU sends each block after the previous one was
                // executed.
                Ok(_) | Err(BatchError::Memory { .. }) => (),
                Err(error) => return Err(error),
            }
        }
        Ok(of_a_block)
    }

    /// Sends the inputs of the next block, and submits the block's first dispatch. `begin` is the block's first lane;
    /// this function advances it to the first lane of the following block.
    fn submit(&mut self, begin: &mut usize, of_a_block: usize) -> Result<Submission, BatchError> {
        self.is_wanted()?;
        let range = *begin..(*begin + of_a_block).min(self.statuses.len());
        *begin = range.end;
        let block = LaneSpan { lanes: range.len(), most_steps: self.most_steps };
        let Some(mut buffers) = self.free.pop() else {
            return Err(BatchError::Memory { lanes: range.len() });
        };
        let device = &self.shader.device;
        let begun = Instant::now();
        buffers.send(device, self.inputs, &range)?;
        self.ran.upload += begun.elapsed();
        let (pass, iterations) = self.pace.begin();
        let with_results = self.pace.ends_at_once || self.results_are_few(block);
        let request = DispatchRequest { is_first: true, dispatches: 1, iterations, with_results };
        let pending = buffers.submit(device, self.pipeline(pass)?, block, request)?;
        Ok(Submission { buffers, range, block, pass, iterations, pending })
    }

    /// Submits dispatches of a block until all of its lanes have ended, and reads the results of the lanes.
    fn finish(&mut self, submission: Submission) -> Result<Buffers, BatchError> {
        let Submission { mut buffers, range, block, mut pass, mut iterations, mut pending } = submission;
        let device = &self.shader.device;
        let mut submissions = 1;
        loop {
            let left = buffers.left(device, &pending, WaitLimit::Patience)?;
            let worked = buffers.worked(device, &pending)?;
            if let Some(worked) = worked {
                *self.ran.worked.get_or_insert_default() += worked;
            }
            let took = self.heard.max(pending.begun).elapsed();
            self.heard = Instant::now();
            if left == 0 && pending.with_results {
                break;
            }
            buffers.done();
            let mut request =
                DispatchRequest { is_first: false, dispatches: 0, iterations: 0, with_results: true };
            if left > 0 {
                self.is_wanted()?;
                let worked = worked.filter(|worked| pass == KernelKind::NonResumable && !worked.is_zero());
                let took = worked.unwrap_or(took);
                (pass, request) = self.next((pass, iterations), took, left as usize, block);
                iterations = request.iterations;
                submissions += 1;
            }
            pending = buffers.submit(device, self.pipeline(pass)?, block, request)?;
        }
        self.pace.ends_at_once = submissions == 1;
        let begun = Instant::now();
        self.read(&buffers, &range, block)?;
        self.ran.download += begun.elapsed();
        Ok(buffers)
    }

    /// Returns the kernel of a kind, and adds the time of its compilation to the results.
    fn pipeline(&mut self, pass: KernelKind) -> Result<&'a Pipeline, BatchError> {
        let DeviceShader { device, passes, .. } = self.shader;
        let begun = Instant::now();
        let pipeline = passes.pipeline(device, pass)?;
        self.ran.compile += begun.elapsed();
        Ok(pipeline)
    }

    /// Chooses the next dispatch of a block. The previous dispatch permitted `iterations` iterations, took the time
    /// `took`, and left `left` lanes unfinished.
    fn next(
        &mut self,
        (pass, iterations): (KernelKind, u32),
        took: Duration,
        left: usize,
        block: LaneSpan,
    ) -> (KernelKind, DispatchRequest) {
        let with_results = self.results_are_few(block);
        let request = |iterations, dispatches| DispatchRequest {
            is_first: false,
            dispatches,
            iterations,
            with_results,
        };
        match pass {
            KernelKind::NonResumable => match self.pace.begin_again(iterations, took, left, block.lanes) {
                Some(iterations) => (KernelKind::NonResumable, request(iterations, 1)),
                None => (KernelKind::Resumable, request(self.pace.iterations, 1)),
            },
            KernelKind::Resumable => {
                self.pace.learn(took);
                (KernelKind::Resumable, request(self.pace.iterations, self.pace.dispatches))
            }
        }
    }

    fn read(&mut self, buffers: &Buffers, range: &Range<usize>, block: LaneSpan) -> Result<(), BatchError> {
        let shorter = || buffers::count(0, range.end);
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for column in self.outputs.iter_mut() {
            outputs.push(column.get_mut(range.clone()).ok_or_else(shorter)?);
        }
        let step_range = if self.shader.shape.steps > 0 { range.clone() } else { 0..0 };
        let steps = self.ran.steps.get_mut(step_range).ok_or_else(shorter)?;
        let statuses = self.statuses.get_mut(range.clone()).ok_or_else(shorter)?;
        let read = buffers.read(&self.shader.device, block, &mut outputs, steps, statuses);
        buffers.done();
        read.and_then(|()| self.shader.device.is_well())
    }

    fn results_are_few(&self, block: LaneSpan) -> bool {
        block.lanes * self.shader.shape.bytes_of_results() <= FEW_BYTES
    }

    fn is_wanted(&self) -> Result<(), BatchError> {
        if self.stop.load(Ordering::Relaxed) { Err(BatchError::Interrupted) } else { Ok(()) }
    }
}

/// Translates the status words of lanes that have ended. Returns an error if a lane has not ended.
fn ended(statuses: &[u32]) -> Result<Vec<LaneStatus>, BatchError> {
    // Fast path for the common case.
    if statuses.iter().all(|status| *status == status::FINISHED) {
        return Ok(vec![LaneStatus::Finished; statuses.len()]);
    }
    let ended = |(lane, status): (usize, &u32)| match *status {
        status::FINISHED => Ok(LaneStatus::Finished),
        status::FAILED => Ok(LaneStatus::Failed),
        status::OUT_OF_STEPS => Ok(LaneStatus::OutOfSteps),
        status::BEGINS | status::SUSPENDED => {
            Err(BatchError::Device(format!("lane {lane} hasn't ended, but isn't counted as unfinished")))
        }
        status => Err(BatchError::Device(format!("lane {lane} has the unknown status {status}"))),
    };
    statuses.iter().enumerate().map(ended).collect()
}

/// Locks a mutex, even if another thread panicked while it held the lock. This is safe, because the content of these
/// mutexes is always consistent.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
