//! Evaluates constant integer expressions, such as the lengths of arrays.

use std::collections::HashMap;

use compact_str::CompactString;
use reviver_assembler::tree::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};

/// The expressions of constants by name.
pub type NamedConstants = HashMap<CompactString, Expression>;

/// The maximum depth of constants that are defined by other constants.
const DEEPEST: u32 = 64;

/// Returns the value of an expression, or `None` if it isn't an integer constant.
pub fn value(expression: &Expression, constants: &NamedConstants) -> Option<i128> {
    value_in(expression, constants, DEEPEST)
}

fn value_in(expression: &Expression, constants: &NamedConstants, depth: u32) -> Option<i128> {
    let depth = depth.checked_sub(1)?;
    let of = |part: &Expression| value_in(part, constants, depth);
    match &expression.kind {
        ExpressionKind::Int { value, .. } => Some(i128::from(*value)),
        ExpressionKind::Name { name, .. } => of(constants.get(name.as_str())?),
        ExpressionKind::Unary(UnaryOperator::Negate, operand) => of(operand)?.checked_neg(),
        ExpressionKind::Unary(UnaryOperator::Complement, operand) => of(operand).map(|value| !value),
        ExpressionKind::Binary(operator, sides) => {
            let [left, right] = &**sides;
            binary(*operator, of(left)?, of(right)?)
        }
        _ => None,
    }
}

fn binary(operator: BinaryOperator, a: i128, b: i128) -> Option<i128> {
    let shift = || u32::try_from(b).ok();
    match operator {
        BinaryOperator::Add => a.checked_add(b),
        BinaryOperator::Subtract => a.checked_sub(b),
        BinaryOperator::Multiply => a.checked_mul(b),
        BinaryOperator::Divide => a.checked_div(b),
        BinaryOperator::Remainder => a.checked_rem(b),
        BinaryOperator::ShiftLeft => a.checked_shl(shift()?),
        BinaryOperator::ShiftRight => a.checked_shr(shift()?),
        BinaryOperator::And => Some(a & b),
        BinaryOperator::Xor => Some(a ^ b),
        BinaryOperator::Or => Some(a | b),
    }
}
