//! Lossless segments of a run. They are undone without a history, and are never repeated. Their number is
//! bounded, and forgetting one only costs steps. The module knows distances from the start of the run.

use serde::{Deserialize, Serialize};

/// Lossless segments as pairs of near and far ends, in ascending order. Adjacent segments are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietStretches {
    stretches: Vec<(u64, u64)>,
}

impl QuietStretches {
    /// Upper bound on the number of segments, regardless of the memory.
    pub const MOST: usize = 512;

    /// Returns the number of segments that fit into this number of bytes.
    pub fn count(bytes: u64) -> usize {
        QuietStretches::MOST.min(usize::try_from(bytes / QuietStretches::bytes_of(1)).unwrap_or(usize::MAX))
    }

    /// Returns the memory use of `count` segments, in bytes.
    pub fn bytes_of(count: usize) -> u64 {
        (count * size_of::<(u64, u64)>()) as u64
    }

    /// Adds a lossless segment after all others. If there are more than `most`, the shortest one is removed.
    pub fn note(&mut self, from: u64, to: u64, most: usize) {
        match self.stretches.last_mut() {
            Some((_, end)) if *end == from => *end = to,
            _ => self.stretches.push((from, to)),
        }
        if self.stretches.len() > most {
            let shortest = self.stretches.iter().enumerate().min_by_key(|(_, (from, to))| to - from);
            if let Some(shortest) = shortest.map(|(n, _)| n) {
                self.stretches.remove(shortest);
            }
        }
    }

    /// Returns the start of the segment that contains a distance or ends at it.
    pub fn begin(&self, distance: u64) -> Option<u64> {
        let n = self.stretches.partition_point(|(_, to)| *to < distance);
        self.stretches.get(n).map(|(from, _)| *from).filter(|from| *from < distance)
    }

    /// Returns true if the segments are valid for a run of this length.
    pub fn are_within(&self, length: u64) -> bool {
        let pairs = self.stretches.iter().zip(self.stretches.iter().skip(1));
        self.stretches.len() <= QuietStretches::MOST
            && self.stretches.iter().all(|(from, to)| from < to && *to <= length)
            && { pairs }.all(|(a, b)| a.1 < b.0)
    }

    /// Returns the memory use of the segments, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.stretches.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = QuietStretches::MOST;

    #[test]
    fn neighbours_are_one_and_the_shortest_is_forgotten() {
        let mut quiet = QuietStretches::default();
        quiet.note(3, 5, MOST);
        quiet.note(5, 9, MOST);
        assert_eq!([3, 4, 9, 10].map(|at| quiet.begin(at)), [None, Some(3), Some(3), None]);
        for n in 1..=MOST as u64 {
            quiet.note(n * 100, n * 100 + 10, MOST);
        }
        assert_eq!((quiet.begin(4), quiet.begin(105)), (None, Some(100)));
        assert!(quiet.are_within(100 * MOST as u64 + 10) && !quiet.are_within(100));
    }
}
