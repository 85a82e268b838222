//! Statements with cells of the class `tropical`: max-plus numbers. Their product is the sum of the reals, and their sum is
//! the larger real; if two are equal, the first.
//!
//! ```text
//! mul t, a * b      →    add t, a + b
//! mul.sum t, a, b   →    add t, max(a, b)
//! ```

use reviver_isa::function::Function;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::Update;

use super::classes::NumberClass;
use super::fields::with_value;
use super::values::Values;
use crate::build;
use crate::tree::{Expression, ExpressionKind, InstructionNode, Statement, UnaryOperator};

/// Returns the statement for the real.
pub(super) fn statements(
    values: &mut Values,
    instruction: &InstructionNode,
    target: &Expression,
    value: &Expression,
) -> Option<Vec<Statement>> {
    let update = match instruction.update {
        Update::Mul => Update::Add,
        Update::Div => Update::Sub,
        Update::Overwrite => Update::Overwrite,
        Update::Add | Update::Sub => {
            let label = "the maximum forgets the smaller number";
            let help = "multiply by a sum: `mul.sum t, a, b` is t += max(a, b)";
            return values.refuse_update(instruction, "a tropical cell", (label, help));
        }
        _ => {
            let help = "use `mul`, `div` or `swap`";
            return values.refuse_update(instruction, "a tropical cell", ("a max-plus number", help));
        }
    };
    let value = max_plus(values, value)?;
    let changed = InstructionNode { update, ..instruction.clone() };
    Some(vec![with_value(&changed, target, value)])
}

/// Returns the real of a tropical expression. A function of reals only is a real.
fn max_plus(values: &mut Values, value: &Expression) -> Option<Expression> {
    let (function, sources) = match &value.kind {
        ExpressionKind::Binary(operator, sides) => (operator.function(), &sides[..]),
        ExpressionKind::Apply(application) => (application.function, &application.sources[..]),
        ExpressionKind::InText(application) => {
            let message = format!("`{}` of tropical numbers can't be computed", application.function.name());
            return values.refuse(value.span, message, "a function of arrays", "write a loop");
        }
        ExpressionKind::Unary(UnaryOperator::Negate, inner) => {
            let inner = max_plus(values, inner)?;
            return Some(Expression { span: value.span, ..build::negated(inner) });
        }
        _ => return Some(value.clone()),
    };
    let operation = match function {
        Function::Mul => Function::Sum,
        Function::Div => Function::Diff,
        Function::Sum | Function::Max => Function::Max,
        Function::Copy => Function::Copy,
        _ if !values.has_class(value, NumberClass::Tropical) => return values.real(value),
        _ => {
            let message = format!("`{}` isn't an operation of tropical numbers", function.name());
            let help = "use `*`, `/` and `+`, or compute the real into a cell first";
            return values.refuse(value.span, message, "a max-plus expression", help);
        }
    };
    let sources = sources.iter().map(|source| max_plus(values, source)).collect::<Option<Vec<_>>>()?;
    let made = match (operation, sources.as_slice()) {
        (Function::Sum, [a, b]) => build::binary(BinaryOperator::Add, a.clone(), b.clone()),
        (Function::Diff, [a, b]) => build::binary(BinaryOperator::Subtract, a.clone(), b.clone()),
        _ => build::applied(operation, sources),
    };
    Some(Expression { span: value.span, ..made })
}
