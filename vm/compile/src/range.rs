//! Integers between two numbers. Knows no value of a form.

use reviver_isa::module::Word;

/// Integers from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntRange {
    pub low: i64,
    pub high: i64,
}

impl IntRange {
    pub const ALL: IntRange = IntRange { low: i64::MIN, high: i64::MAX };

    pub fn only(value: i64) -> IntRange {
        IntRange { low: value, high: value }
    }

    /// All words.
    pub fn of_word(word: Word) -> IntRange {
        let unused = i64::BITS - word.bits();
        IntRange { low: i64::MIN >> unused, high: i64::MAX >> unused }
    }

    pub fn is_apart(self, other: IntRange) -> bool {
        self.high < other.low || other.high < self.low
    }

    pub fn is_within(self, other: IntRange) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// What is in both; nothing is known of what is in neither.
    pub fn common(self, other: IntRange) -> IntRange {
        let both = IntRange { low: self.low.max(other.low), high: self.high.min(other.high) };
        if both.low <= both.high { both } else { self }
    }

    /// From the lowest to the highest of both.
    pub fn hull(self, other: IntRange) -> IntRange {
        IntRange { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The numbers that `combine` makes of the ends, if all of them are words.
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
