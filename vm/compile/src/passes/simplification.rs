//! Algebraic simplification: replaces operations by simpler ones with the same bits. Few algebraic identities hold for
//! floats. This module is independent of blocks.
//!
//! | identity | holds |
//! |---|---|
//! | (a ± e) ∓ e = a | for integers, which wrap, and for fixed point, where a ± e didn't overflow |
//! | e - e = 0, (0 ± e) ∓ e = 0 | for all numbers; a float e must be finite, which a check of the sum has established |
//! | a - 0 = a | for floats; a + 0 differs from a if a is -0 |
//! | s ± (0 + p) = s ± p, s ± (0 - p) = s ∓ p | for floats, if s is never -0; else the sign of a zero might differ |
//! | a + -b = a - b, a - -b = a + b; a·1 = a, a·-1 = -a, a/1 = a | for floats |
//! | a⁰ = 1, a¹ = a, a² = a·a | for floats, because the interpreter defines these powers in this way |
//! | a·sign a is a or -a | for floats; in fixed point the product may overflow |

use arrayvec::ArrayVec;
use reviver_isa::arith::{Elementary, Order};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use super::ranges::KnownRanges;
use crate::function::{NumberKinds, SsaFunction};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::range::IntRange;

/// Facts about values at the place of an operation.
pub(super) trait Known: KnownRanges {
    fn numbers(&self) -> NumberKinds;
    /// Returns the operation that defines a value, if an operation does.
    fn op(&self, value: SsaValue) -> Option<&SsaOp>;
    /// Returns true if a float is neither infinite nor NaN.
    fn is_finite(&self, value: SsaValue) -> bool;
    /// Returns true if a float is never -0.
    fn is_never_negative_zero(&self, value: SsaValue) -> bool;

    fn int(&self, value: SsaValue) -> Option<i64> {
        match self.op(value)?.kind {
            OpKind::Int(literal) => Some(literal),
            _ => None,
        }
    }

    fn real(&self, value: SsaValue) -> Option<u64> {
        match self.op(value)?.kind {
            OpKind::Real(bits) => Some(bits),
            _ => None,
        }
    }

    fn is_exact(&self) -> bool {
        matches!(self.numbers().system, RealSystem::Fixed(_))
    }
}

/// Result of simplifying an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Simplified {
    /// The operation itself: no simplification applies.
    Itself,
    Value(SsaValue),
    /// Another operation with the same result.
    Op(OpKind, ArrayVec<SsaValue, 3>),
    /// Sum of a value and a literal. The sum doesn't overflow a word.
    Plus(SsaValue, i64),
    Int(i64),
    Real(u64),
    /// No effect: a check that always passes.
    Nothing,
}

impl Simplified {
    fn int_if(value: Option<i64>) -> Simplified {
        value.map_or(Simplified::Itself, Simplified::Int)
    }

    fn nothing_if(holds: bool) -> Simplified {
        if holds { Simplified::Nothing } else { Simplified::Itself }
    }

    fn or(self, other: impl FnOnce() -> Simplified) -> Simplified {
        if self == Simplified::Itself { other() } else { self }
    }
}

