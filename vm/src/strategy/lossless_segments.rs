//! Lossless segments of a run. A lossless segment is undone without a history, and is never repeated. The list of
//! segments is bounded. A segment that is removed from the list only causes more repeated steps. The ends of a segment
//! are distances from the start of the run, in steps.

use serde::{Deserialize, Serialize};

/// Lossless segments as pairs of near and far ends, in ascending order. Adjacent segments are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LosslessSegments {
    segments: Vec<(u64, u64)>,
}

impl LosslessSegments {
    /// Upper bound on the number of segments, regardless of the memory.
    pub const MOST: usize = 512;

    /// Returns the number of segments that fit into this number of bytes.
    pub fn count(bytes: u64) -> usize {
        LosslessSegments::MOST
            .min(usize::try_from(bytes / LosslessSegments::bytes_of(1)).unwrap_or(usize::MAX))
    }

    /// Returns the memory use of `count` segments, in bytes.
    pub fn bytes_of(count: usize) -> u64 {
        (count * size_of::<(u64, u64)>()) as u64
    }

    /// Adds a lossless segment after all others. If there are more than `most`, the shortest one is removed.
    pub fn note(&mut self, from: u64, to: u64, most: usize) {
        match self.segments.last_mut() {
            Some((_, end)) if *end == from => *end = to,
            _ => self.segments.push((from, to)),
        }
        if self.segments.len() > most {
            let shortest = self.segments.iter().enumerate().min_by_key(|(_, (from, to))| to - from);
            if let Some(shortest) = shortest.map(|(n, _)| n) {
                self.segments.remove(shortest);
            }
        }
    }

    /// Returns the start of the segment that contains a distance or ends at it.
    pub fn begin(&self, distance: u64) -> Option<u64> {
        let n = self.segments.partition_point(|(_, to)| *to < distance);
        self.segments.get(n).map(|(from, _)| *from).filter(|from| *from < distance)
    }

    /// Returns true if the segments are valid for a run of this length.
    pub fn are_within(&self, length: u64) -> bool {
        let pairs = self.segments.iter().zip(self.segments.iter().skip(1));
        self.segments.len() <= LosslessSegments::MOST
            && self.segments.iter().all(|(from, to)| from < to && *to <= length)
            && { pairs }.all(|(a, b)| a.1 < b.0)
    }

    /// Returns the memory use of the segments, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.segments.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = LosslessSegments::MOST;

    #[test]
    fn adjacent_segments_merge_and_the_shortest_is_dropped() {
        let mut lossless = LosslessSegments::default();
        lossless.note(3, 5, MOST);
        lossless.note(5, 9, MOST);
        assert_eq!([3, 4, 9, 10].map(|at| lossless.begin(at)), [None, Some(3), Some(3), None]);
        for n in 1..=MOST as u64 {
            lossless.note(n * 100, n * 100 + 10, MOST);
        }
        assert_eq!((lossless.begin(4), lossless.begin(105)), (None, Some(100)));
        assert!(lossless.are_within(100 * MOST as u64 + 10) && !lossless.are_within(100));
    }
}
