//! Range analysis: computes an interval for an integer from its defining operations, such as literals, indices and
//! addresses. This module is independent of blocks.

use crate::function::{Definition, SsaFunction};
use crate::op::{Input, OpKind, SsaOp, SsaValue};
use crate::range::IntRange;

/// Upper bound on the depth of operations that are analyzed.
const MOST_DEPTH: u32 = 6;

/// Context of the analysis: facts about values apart from their definitions.
pub(super) trait KnownRanges {
    fn function(&self) -> &SsaFunction;
    /// Returns the range of a value that is known from a source other than its definition, such as a check or a branch.
    fn noted_range(&self, value: SsaValue) -> Option<IntRange>;

    /// Returns true if the analysis may assume that guarded checks pass, even where the guard is 0.
    fn guards_hold(&self) -> bool {
        false
    }

    /// Returns the range of a value.
    fn range(&self, value: SsaValue) -> IntRange {
        range_within(self, value, MOST_DEPTH)
    }
}

/// Ranges of an SSA function, including the ranges that passes have recorded in the function.
pub(super) struct FunctionRanges<'f>(pub &'f SsaFunction);

impl KnownRanges for FunctionRanges<'_> {
    fn function(&self) -> &SsaFunction {
        self.0
    }
    fn noted_range(&self, value: SsaValue) -> Option<IntRange> {
        self.0.ranges.get(&value).copied()
    }
}

/// Ranges of an SSA function under the assumption that guarded checks didn't fail.
pub(super) struct CountingRanges<'f>(pub &'f SsaFunction);

impl KnownRanges for CountingRanges<'_> {
    fn function(&self) -> &SsaFunction {
        self.0
    }
    fn noted_range(&self, value: SsaValue) -> Option<IntRange> {
        self.0.ranges.get(&value).copied()
    }
    fn guards_hold(&self) -> bool {
        true
    }
}

fn range_within<K: KnownRanges + ?Sized>(known: &K, value: SsaValue, depth: u32) -> IntRange {
    let noted_range = known.noted_range(value).unwrap_or(IntRange::ALL);
    let made = match known.function().definition(value) {
        Some(Definition::Op(SsaOp { kind: OpKind::Int(value), .. })) => IntRange::only(*value),
        Some(Definition::Op(op)) if (op.guard.is_none() || known.guards_hold()) && depth > 0 => {
            made_of(known, op, depth - 1)
        }
        Some(Definition::Op(_)) | None => IntRange::ALL,
        // Block parameters are words, as cells are.
        Some(Definition::Parameter(_)) => IntRange::ALL,
    };
    made.common(noted_range)
}

fn made_of<K: KnownRanges + ?Sized>(known: &K, op: &SsaOp, depth: u32) -> IntRange {
    let of = |value: SsaValue| range_within(known, value, depth);
    let word = IntRange::of_word(known.function().numbers.word);
    match (op.kind, op.operands.as_slice()) {
        (OpKind::Input(Input::Frame(_) | Input::Records | Input::RecordsEnd), _) => {
            IntRange { low: 0, high: u32::MAX.into() }
        }
        (OpKind::IntAdd, &[a, b]) => of(a).ends(of(b), word, |a, b| a + b),
        (OpKind::IntSub, &[a, b]) => of(a).ends(of(b), word, |a, b| a - b),
        (OpKind::IntMul, &[a, b]) => of(a).ends(of(b), word, |a, b| a * b),
        // The remainder has the sign of the dividend.
        (OpKind::IntRem, &[a, b]) => match of(b) {
            IntRange { low, high } if low == high && low != i64::MIN && low != 0 => {
                let (most, divided) = (low.abs() - 1, of(a));
                let low = if divided.low >= 0 { 0 } else { -most };
                IntRange { low, high: if divided.high <= 0 { 0 } else { most } }
            }
            _ => word,
        },
        // A bit is set only if it is set in both operands.
        (OpKind::IntAnd, &[a, b]) => {
            let highs = [of(a), of(b)].into_iter().filter(|range| range.low >= 0).map(|range| range.high);
            highs.min().map_or(IntRange::ALL, |high| IntRange { low: 0, high })
        }
        (OpKind::IntShr, &[a, by]) => match (of(a), of(by)) {
            (_, by) if by.low >= 1 => {
                let least = u32::try_from(by.low).unwrap_or(u32::MAX);
                let unsigned = u64::MAX >> (i64::BITS - known.function().numbers.word.bits());
                let high = unsigned.checked_shr(least).unwrap_or(0);
                IntRange { low: 0, high: i64::try_from(high).unwrap_or(i64::MAX) }
            }
            (a, _) if a.low >= 0 => IntRange { low: 0, high: a.high },
            _ => word,
        },
        // A right shift by at least the word's width gives 0 or -1.
        (OpKind::IntSar, &[a, _]) => {
            let a = of(a);
            IntRange { low: a.low.min(0), high: a.high.max(0) }
        }
        (OpKind::IntTest(_) | OpKind::Test(_), _) => IntRange { low: 0, high: 1 },
        (OpKind::IntChoose, &[_, yes, no]) => of(yes).hull(of(no)),
        (OpKind::Index { .. }, &[_, length]) => {
            IntRange { low: 0, high: of(length).high.saturating_sub(1).max(0) }
        }
        (OpKind::Place, &[base, index, stride]) => {
            let distance = of(index).ends(of(stride), IntRange::ALL, |a, b| a * b);
            let simple = of(base).ends(distance, IntRange::ALL, |a, b| a + b);
            let end =
                span_end(known.function(), base, index, stride).map_or(IntRange::ALL, |(first, whole)| {
                    let first = first.map_or(IntRange::only(0), of);
                    first.ends(of(whole), IntRange::ALL, |a, b| a + b)
                });
            simple.common(IntRange { high: end.high.saturating_sub(1), ..IntRange::ALL })
        }
        _ => IntRange::ALL,
    }
}

/// Matches the address of an element of a slice: (base + x) + index, with an index less than (length - x). Returns the
/// base (`None` if it is 0) and the length. The sum of base and length is greater than the address.
fn span_end(
    function: &SsaFunction,
    base: SsaValue,
    index: SsaValue,
    stride: SsaValue,
) -> Option<(Option<SsaValue>, SsaValue)> {
    let place = |value: SsaValue| match function.op(value)? {
        SsaOp { kind: OpKind::Place, operands, guard: None } => {
            <[SsaValue; 3]>::try_from(operands.as_slice()).ok()
        }
        _ => None,
    };
    let is_int =
        |value: SsaValue, literal: i64| function.op(value).is_some_and(|op| op.kind == OpKind::Int(literal));
    let found =
        function.op(index).filter(|op| matches!(op.kind, OpKind::Index { .. }) && op.guard.is_none())?;
    let &[_, length] = found.operands.as_slice() else { return None };
    let [whole, left_out, back] = place(length)?;
    if !is_int(stride, 1) || !is_int(back, -1) {
        return None;
    }
    match place(base) {
        _ if base == left_out => Some((None, whole)),
        Some([first, begin, on]) if begin == left_out && is_int(on, 1) => Some((Some(first), whole)),
        _ => None,
    }
}
