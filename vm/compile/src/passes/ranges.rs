//! Between which two numbers an integer lies, by how it is made: literals, indices and addresses of them. Knows no block.

use reviver_isa::module::Word;

use crate::form::{Definition, SsaForm};
use crate::op::{Input, OpKind, SsaOp, SsaValue};

/// Integers from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntRange {
    pub low: i64,
    pub high: i64,
}

/// So many operations behind each other are looked at.
const MOST_DEPTH: u32 = 4;

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
    fn ends(self, other: IntRange, within: IntRange, combine: impl Fn(i128, i128) -> i128) -> IntRange {
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

/// What is known of values besides how they are made.
pub(super) trait KnownRanges {
    fn form(&self) -> &SsaForm;
    /// The range that something has told of a value, if anything has.
    fn told(&self, value: SsaValue) -> Option<IntRange>;

    /// Between which numbers a value lies.
    fn range(&self, value: SsaValue) -> IntRange {
        range_within(self, value, MOST_DEPTH)
    }
}

fn range_within<K: KnownRanges + ?Sized>(known: &K, value: SsaValue, depth: u32) -> IntRange {
    let told = known.told(value).unwrap_or(IntRange::ALL);
    let made = match known.form().definition(value) {
        Some(Definition::Op(op)) if op.guard.is_none() && depth > 0 => made_of(known, op, depth - 1),
        Some(Definition::Op(_)) | None => IntRange::ALL,
        // What is passed along is a word, as cells are.
        Some(Definition::Parameter(_)) => IntRange::ALL,
    };
    made.common(told)
}

fn made_of<K: KnownRanges + ?Sized>(known: &K, op: &SsaOp, depth: u32) -> IntRange {
    let of = |value: SsaValue| range_within(known, value, depth);
    let word = IntRange::of_word(known.form().numbers.word);
    match (op.kind, op.operands.as_slice()) {
        (OpKind::Int(value), _) => IntRange::only(value),
        (OpKind::Input(Input::Frame(_) | Input::Records | Input::RecordsEnd), _) => {
            IntRange { low: 0, high: u32::MAX.into() }
        }
        (OpKind::IntAdd, &[a, b]) => of(a).ends(of(b), word, |a, b| a + b),
        (OpKind::IntSub, &[a, b]) => of(a).ends(of(b), word, |a, b| a - b),
        (OpKind::IntMul, &[a, b]) => of(a).ends(of(b), word, |a, b| a * b),
        (OpKind::IntRem, &[_, b]) => match of(b) {
            IntRange { low, high } if low == high && low != i64::MIN && low != 0 => {
                IntRange { low: 1 - low.abs(), high: low.abs() - 1 }
            }
            _ => word,
        },
        (OpKind::IntTest(_) | OpKind::Test(_), _) => IntRange { low: 0, high: 1 },
        (OpKind::IntChoose, &[_, yes, no]) => of(yes).hull(of(no)),
        (OpKind::Index { .. }, &[_, length]) => {
            IntRange { low: 0, high: of(length).high.saturating_sub(1).max(0) }
        }
        (OpKind::Place, &[base, index, stride]) => {
            let distance = of(index).ends(of(stride), IntRange::ALL, |a, b| a * b);
            of(base).ends(distance, IntRange::ALL, |a, b| a + b)
        }
        _ => IntRange::ALL,
    }
}