/// Simplifies an unguarded operation.
pub(super) fn simplified(known: &impl Known, op: &SsaOp) -> Simplified {
    match (op.kind, op.operands.as_slice()) {
        (OpKind::IntTest(order), &[a, b]) => tested(known, order, a, b),
        (OpKind::Test(order), &[a, b]) => reals_tested(known, order, a, b),
        (OpKind::Choose | OpKind::IntChoose, &[condition, yes, no]) => chosen(known, condition, yes, no),
        (OpKind::Index { offset }, &[index, length]) => indexed(known, offset, index, length),
        (OpKind::Place, &[base, index, stride]) => placed(known, base, index, stride),
        (
            OpKind::RequireTrue
            | OpKind::RequireApart
            | OpKind::RequireVacant
            | OpKind::RequireAdmitted
            | OpKind::CountDiscarded
            | OpKind::CountDropped
            | OpKind::Freed { .. },
            operands,
        ) => Simplified::nothing_if(does_nothing(known, op.kind, operands)),
        (OpKind::IntNeg | OpKind::IntNot, &[a]) => match known.int(a) {
            Some(a) => {
                Simplified::Int(wrapped(known, if op.kind == OpKind::IntNeg { a.wrapping_neg() } else { !a }))
            }
            None => Simplified::Itself,
        },
        (
            OpKind::IntAdd
            | OpKind::IntSub
            | OpKind::IntMul
            | OpKind::IntAnd
            | OpKind::IntOr
            | OpKind::IntXor,
            &[a, b],
        ) => folded(known, op.kind, a, b).or(|| int_sum(known, op.kind, a, b)),
        (OpKind::IntShl | OpKind::IntShr | OpKind::IntSar | OpKind::IntRol | OpKind::IntRor, &[a, by])
            if known.int(by) == Some(0) =>
        {
            Simplified::Value(a)
        }
        (OpKind::Add | OpKind::Sub, &[a, b]) => {
            real_sum(known, op.kind, a, b).or(|| sum_of_sum(known, op.kind, a, b))
        }
        (OpKind::Mul, &[a, b]) => scaled(known, a, b)
            .or(|| scaled(known, b, a))
            .or(|| magnitude(known, a, b))
            .or(|| magnitude(known, b, a)),
        (OpKind::Div, &[a, b]) if is_float(known, b, 1.0) => Simplified::Value(a),
        (OpKind::Powi, &[a, exponent]) => power(known, a, exponent),
        _ => Simplified::Itself,
    }
}

fn wrapped(known: &impl Known, value: i64) -> i64 {
    let unused = i64::BITS - known.numbers().word.bits();
    value << unused >> unused
}

/// Folds an operation on two literals.
fn folded(known: &impl Known, kind: OpKind, a: SsaValue, b: SsaValue) -> Simplified {
    let (Some(a), Some(b)) = (known.int(a), known.int(b)) else { return Simplified::Itself };
    let made = match kind {
        OpKind::IntAdd => wrapped(known, a.wrapping_add(b)),
        OpKind::IntSub => wrapped(known, a.wrapping_sub(b)),
        OpKind::IntMul => wrapped(known, a.wrapping_mul(b)),
        // This operation also applies to addresses, which aren't words.
        OpKind::IntAnd => a & b,
        OpKind::IntOr => a | b,
        OpKind::IntXor => a ^ b,
        _ => return Simplified::Itself,
    };
    Simplified::Int(made)
}

/// Simplifies a sum or difference of integers that undoes another operation or has a neutral operand.
fn int_sum(known: &impl Known, kind: OpKind, a: SsaValue, b: SsaValue) -> Simplified {
    let operands = |value: SsaValue, kind: OpKind| match known.op(value) {
        Some(op) if op.kind == kind => <[SsaValue; 2]>::try_from(op.operands.as_slice()).ok(),
        _ => None,
    };
    match kind {
        OpKind::IntAdd => match (operands(a, OpKind::IntSub), operands(b, OpKind::IntSub)) {
            (Some([left, taken]), _) if taken == b => Simplified::Value(left),
            (_, Some([left, taken])) if taken == a => Simplified::Value(left),
            _ if known.int(b) == Some(0) => Simplified::Value(a),
            _ if known.int(a) == Some(0) => Simplified::Value(b),
            _ => Simplified::Itself,
        },
        OpKind::IntSub => match operands(a, OpKind::IntAdd) {
            _ if a == b => Simplified::Int(0),
            Some([left, added]) if added == b => Simplified::Value(left),
            Some([added, left]) if added == b => Simplified::Value(left),
            _ if known.int(b) == Some(0) => Simplified::Value(a),
            _ => Simplified::Itself,
        },
        OpKind::IntXor => match (operands(a, OpKind::IntXor), operands(b, OpKind::IntXor)) {
            _ if a == b => Simplified::Int(0),
            (Some([left, other]), _) if other == b => Simplified::Value(left),
            (Some([other, left]), _) if other == b => Simplified::Value(left),
            (_, Some([left, other])) if other == a => Simplified::Value(left),
            (_, Some([other, left])) if other == a => Simplified::Value(left),
            _ if known.int(b) == Some(0) => Simplified::Value(a),
            _ if known.int(a) == Some(0) => Simplified::Value(b),
            _ => Simplified::Itself,
        },
        OpKind::IntMul => match (known.int(a), known.int(b)) {
            (_, Some(1)) => Simplified::Value(a),
            (Some(1), _) => Simplified::Value(b),
            _ => Simplified::Itself,
        },
        _ => Simplified::Itself,
    }
}

