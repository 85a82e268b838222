//! The buffers of a shader's bindings, for one block of lanes at a time. This module sends inputs, submits dispatches
//! and reads results. It is independent of the choice of the next dispatch, and of the block's position in the batch.

use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use wgpu::{BufferUsages, MapMode};

use super::capacity::{AFTER_STATUSES, BEFORE_RESULTS, CLOCK, STATUS, WORD, WordShape, groups};
use super::clock::{CLOCK_BYTES, DeviceClock};
use super::pipeline::{Pipeline, ShaderBindings};
use crate::device::{BatchDevice, WaitLimit};
use crate::error::BatchError;
use crate::shader::{Parameters, WORKGROUP, status};

/// Buffers for a number of lanes. A block uses the buffers from the time when its inputs are sent until its results are
/// read.
#[derive(Debug)]
pub(super) struct Buffers {
    capacity: usize,
    shape: WordShape,
    /// The parameters of a block's first dispatch, followed, at offset [`OF_NEXT`], by the parameters of the block's
    /// other dispatches.
    parameters: wgpu::Buffer,
    /// Staging buffer for inputs from the CPU. It is mapped while no block uses the buffers.
    send: wgpu::Buffer,
    inputs: wgpu::Buffer,
    outputs: wgpu::Buffer,
    statuses: wgpu::Buffer,
    steps: wgpu::Buffer,
    /// Staging buffer for results: the number of unfinished lanes, the device's clock, output words, steps and
    /// statuses, in this order.
    read_back: wgpu::Buffer,
    clock: Option<DeviceClock>,
    of_first: wgpu::BindGroup,
    of_next: wgpu::BindGroup,
    sent: Option<PendingMapping>,
}

/// The size of a block of lanes, and the step limit of its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneSpan {
    pub lanes: usize,
    pub most_steps: u64,
}

/// The work that one submission contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DispatchRequest {
    /// True if the submission is the first one of its block.
    pub is_first: bool,
    pub dispatches: u32,
    pub iterations: u32,
    /// True if the results are copied back. If false, only the number of unfinished lanes and the clock are copied
    /// back.
    pub with_results: bool,
}

/// A submission whose results the CPU has not yet read.
#[derive(Debug)]
pub(super) struct Pending {
    pub begun: Instant,
    pub with_results: bool,
    /// True if the submission dispatches lanes; false if it only fetches results.
    has_dispatches: bool,
    answer: PendingMapping,
}

/// A pending mapping of a buffer.
#[derive(Debug)]
struct PendingMapping {
    submission: wgpu::SubmissionIndex,
    mapped: Receiver<Result<(), wgpu::BufferAsyncError>>,
}

/// Offset, in bytes, of the parameters of a block's later dispatches. No device requires a larger alignment of
/// parameters.
const OF_NEXT: usize = 256;
/// The buffer of statuses is cleared to 0 before a block's first dispatch, so 0 must be the status of a lane that
/// begins.
const _: () = assert!(status::BEGINS == 0);

impl LaneSpan {
    /// Returns the distance between consecutive words of a lane, in words: the number of lanes, rounded up to whole
    /// workgroups.
    fn stride(self) -> usize {
        self.lanes.next_multiple_of(WORKGROUP as usize)
    }

    fn parameters(self, request: DispatchRequest, is_first: bool) -> [u32; 7] {
        // Lane counts fit into u32: see `WordShape::most_lanes`.
        let count = |lanes: usize| u32::try_from(lanes).unwrap_or(0);
        let parameters = Parameters {
            lanes: count(self.lanes),
            stride: count(self.stride()),
            iterations: request.iterations,
            is_first: u32::from(is_first),
            most_steps_low: self.most_steps as u32,
            most_steps_high: (self.most_steps >> 32) as u32,
            unused: 0,
        };
        parameters.in_words()
    }
}

