//! Operations on 64-bit integers as expressions over pairs of 32-bit words. This module is independent of the helper
//! functions' implementation.

use naga::{BinaryOperator, MathFunction, Scalar, ScalarKind, UnaryOperator};

use super::types::{is_wide_integer, refused};
use crate::error::BatchError;

/// Returns the suffix of a helper function's name for signed or unsigned integers.
fn sign(kind: ScalarKind) -> &'static str {
    if kind == ScalarKind::Sint { "s" } else { "u" }
}

/// Returns the expression of an operation on two pairs, or on a pair and a shift distance.
pub(super) fn binary(
    operator: BinaryOperator,
    kind: ScalarKind,
    a: &str,
    b: &str,
) -> Result<String, BatchError> {
    let sign = sign(kind);
    Ok(match operator {
        BinaryOperator::Add => format!("pair_add({a}, {b})"),
        BinaryOperator::Subtract => format!("pair_sub({a}, {b})"),
        BinaryOperator::Multiply => format!("pair_mul({a}, {b})"),
        BinaryOperator::Divide => format!("pair_div_{sign}({a}, {b})"),
        BinaryOperator::Modulo => format!("pair_rem_{sign}({a}, {b})"),
        BinaryOperator::Equal => format!("pair_eq({a}, {b})"),
        BinaryOperator::NotEqual => format!("!pair_eq({a}, {b})"),
        BinaryOperator::Less => format!("pair_lt_{sign}({a}, {b})"),
        BinaryOperator::LessEqual => format!("!pair_lt_{sign}({b}, {a})"),
        BinaryOperator::Greater => format!("pair_lt_{sign}({b}, {a})"),
        BinaryOperator::GreaterEqual => format!("!pair_lt_{sign}({a}, {b})"),
        BinaryOperator::ShiftLeft => format!("pair_shl({a}, {b})"),
        BinaryOperator::ShiftRight => format!("pair_shr_{sign}({a}, {b})"),
        BinaryOperator::And | BinaryOperator::ExclusiveOr | BinaryOperator::InclusiveOr => {
            bitwise(operator, a, b)?
        }
        BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => {
            return Err(refused(&format!("{operator:?} of 64-bit integers")));
        }
    })
}

/// Returns the expression of a bitwise operation. The expression is the same for one word and for a pair.
pub(super) fn bitwise(operator: BinaryOperator, a: &str, b: &str) -> Result<String, BatchError> {
    match operator {
        BinaryOperator::And => Ok(format!("{a} & {b}")),
        BinaryOperator::ExclusiveOr => Ok(format!("{a} ^ {b}")),
        BinaryOperator::InclusiveOr => Ok(format!("{a} | {b}")),
        other => Err(refused(&format!("{other:?} of vectors of 64-bit integers"))),
    }
}

pub(super) fn unary(operator: UnaryOperator, a: &str) -> Result<String, BatchError> {
    match operator {
        UnaryOperator::Negate => Ok(format!("pair_neg({a})")),
        UnaryOperator::BitwiseNot => Ok(format!("~{a}")),
        UnaryOperator::LogicalNot => Err(refused("`!` of a 64-bit integer")),
    }
}

pub(super) fn math(
    function: MathFunction,
    kind: ScalarKind,
    arguments: &[String],
) -> Result<String, BatchError> {
    match (function, kind, arguments) {
        (MathFunction::Min, _, [a, b]) => Ok(format!("pair_min_{}({a}, {b})", sign(kind))),
        (MathFunction::Max, _, [a, b]) => Ok(format!("pair_max_{}({a}, {b})", sign(kind))),
        (MathFunction::Abs, ScalarKind::Sint, [a]) => Ok(format!("pair_abs({a})")),
        (MathFunction::Abs, ScalarKind::Uint, [a]) => Ok(a.clone()),
        _ => Err(refused(&format!("{function:?} of 64-bit integers"))),
    }
}

/// Returns the expression of a conversion between two types, at least one of which is a 64-bit integer.
pub(super) fn converted(from: Scalar, to: Scalar, a: &str) -> Result<String, BatchError> {
    let unknown = || refused(&format!("{to:?} of {from:?}"));
    if is_wide_integer(from) {
        return Ok(match (to.kind, to.width) {
            (ScalarKind::Sint | ScalarKind::Uint, 8) => a.to_owned(),
            (ScalarKind::Uint, 4) => format!("{a}.x"),
            (ScalarKind::Sint, 4) => format!("bitcast<i32>({a}.x)"),
            (ScalarKind::Float, 4) => format!("pair_float_{}({a})", sign(from.kind)),
            (ScalarKind::Bool, _) => format!("any({a} != vec2<u32>())"),
            _ => return Err(unknown()),
        });
    }
    Ok(match (from.kind, from.width) {
        (ScalarKind::Uint, 4) => format!("vec2<u32>({a}, 0u)"),
        (ScalarKind::Sint, 4) => format!("vec2<u32>(bitcast<u32>({a}), bitcast<u32>({a} >> 31u))"),
        (ScalarKind::Bool, _) => format!("vec2<u32>(select(0u, 1u, {a}), 0u)"),
        (ScalarKind::Float, 4) if to.kind == ScalarKind::Sint => format!("pair_of_float({a})"),
        _ => return Err(unknown()),
    })
}