fn tested(known: &impl Known, order: Order, a: SsaValue, b: SsaValue) -> Simplified {
    if a == b {
        return Simplified::Int(order.holds(0, 0).into());
    }
    let (a, b) = (known.range(a), known.range(b));
    let (is_below, is_above) = (a.high < b.low, a.low > b.high);
    let is_at_most = is_below || a.high == b.low;
    let is_at_least = is_above || a.low == b.high;
    let is_equal = is_at_most && is_at_least;
    let (holds, fails) = match order {
        Order::Eq => (is_equal, a.is_apart(b)),
        Order::Ne => (a.is_apart(b), is_equal),
        Order::Lt => (is_below, is_at_least),
        Order::Le => (is_at_most, is_above),
        Order::Gt => (is_above, is_at_most),
        Order::Ge => (is_at_least, is_below),
    };
    match (holds, fails) {
        (true, _) => Simplified::Int(1),
        (_, true) => Simplified::Int(0),
        _ => Simplified::Itself,
    }
}

/// Folds comparisons of reals. NaN isn't equal to itself.
fn reals_tested(known: &impl Known, order: Order, a: SsaValue, b: SsaValue) -> Simplified {
    if a == b && (known.is_exact() || known.is_finite(a)) {
        return Simplified::Int(order.holds(0, 0).into());
    }
    let Some((a, b)) = known.real(a).zip(known.real(b)) else { return Simplified::Itself };
    Simplified::Int(match known.numbers().system {
        RealSystem::F64 => order.holds(f64::from_bits(a), f64::from_bits(b)).into(),
        RealSystem::F32 => order.holds(f32::from_bits(a as u32), f32::from_bits(b as u32)).into(),
        RealSystem::Fixed(_) => order.holds(a as i64, b as i64).into(),
    })
}

fn chosen(known: &impl Known, condition: SsaValue, yes: SsaValue, no: SsaValue) -> Simplified {
    match known.int(condition) {
        _ if yes == no => Simplified::Value(yes),
        Some(0) => Simplified::Value(no),
        Some(_) => Simplified::Value(yes),
        None => Simplified::Itself,
    }
}

fn indexed(known: &impl Known, offset: i64, index: SsaValue, length: SsaValue) -> Simplified {
    let (range, least) = (known.range(index), known.range(length).low);
    let within = range.low.checked_add(offset).zip(range.high.checked_add(offset));
    match within {
        Some((low, high)) if low >= 0 && high < least => match (known.int(index), offset) {
            (_, 0) => Simplified::Value(index),
            (Some(index), _) => Simplified::Int(index + offset),
            // The sum must stay within a word, because an integer sum wraps and an index doesn't.
            (None, _) if (IntRange { low, high }).is_within(IntRange::of_word(known.numbers().word)) => {
                Simplified::Plus(index, offset)
            }
            (None, _) => Simplified::Itself,
        },
        _ => Simplified::Itself,
    }
}

fn placed(known: &impl Known, base: SsaValue, index: SsaValue, stride: SsaValue) -> Simplified {
    match [base, index, stride].map(|value| known.int(value)) {
        [Some(base), Some(index), Some(stride)] => {
            Simplified::int_if(index.checked_mul(stride).and_then(|distance| base.checked_add(distance)))
        }
        [_, Some(0), _] => Simplified::Value(base),
        [Some(0), _, Some(1)] => Simplified::Value(index),
        _ => Simplified::Itself,
    }
}

fn does_nothing(known: &impl Known, kind: OpKind, operands: &[SsaValue]) -> bool {
    match (kind, operands) {
        (OpKind::RequireTrue, &[condition]) => known.int(condition).is_some_and(|holds| holds != 0),
        (OpKind::RequireApart, &[a, b]) => known.range(a).is_apart(known.range(b)),
        (OpKind::RequireAdmitted, &[a]) => known.is_finite(a),
        (
            OpKind::RequireVacant | OpKind::CountDiscarded | OpKind::CountDropped | OpKind::Freed { .. },
            &[a, ..],
        ) => known.real(a) == Some(0),
        _ => false,
    }
}

