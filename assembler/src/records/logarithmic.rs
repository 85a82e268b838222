//! Statements with cells of the class `log`: products are sums of logarithms.
//!
//! ```text
//! mul t, x       →    add t.log, grid(log(abs(x)));  xor t.negative, x < 0
//! div t, u       →    sub t.log, u.log;              xor t.negative, u.negative
//! ```
//!
//! `grid(l)` is (l + 6144) - 6144, which rounds l to a multiple of 2⁻⁴⁰ in f64. Sums of such multiples are exact up to a
//! magnitude of 8192, which an `assert` checks. So `div` undoes `mul` to the last bit.

use reviver_isa::arith::Order;
use reviver_isa::function::Function;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::Update;

use super::classes::{NumberClass, grid};
use super::fields::{assertion, field, with_value};
use super::values::{NumberValue, Values, as_real};
use crate::build;
use crate::tree::{Expression, ExpressionKind, InstructionNode, Statement, UnaryOperator};

/// The largest magnitude up to which sums of logarithms are exact.
const MOST: f64 = 8192.0;

/// A factor or a divisor of a product.
struct Factor<'e> {
    value: &'e Expression,
    divides: bool,
}

/// Returns the statements for the logarithm and the sign.
pub(super) fn statements(
    values: &mut Values,
    instruction: &InstructionNode,
    target: &Expression,
    value: &Expression,
) -> Option<Vec<Statement>> {
    let (log, negative) = (field(target, "log"), field(target, "negative"));
    let toggle = |by: Expression| {
        with_value(&InstructionNode { update: Update::Xor, ..instruction.clone() }, &negative, by)
    };
    let divides = match instruction.update {
        Update::Mul => false,
        Update::Div => true,
        Update::Neg => return Some(vec![toggle(build::int(1))]),
        Update::Add | Update::Sub => {
            let label = "the logarithm of a sum isn't computed from logarithms without loss";
            let help = "use `mul` and `div`, and add the number to a real: `add y, toreal(t)`";
            return values.refuse_update(instruction, "a logarithm", (label, help));
        }
        _ => {
            let help = "use `mul`, `div`, `neg` or `swap`, or name a field: `t.log`, `t.negative`";
            return values.refuse_update(instruction, "a logarithm", ("a sign and a logarithm", help));
        }
    };
    if values.is_array(target) || values.is_array(value) {
        let message = "an array of logarithms is changed by a loop only".to_owned();
        return values.refuse(
            target.span,
            message,
            "a whole array",
            "write `for i in 0..len(t)` and `mul t[i], …`",
        );
    }
    let mut factors = Vec::new();
    let is_negated = split(values, value, divides, &mut factors);
    let mut made = Vec::new();
    for factor in factors {
        let update = if factor.divides { Update::Sub } else { Update::Add };
        let changed = InstructionNode { update, ..instruction.clone() };
        let (sum, sign) = match values.of(factor.value)? {
            NumberValue::Log { log, negative } => (log, negative),
            NumberValue::Real(real) => {
                let real = as_real(real);
                let less = build::applied(Function::Lt, vec![real.clone(), build::real(0.0)]);
                let magnitude = build::applied(Function::Abs, vec![real]);
                (grid(build::applied(Function::Log, vec![magnitude])), less)
            }
            NumberValue::Complex(_) => {
                let message = "expected a real, found a complex number".to_owned();
                return values.refuse(factor.value.span, message, "complex", "multiply by `abs(z)`");
            }
        };
        made.push(with_value(&changed, &log, sum));
        made.push(toggle(sign));
    }
    if is_negated {
        made.push(toggle(build::int(1)));
    }
    made.push(bounded(instruction, &log));
    Some(made)
}

/// Splits a product into factors. A part without logarithms is one factor. Returns true if the product is negated.
fn split<'e>(values: &Values, value: &'e Expression, divides: bool, factors: &mut Vec<Factor<'e>>) -> bool {
    if values.has_class(value, NumberClass::Log) {
        match &value.kind {
            ExpressionKind::Binary(BinaryOperator::Multiply, sides) => {
                let [a, b] = &**sides;
                return split(values, a, divides, factors) != split(values, b, divides, factors);
            }
            ExpressionKind::Binary(BinaryOperator::Divide, sides) => {
                let [a, b] = &**sides;
                return split(values, a, divides, factors) != split(values, b, !divides, factors);
            }
            ExpressionKind::Unary(UnaryOperator::Negate, inner) => {
                return !split(values, inner, divides, factors);
            }
            _ => {}
        }
    }
    factors.push(Factor { value, divides });
    false
}

/// Returns the statement that checks that the logarithm is exact.
fn bounded(instruction: &InstructionNode, log: &Expression) -> Statement {
    let magnitude = build::applied(Function::Abs, vec![log.clone()]);
    let mut condition = build::compared(Order::Le, magnitude, build::real(MOST));
    condition.span = instruction.mnemonic;
    assertion(instruction, condition)
}
