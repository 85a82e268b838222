//! Between which two numbers an integer lies, by how it is made: literals, indices and addresses of them. Knows no block.

use crate::form::{Definition, SsaForm};
use crate::op::{Input, OpKind, SsaOp, SsaValue};
use crate::range::IntRange;

/// So many operations behind each other are looked at.
const MOST_DEPTH: u32 = 6;

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

/// Of a form, as far as passes have noted it there.
pub(super) struct FormRanges<'f>(pub &'f SsaForm);

impl KnownRanges for FormRanges<'_> {
    fn form(&self) -> &SsaForm {
        self.0
    }
    fn told(&self, value: SsaValue) -> Option<IntRange> {
        self.0.ranges.get(&value).copied()
    }
}

fn range_within<K: KnownRanges + ?Sized>(known: &K, value: SsaValue, depth: u32) -> IntRange {
    let told = known.told(value).unwrap_or(IntRange::ALL);
    let made = match known.form().definition(value) {
        Some(Definition::Op(SsaOp { kind: OpKind::Int(value), .. })) => IntRange::only(*value),
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
        (OpKind::Input(Input::Frame(_) | Input::Records | Input::RecordsEnd), _) => {
            IntRange { low: 0, high: u32::MAX.into() }
        }
        (OpKind::IntAdd, &[a, b]) => of(a).ends(of(b), word, |a, b| a + b),
        (OpKind::IntSub, &[a, b]) => of(a).ends(of(b), word, |a, b| a - b),
        (OpKind::IntMul, &[a, b]) => of(a).ends(of(b), word, |a, b| a * b),
        // The remainder has the sign of what is divided.
        (OpKind::IntRem, &[a, b]) => match of(b) {
            IntRange { low, high } if low == high && low != i64::MIN && low != 0 => {
                let (most, divided) = (low.abs() - 1, of(a));
                let low = if divided.low >= 0 { 0 } else { -most };
                IntRange { low, high: if divided.high <= 0 { 0 } else { most } }
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
            let simple = of(base).ends(distance, IntRange::ALL, |a, b| a + b);
            let end = span_end(known.form(), base, index, stride)
                .map_or(IntRange::ALL, |parts| of(parts[0]).ends(of(parts[1]), IntRange::ALL, |a, b| a + b));
            simple.common(IntRange { high: end.high.saturating_sub(1), ..IntRange::ALL })
        }
        _ => IntRange::ALL,
    }
}

/// Of an element of what lies behind the first x cells, (base + x) + index with an index below (length - x): the base and the length, whose
/// sum it is below.
fn span_end(form: &SsaForm, base: SsaValue, index: SsaValue, stride: SsaValue) -> Option<[SsaValue; 2]> {
    let place = |value: SsaValue| match form.op(value)? {
        SsaOp { kind: OpKind::Place, operands, guard: None } => {
            <[SsaValue; 3]>::try_from(operands.as_slice()).ok()
        }
        _ => None,
    };
    let int = |value: SsaValue| match form.op(value)?.kind {
        OpKind::Int(literal) => Some(literal),
        _ => None,
    };
    let found = form.op(index).filter(|op| matches!(op.kind, OpKind::Index { .. }) && op.guard.is_none())?;
    let (&[_, length], Some(1)) = (found.operands.as_slice(), int(stride)) else { return None };
    let ([first, begin, on], [whole, left_out, back]) = (place(base)?, place(length)?);
    (begin == left_out && int(on) == Some(1) && int(back) == Some(-1)).then_some([first, whole])
}