/// Simplifies a sum or difference of reals that undoes another operation or has a neutral operand.
fn real_sum(known: &impl Known, kind: OpKind, a: SsaValue, b: SsaValue) -> Simplified {
    let is_exact = known.is_exact();
    let opposite = if kind == OpKind::Add { OpKind::Sub } else { OpKind::Add };
    let is_zero = |value: SsaValue| known.real(value) == Some(0);
    let undone = known.op(a).filter(|op| op.kind == opposite && op.guard.is_none());
    if let Some(&[left, other]) = undone.map(|op| op.operands.as_slice()) {
        if other == b && (is_exact || is_zero(left) && known.is_finite(b)) {
            return Simplified::Value(left);
        }
        if is_exact && opposite == OpKind::Add && left == b {
            return Simplified::Value(other);
        }
    }
    match kind {
        OpKind::Sub if is_zero(b) => Simplified::Value(a),
        OpKind::Add if is_zero(a) && (is_zero(b) || known.is_never_negative_zero(b)) => Simplified::Value(b),
        OpKind::Add if is_zero(b) && known.is_never_negative_zero(a) => Simplified::Value(a),
        OpKind::Sub if a == b && (is_exact || known.is_finite(a)) => Simplified::Real(0),
        OpKind::Add if is_exact && is_zero(b) => Simplified::Value(a),
        OpKind::Add if is_exact && is_zero(a) => Simplified::Value(b),
        _ => Simplified::Itself,
    }
}

/// Simplifies s ± (0 ± p) if the sign of a zero can't change the result.
fn sum_of_sum(known: &impl Known, kind: OpKind, a: SsaValue, b: SsaValue) -> Simplified {
    let from_zero = |value: SsaValue| {
        let op = known.op(value).filter(|op| op.guard.is_none())?;
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Add | OpKind::Sub, &[zero, part]) if known.real(zero) == Some(0) => {
                Some((op.kind, part))
            }
            _ => None,
        }
    };
    if known.is_exact() {
        return Simplified::Itself;
    }
    let sum = |kind, a, b| Simplified::Op(kind, [a, b].into_iter().collect());
    let opposite = |value: SsaValue| match known.op(value) {
        Some(SsaOp { kind: OpKind::Neg, operands, guard: None }) => operands.first().copied(),
        _ => None,
    };
    match (kind, opposite(a), opposite(b)) {
        (OpKind::Add, _, Some(b)) => return sum(OpKind::Sub, a, b),
        (OpKind::Add, Some(a), _) => return sum(OpKind::Sub, b, a),
        (_, _, Some(b)) => return sum(OpKind::Add, a, b),
        _ => {}
    }
    match (kind, from_zero(a), from_zero(b)) {
        (OpKind::Add, _, Some((inner, part))) if known.is_never_negative_zero(a) => sum(inner, a, part),
        (OpKind::Add, Some((inner, part)), _) if known.is_never_negative_zero(b) => sum(inner, b, part),
        (OpKind::Sub, _, Some((OpKind::Add, part))) if known.is_never_negative_zero(a) => {
            sum(OpKind::Sub, a, part)
        }
        (OpKind::Sub, _, Some((_, part))) if known.is_never_negative_zero(a) => sum(OpKind::Add, a, part),
        _ => Simplified::Itself,
    }
}

/// Returns the bits of a literal that both float widths can represent; `None` in fixed point.
fn float_bits(known: &impl Known, literal: f64) -> Option<u64> {
    match known.numbers().system {
        RealSystem::F64 => Some(literal.to_bits()),
        RealSystem::F32 => Some((literal as f32).to_bits().into()),
        RealSystem::Fixed(_) => None,
    }
}

/// Returns true if a value is this float literal.
fn is_float(known: &impl Known, value: SsaValue, literal: f64) -> bool {
    known.real(value).is_some_and(|bits| float_bits(known, literal) == Some(bits))
}

/// Simplifies a float to the power of a literal.
fn power(known: &impl Known, a: SsaValue, exponent: SsaValue) -> Simplified {
    match (known.int(exponent), float_bits(known, 1.0)) {
        (Some(0), Some(one)) => Simplified::Real(one),
        (Some(1), Some(_)) => Simplified::Value(a),
        (Some(2), Some(_)) => Simplified::Op(OpKind::Mul, [a, a].into_iter().collect()),
        _ => Simplified::Itself,
    }
}

