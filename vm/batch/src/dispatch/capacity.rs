//! The maximum number of lanes that a device's binding limits permit, and the layout of workgroups in a dispatch.

use super::clock::CLOCK_BYTES;
use crate::shader::{LaneShader, WORKGROUP};

/// The number of 64-bit words that each lane has in each buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordShape {
    pub inputs: usize,
    pub outputs: usize,
    pub kept: usize,
    /// The number of words for the step count: 0 or 1.
    pub steps: usize,
}

/// Size of a word, in bytes.
pub(super) const WORD: usize = 8;
/// Size of a lane's status in bytes. The number of unfinished lanes has the same size.
pub(super) const STATUS: usize = 4;
/// Number of 32-bit words after the statuses in their buffer.
pub(super) const AFTER_STATUSES: usize = 3;
/// Offset of the device's clock in the staging buffer for results, in bytes. The clock follows the number of unfinished
/// lanes.
pub(super) const CLOCK: usize = 16;
/// Offset of the lanes' results in the staging buffer for results, in bytes.
pub(super) const BEFORE_RESULTS: usize = CLOCK + CLOCK_BYTES;

impl WordShape {
    pub fn of(shader: &LaneShader) -> Self {
        let [inputs, outputs, kept] =
            [shader.inputs, shader.outputs, shader.kept].map(|words| words as usize);
        Self { inputs, outputs, kept, steps: usize::from(shader.reports_steps) }
    }

    /// Returns the number of bytes that are read back for each lane: its output words, its step count if it reports
    /// one, and its status.
    pub fn bytes_of_results(&self) -> usize {
        (self.outputs + self.steps) * WORD + STATUS
    }

    /// Returns the maximum number of lanes of one dispatch: the largest multiple of [`WORKGROUP`] for which every
    /// buffer fits into its binding and every word index fits into `u32`. Returns 0 if not even one workgroup fits.
    pub fn most_lanes(&self, limits: &wgpu::Limits) -> usize {
        let of_buffer = usize::try_from(limits.max_buffer_size).unwrap_or(usize::MAX);
        let of_binding = usize::try_from(limits.max_storage_buffer_binding_size).unwrap_or(usize::MAX);
        let of_binding = of_binding.min(of_buffer);
        let most_words = self.inputs.max(self.outputs).max(self.kept).max(1);
        let per_dimension = limits.max_compute_workgroups_per_dimension as usize;
        let group = WORKGROUP as usize;
        let most = [
            of_binding / (most_words * WORD),
            (of_binding / STATUS).saturating_sub(AFTER_STATUSES),
            of_buffer.saturating_sub(BEFORE_RESULTS) / self.bytes_of_results(),
            i32::MAX as usize / most_words,
            per_dimension.saturating_mul(per_dimension).saturating_mul(group),
        ];
        most.into_iter().min().unwrap_or(0) / group * group
    }
}

/// Returns the two dimensions, in workgroups, of a dispatch for at least `lanes` lanes. The first dimension is at most
/// `per_dimension`.
pub(super) fn groups(lanes: usize, per_dimension: u32) -> (u32, u32) {
    let all = u32::try_from(lanes.div_ceil(WORKGROUP as usize)).unwrap_or(u32::MAX).max(1);
    let rows = all.div_ceil(per_dimension.max(1));
    (all.div_ceil(rows), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> wgpu::Limits {
        wgpu::Limits {
            max_buffer_size: 1 << 28,
            max_storage_buffer_binding_size: 1 << 27,
            ..Default::default()
        }
    }

    #[test]
    fn every_binding_fits() {
        for (inputs, outputs, kept) in [(0, 0, 0), (1, 1, 0), (3, 40, 1000), (70_000, 1, 1)] {
            let shape = WordShape { inputs, outputs, kept, steps: 1 };
            let lanes = shape.most_lanes(&limits());
            assert!(lanes > 0 && lanes.is_multiple_of(64));
            assert!(lanes * inputs.max(outputs).max(kept).max(1) * WORD <= 1 << 27);
            assert!((lanes + 3) * STATUS <= 1 << 27);
            assert!(lanes * shape.bytes_of_results() + BEFORE_RESULTS <= 1 << 28);
        }
        assert_eq!(WordShape { inputs: 1 << 24, outputs: 0, kept: 0, steps: 0 }.most_lanes(&limits()), 0);
    }

    #[test]
    fn workgroups_cover_all_lanes_within_the_limits() {
        for lanes in [1, 64, 65, 64 * 100, 64 * 100 + 1, 1_000_000] {
            let (columns, rows) = groups(lanes, 100);
            assert!(columns <= 100 && columns as usize * rows as usize * 64 >= lanes, "{lanes}");
        }
        assert_eq!(groups(1, 100), (1, 1));
    }
}
