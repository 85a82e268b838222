//! Intervals of integers. This module is independent of SSA values.

use reviver_isa::module::Word;

/// Closed interval of integers: both bounds are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntRange {
    /// Smallest possible value, inclusive.
    pub low: i64,
    /// Largest possible value, inclusive. It is at least `low`.
    pub high: i64,
}

impl IntRange {
    /// Interval of all 64-bit integers, for values without a known range.
    pub const ALL: IntRange = IntRange { low: i64::MIN, high: i64::MAX };

    /// Returns the interval that contains a single value.
    pub fn only(value: i64) -> IntRange {
        IntRange { low: value, high: value }
    }

    /// Returns the interval of all words of the program.
    pub fn of_word(word: Word) -> IntRange {
        let unused = i64::BITS - word.bits();
        IntRange { low: i64::MIN >> unused, high: i64::MAX >> unused }
    }

    /// Returns true if no integer is in both intervals.
    pub fn is_apart(self, other: IntRange) -> bool {
        self.high < other.low || other.high < self.low
    }

    /// Returns true if `other` contains every integer of this interval.
    pub fn is_within(self, other: IntRange) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// Returns the intersection of two intervals. If it is empty, returns `self`; this happens only in unreachable
    /// code.
    pub fn common(self, other: IntRange) -> IntRange {
        let both = IntRange { low: self.low.max(other.low), high: self.high.min(other.high) };
        if both.low <= both.high { both } else { self }
    }

    /// Returns the smallest interval that contains both intervals.
    pub fn hull(self, other: IntRange) -> IntRange {
        IntRange { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Applies `combine` to the four pairs of a bound of `self` and a bound of `other`, and returns the hull of the
    /// results. Returns `within` if this hull isn't inside `within`.
    pub fn ends(self, other: IntRange, within: IntRange, combine: impl Fn(i128, i128) -> i128) -> IntRange {
        let ends =
            [self.low, self.high].map(|a| [other.low, other.high].map(|b| combine(a.into(), b.into())));
        let ends = ends.as_flattened().iter();
        let (low, high) = (ends.clone().min().copied(), ends.max().copied());
        let word = |end: Option<i128>| end.and_then(|end| i64::try_from(end).ok());
        let Some((low, high)) = word(low).zip(word(high)) else { return within };
        let found = IntRange { low, high };
        if found.is_within(within) { found } else { within }
    }
}