/// Simplifies a float times 1 or -1.
fn scaled(known: &impl Known, a: SsaValue, factor: SsaValue) -> Simplified {
    match () {
        () if is_float(known, factor, 1.0) => Simplified::Value(a),
        () if is_float(known, factor, -1.0) => Simplified::Op(OpKind::Neg, [a].into_iter().collect()),
        () => Simplified::Itself,
    }
}

/// Simplifies a float times its sign to its magnitude.
fn magnitude(known: &impl Known, a: SsaValue, sign: SsaValue) -> Simplified {
    let is = |value: SsaValue, literal: f64| is_float(known, value, literal);
    // Matches a select that compares `a` with 0, and returns its choices.
    let chosen = |value: SsaValue, order: Order| {
        let op = known.op(value).filter(|op| op.kind == OpKind::Choose)?;
        let &[condition, yes, no] = op.operands.as_slice() else { return None };
        let test = known.op(condition).filter(|test| test.kind == OpKind::Test(order))?;
        matches!(test.operands.as_slice(), &[tested, zero] if tested == a && is(zero, 0.0))
            .then_some((yes, no))
    };
    let is_sign = || {
        let (positive, other) = chosen(sign, Order::Gt)?;
        let (negative, zero) = chosen(other, Order::Lt)?;
        Some(is(positive, 1.0) && is(negative, -1.0) && is(zero, 0.0))
    };
    match is_sign() {
        Some(true) => Simplified::Op(OpKind::Magnitude, [a].into_iter().collect()),
        Some(false) | None => Simplified::Itself,
    }
}

/// Returns the operands that must be finite if the result is finite, because the operation propagates infinities and
/// NaN.
pub(super) fn finite_operands(op: &SsaOp) -> &[SsaValue] {
    let count = match op.kind {
        OpKind::Add | OpKind::Sub | OpKind::Mul | OpKind::Hypot => 2,
        OpKind::Div | OpKind::Neg | OpKind::Magnitude => 1,
        OpKind::Elementary(
            Elementary::Sqrt
            | Elementary::Log
            | Elementary::Sin
            | Elementary::Cos
            | Elementary::Sinh
            | Elementary::Cosh
            | Elementary::Floor
            | Elementary::Round,
        ) => 1,
        _ => 0,
    };
    op.operands.get(..count).unwrap_or_default()
}

/// Returns true if a value is a finite literal.
pub(super) fn is_finite_literal(function: &SsaFunction, value: SsaValue) -> bool {
    let Some(OpKind::Real(bits)) = function.op(value).map(|op| op.kind) else { return false };
    match function.numbers.system {
        RealSystem::F64 => f64::from_bits(bits).is_finite(),
        RealSystem::F32 => f32::from_bits(bits as u32).is_finite(),
        RealSystem::Fixed(_) => true,
    }
}

/// Returns true if a value is computed from finite reals by an operation that preserves finiteness.
pub(super) fn is_made_of_finite(
    function: &SsaFunction,
    value: SsaValue,
    mut is_finite: impl FnMut(SsaValue) -> bool,
) -> bool {
    let Some(op) = function.op(value).filter(|op| op.guard.is_none()) else { return false };
    let mut reals = op.operands.iter().zip(op.kind.facts().operands);
    let is_zero = |value: &SsaValue| function.op(*value).is_some_and(|op| op.kind == OpKind::Real(0));
    // A sum can't overflow if one operand is 0.
    let is_part = matches!(op.kind, OpKind::Add | OpKind::Sub) && op.operands.iter().any(is_zero);
    (is_part || keeps_finite(op.kind, function.numbers.system))
        && reals.all(|(&operand, &class)| class == Class::Int || is_finite(operand))
}

/// Returns true if an operation gives a finite result for finite operands.
fn keeps_finite(kind: OpKind, system: RealSystem) -> bool {
    match kind {
        OpKind::Neg | OpKind::Magnitude | OpKind::Choose => true,
        // The greatest integer is far below the greatest number of either width.
        OpKind::RealOf => matches!(system, RealSystem::F64 | RealSystem::F32),
        OpKind::Elementary(function) => matches!(
            function,
            Elementary::Sin
                | Elementary::Cos
                | Elementary::Atan
                | Elementary::Tanh
                | Elementary::Sigmoid
                | Elementary::Floor
                | Elementary::Round
                | Elementary::Cbrt
                | Elementary::Erf
        ),
        _ => false,
    }
}
