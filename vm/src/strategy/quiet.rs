//! Stretches of a way on which no step has lost anything: they are gone back over with nothing kept, and nothing is made
//! again for them. Their number is bounded; what is forgotten costs steps only. Knows distances from the way's beginning.

use serde::{Deserialize, Serialize};

/// Stretches as their near ends and their far ends, the furthest last. None touches another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietStretches {
    stretches: Vec<(u64, u64)>,
}

impl QuietStretches {
    /// So many stretches are remembered, whatever memory there is.
    pub const MOST: usize = 512;

    /// How many are remembered in so many bytes.
    pub fn count(bytes: u64) -> usize {
        QuietStretches::MOST.min(usize::try_from(bytes / QuietStretches::bytes_of(1)).unwrap_or(usize::MAX))
    }

    /// Memory that so many take.
    pub fn bytes_of(count: usize) -> u64 {
        (count * size_of::<(u64, u64)>()) as u64
    }

    /// A stretch that lies behind all others has lost nothing. No more than `most` are remembered.
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

    /// Where the stretch begins that a distance lies in, or at whose far end it is.
    pub fn begin(&self, distance: u64) -> Option<u64> {
        let n = self.stretches.partition_point(|(_, to)| *to < distance);
        self.stretches.get(n).map(|(from, _)| *from).filter(|from| *from < distance)
    }

    /// Whether they could be those of a way of some length.
    pub fn are_within(&self, length: u64) -> bool {
        let pairs = self.stretches.iter().zip(self.stretches.iter().skip(1));
        self.stretches.len() <= QuietStretches::MOST
            && self.stretches.iter().all(|(from, to)| from < to && *to <= length)
            && { pairs }.all(|(a, b)| a.1 < b.0)
    }

    /// Memory that they take.
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
