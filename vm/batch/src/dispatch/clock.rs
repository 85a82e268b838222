//! Measures the time that a device works on a submission, by the device's own clock. This module is independent of
//! lanes.

use std::time::Duration;

use crate::device::BatchDevice;

/// Timestamp queries: for the beginning of a submission's first dispatch, and for the end of its last dispatch.
#[derive(Debug)]
pub(super) struct DeviceClock {
    noted: wgpu::QuerySet,
    /// The two timestamps, in ticks.
    ticks: wgpu::Buffer,
    nanoseconds_of_a_tick: f64,
}

/// The number of timestamps of a submission: the beginning and the end.
const NOTES: u32 = 2;
/// Size of the timestamps, in bytes.
pub(super) const CLOCK_BYTES: usize = 16;

impl DeviceClock {
    /// Creates the timestamp queries; `None` if the device has no clock.
    pub fn of(device: &BatchDevice) -> Option<Self> {
        let wgpu = device.wgpu();
        wgpu.features().contains(wgpu::Features::TIMESTAMP_QUERY).then(|| Self {
            noted: wgpu.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("clock"),
                ty: wgpu::QueryType::Timestamp,
                count: NOTES,
            }),
            ticks: wgpu.create_buffer(&wgpu::BufferDescriptor {
                label: Some("ticks"),
                size: CLOCK_BYTES as u64,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            nanoseconds_of_a_tick: f64::from(device.queue().get_timestamp_period()),
        })
    }

    /// Returns the timestamps that a dispatch must write. The first dispatch of a submission writes the beginning, and
    /// the last one writes the end. Returns `None` for other dispatches.
    pub fn notes(&self, is_first: bool, is_last: bool) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        (is_first || is_last).then(|| wgpu::ComputePassTimestampWrites {
            query_set: &self.noted,
            beginning_of_pass_write_index: is_first.then_some(0),
            end_of_pass_write_index: is_last.then_some(1),
        })
    }

    /// Copies both timestamps to `to`, at offset `at` in bytes. Dispatches must have written both.
    pub fn copy(&self, encoder: &mut wgpu::CommandEncoder, to: &wgpu::Buffer, at: usize) {
        encoder.resolve_query_set(&self.noted, 0..NOTES, &self.ticks, 0);
        encoder.copy_buffer_to_buffer(&self.ticks, 0, to, at as u64, CLOCK_BYTES as u64);
    }

    /// Returns the time between the two timestamps; `bytes` is their copy.
    pub fn between(&self, bytes: &[u8]) -> Duration {
        let ticks = bytemuck::pod_collect_to_vec::<u8, u64>(bytes);
        let passed = match ticks[..] {
            [begin, end] => end.saturating_sub(begin),
            _ => 0,
        };
        Duration::from_secs_f64(passed as f64 * self.nanoseconds_of_a_tick / 1e9)
    }
}
