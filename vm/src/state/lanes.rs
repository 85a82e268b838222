//! The words that make up the bits of a real: one in plain number systems, several for dual and Taylor numbers. The
//! module contains no arithmetic.

use std::fmt::Debug;

/// The bits of a real as a machine stores them.
pub trait Lanes: Copy + Default + PartialEq + Debug + Send + Sync + 'static {
    /// Returns bits with this first word and zeros in all others.
    fn of_word(word: u64) -> Self;
    /// Returns word `n`; 0 if there is no such word.
    fn lane(self, n: usize) -> u64;
    /// Returns the bits with word `n` replaced, if that word exists.
    fn with_lane(self, n: usize, word: u64) -> Self;

    /// Returns the first word, which is the primal value.
    fn word(self) -> u64 {
        self.lane(0)
    }
}

/// Plain numbers, with a single word.
impl Lanes for u64 {
    fn of_word(word: u64) -> u64 {
        word
    }

    fn lane(self, n: usize) -> u64 {
        if n == 0 { self } else { 0 }
    }

    fn with_lane(self, n: usize, word: u64) -> u64 {
        if n == 0 { word } else { self }
    }
}

/// Truncated Taylor series with N coefficients.
impl<const N: usize> Lanes for [u64; N]
where
    [u64; N]: Default,
{
    fn of_word(word: u64) -> [u64; N] {
        [0; N].with_lane(0, word)
    }

    fn lane(self, n: usize) -> u64 {
        self.get(n).copied().unwrap_or(0)
    }

    fn with_lane(mut self, n: usize, word: u64) -> [u64; N] {
        if let Some(lane) = self.get_mut(n) {
            *lane = word;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::Lanes;

    #[test]
    fn lanes_beyond_the_last_are_0() {
        let series = <[u64; 3]>::of_word(2).with_lane(1, 5);
        assert_eq!([0, 1, 2, 3].map(|n| series.lane(n)), [2, 5, 0, 0]);
        assert_eq!(series.with_lane(3, 1), series);
        assert_eq!(series.word(), 2);
        assert_eq!((7_u64.lane(0), 7_u64.lane(1), 7_u64.with_lane(1, 9)), (7, 0, 7));
    }
}