impl Buffers {
    /// Allocates buffers for a block of at most this many lanes.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::Memory`] if the device has too little memory, and other errors of the device.
    pub fn new(
        device: &BatchDevice,
        bindings: &ShaderBindings,
        shape: WordShape,
        lanes: usize,
    ) -> Result<Self, BatchError> {
        let capacity = lanes.next_multiple_of(WORKGROUP as usize);
        device.watched(capacity, || {
            let buffer = |label, bytes: usize, usage, mapped_at_creation| {
                // Bindings must not be empty.
                let size = bytes.max(WORD) as u64;
                let descriptor =
                    wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation };
                device.wgpu().create_buffer(&descriptor)
            };
            let bound = |label, bytes| {
                let copied = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
                buffer(label, bytes, BufferUsages::STORAGE | copied, false)
            };
            let words = |words: usize| words * capacity * WORD;
            let parameters = bound("parameters", 2 * OF_NEXT);
            let (inputs, outputs) =
                (bound("inputs", words(shape.inputs)), bound("outputs", words(shape.outputs)));
            let kept = bound("kept", words(shape.kept));
            let statuses = bound("statuses", (capacity + AFTER_STATUSES) * STATUS);
            let steps = bound("steps", words(shape.steps));
            let to_device = BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC;
            let send = buffer("send", words(shape.inputs), to_device, true);
            let results = BEFORE_RESULTS + shape.bytes_of_results() * capacity;
            let read_back = buffer("back", results, BufferUsages::MAP_READ | BufferUsages::COPY_DST, false);
            let bound = [&inputs, &outputs, &kept, &statuses, &steps];
            let of_first = bindings.bind(device, (&parameters, 0), bound);
            let of_next = bindings.bind(device, (&parameters, OF_NEXT), bound);
            let (clock, sent) = (DeviceClock::of(device), None);
            Self {
                capacity,
                shape,
                parameters,
                send,
                inputs,
                outputs,
                statuses,
                steps,
                read_back,
                clock,
                of_first,
                of_next,
                sent,
            }
        })
    }

    /// Returns the largest number of lanes of a block.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Writes the inputs of a block's lanes to the staging buffer. The block has the lanes `range` of each column.
    pub fn send(
        &mut self,
        device: &BatchDevice,
        inputs: &[&[u64]],
        range: &Range<usize>,
    ) -> Result<(), BatchError> {
        if inputs.is_empty() {
            return Ok(());
        }
        if let Some(PendingMapping { submission, mapped }) = self.sent.take() {
            device.wait(&submission, &mapped, WaitLimit::Patience)?;
        }
        let stride = LaneSpan { lanes: range.len(), most_steps: 0 }.stride();
        let all = self.send.get_mapped_range_mut(0..(inputs.len() * stride * WORD) as u64);
        let mut all = all.map_err(|error| device.refused(&error))?;
        for (number, column) in inputs.iter().enumerate() {
            let column = column.get(range.clone()).ok_or_else(|| count(column.len(), range.end))?;
            let begin = number * stride * WORD;
            all.slice(begin..begin + column.len() * WORD).copy_from_slice(bytemuck::cast_slice(column));
        }
        drop(all);
        self.send.unmap();
        Ok(())
    }

    /// Submits work on a block whose inputs were sent.
    pub fn submit(
        &mut self,
        device: &BatchDevice,
        pipeline: &Pipeline,
        block: LaneSpan,
        request: DispatchRequest,
    ) -> Result<Pending, BatchError> {
        let begun = Instant::now();
        let (submission, mapped) = device.watched(block.lanes, || {
            self.write_parameters(device, block, request);
            let mut encoder =
                device.wgpu().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            if request.is_first {
                self.begin(&mut encoder, block);
            }
            for number in 0..request.dispatches {
                let is_first = request.is_first && number == 0;
                let group = if is_first { &self.of_first } else { &self.of_next };
                let is_last = number + 1 == request.dispatches;
                let notes = self.clock.as_ref().and_then(|clock| clock.notes(number == 0, is_last));
                self.dispatch(device, pipeline, &mut encoder, (group, notes), block);
            }
            if let Some(clock) = self.clock.as_ref().filter(|_| request.dispatches > 0) {
                clock.copy(&mut encoder, &self.read_back, CLOCK);
            }
            let bytes = self.copy_back(&mut encoder, block, request.with_results);
            let submission = device.submit(encoder.finish());
            (submission, map(&self.read_back, MapMode::Read, bytes))
        })?;
        if request.is_first && self.shape.inputs > 0 {
            // The whole buffer is mapped, because the next block that uses it may have more lanes.
            let mapped = map(&self.send, MapMode::Write, self.shape.inputs * self.capacity * WORD);
            self.sent = Some(PendingMapping { submission: submission.clone(), mapped });
        }
        let (answer, has_dispatches) = (PendingMapping { submission, mapped }, request.dispatches > 0);
        Ok(Pending { begun, with_results: request.with_results, has_dispatches, answer })
    }

    /// Waits for a submission. Returns the number of lanes that have not ended after the submission's last dispatch.
    pub fn left(&self, device: &BatchDevice, pending: &Pending, limit: WaitLimit) -> Result<u32, BatchError> {
        device.wait(&pending.answer.submission, &pending.answer.mapped, limit)?;
        let bytes = self.back_bytes(device, 0..STATUS)?;
        let count = bytemuck::pod_collect_to_vec::<u8, u32>(&bytes);
        count
            .first()
            .copied()
            .ok_or_else(|| BatchError::Device("a result has no number of unfinished lanes".to_owned()))
    }

    /// Returns the time that the device worked on a finished submission; `None` if the device has no clock, or the
    /// submission had no dispatches.
    pub fn worked(&self, device: &BatchDevice, pending: &Pending) -> Result<Option<Duration>, BatchError> {
        let Some(clock) = self.clock.as_ref().filter(|_| pending.has_dispatches) else { return Ok(None) };
        let bytes = self.back_bytes(device, CLOCK..CLOCK + CLOCK_BYTES)?;
        Ok(Some(clock.between(&bytes)))
    }

    /// Reads the results of a finished submission: output words, steps if lanes report them, and statuses.
    pub fn read(
        &self,
        device: &BatchDevice,
        block: LaneSpan,
        outputs: &mut [&mut [u64]],
        steps: &mut [u64],
        statuses: &mut [u32],
    ) -> Result<(), BatchError> {
        let (lanes, stride) = (block.lanes, block.stride());
        let mut at = BEFORE_RESULTS;
        for column in outputs {
            self.copy_words(device, at, bytemuck::cast_slice_mut(column))?;
            at += stride * WORD;
        }
        self.copy_words(device, at, bytemuck::cast_slice_mut(steps))?;
        at += self.shape.steps * stride * WORD;
        debug_assert_eq!(statuses.len(), lanes);
        self.copy_words(device, at, bytemuck::cast_slice_mut(statuses))
    }

    /// Unmaps the staging buffer for results, so that the device can write to it again.
    pub fn done(&self) {
        self.read_back.unmap();
    }

    fn copy_words(&self, device: &BatchDevice, at: usize, to: &mut [u8]) -> Result<(), BatchError> {
        let bytes = self.back_bytes(device, at..at + to.len())?;
        to.copy_from_slice(&bytes);
        Ok(())
    }

    fn back_bytes(&self, device: &BatchDevice, range: Range<usize>) -> Result<wgpu::BufferView, BatchError> {
        let range = range.start as u64..range.end as u64;
        self.read_back.get_mapped_range(range).map_err(|error| device.refused(&error))
    }

    fn write_parameters(&self, device: &BatchDevice, block: LaneSpan, request: DispatchRequest) {
        let write = |at: usize, is_first| {
            let words = block.parameters(request, is_first);
            device.queue().write_buffer(&self.parameters, at as u64, bytemuck::cast_slice(&words));
        };
        if request.is_first {
            write(0, true);
        }
        if request.dispatches > u32::from(request.is_first) {
            write(OF_NEXT, false);
        }
    }

    /// Records the commands before a block's first dispatch.
    fn begin(&self, encoder: &mut wgpu::CommandEncoder, block: LaneSpan) {
        let stride = block.stride();
        if self.shape.inputs > 0 {
            let bytes = (self.shape.inputs * stride * WORD) as u64;
            encoder.copy_buffer_to_buffer(&self.send, 0, &self.inputs, 0, bytes);
        }
        encoder.clear_buffer(&self.statuses, 0, Some((stride * STATUS) as u64));
        if self.shape.steps > 0 {
            encoder.clear_buffer(&self.steps, 0, Some((stride * WORD) as u64));
        }
    }

    fn dispatch(
        &self,
        device: &BatchDevice,
        pipeline: &Pipeline,
        encoder: &mut wgpu::CommandEncoder,
        (group, notes): (&wgpu::BindGroup, Option<wgpu::ComputePassTimestampWrites<'_>>),
        block: LaneSpan,
    ) {
        let behind = (block.stride() * STATUS) as u64;
        encoder.clear_buffer(&self.statuses, behind, Some((AFTER_STATUSES * STATUS) as u64));
        let (columns, rows) =
            groups(block.lanes, device.wgpu().limits().max_compute_workgroups_per_dimension);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("lanes"),
            timestamp_writes: notes,
        });
        pass.set_pipeline(pipeline.compute());
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(columns, rows, 1);
    }

    /// Records the copying of results to the staging buffer. Returns the number of copied bytes.
    fn copy_back(&self, encoder: &mut wgpu::CommandEncoder, block: LaneSpan, with_results: bool) -> usize {
        let stride = block.stride();
        let mut copy = |from: &wgpu::Buffer, begin: usize, bytes: usize, to: usize| {
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(from, begin as u64, &self.read_back, to as u64, bytes as u64);
            }
            to + bytes
        };
        copy(&self.statuses, stride * STATUS, STATUS, 0);
        if !with_results {
            return BEFORE_RESULTS;
        }
        let steps = copy(&self.outputs, 0, self.shape.outputs * stride * WORD, BEFORE_RESULTS);
        let statuses = copy(&self.steps, 0, self.shape.steps * stride * WORD, steps);
        copy(&self.statuses, 0, stride * STATUS, statuses)
    }
}

/// Requests a mapping of the first `bytes` bytes of a buffer. When the device no longer uses the buffer, the request
/// completes, and the returned channel receives its result.
fn map(buffer: &wgpu::Buffer, mode: MapMode, bytes: usize) -> Receiver<Result<(), wgpu::BufferAsyncError>> {
    let (sender, receiver) = sync_channel(1);
    buffer.map_async(mode, 0..bytes as u64, move |result| {
        // The receiver may have been dropped in the meantime.
        let _ = sender.try_send(result);
    });
    receiver
}

/// Returns the error for a column with `are` lanes, although `should` lanes were expected.
pub(super) fn count(are: usize, should: usize) -> BatchError {
    BatchError::Count { what: "lanes in a column".to_owned(), are, should }
}
