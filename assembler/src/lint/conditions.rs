//! Warnings about comparisons whose outcome the text determines: comparisons of two numbers, or of a cell with itself.
//! Named constants don't count as numbers, because a caller may supply other values for them.

use reviver_isa::arith::Order;
use reviver_isa::codes::ProblemCode;

use super::own::is_own;
use crate::diagnostic::{Collection, Diagnostic};
use crate::format::spelled;
use crate::source::Span;
use crate::tree::{Body, Condition, ConditionKind, Expression, ExpressionKind, Operands, Statement};

pub(super) fn warn(body: &Body, warnings: &mut Collection) {
    for node in body {
        match &node.statement {
            Statement::If(tree) => {
                [&tree.entry, &tree.exit].into_iter().for_each(|c| condition(c, warnings));
            }
            Statement::Loop(tree) => {
                [&tree.entry, &tree.exit].into_iter().for_each(|c| condition(c, warnings));
            }
            Statement::Instruction(instruction) => match &instruction.operands {
                Operands::Condition(tested) | Operands::Branch { condition: tested, .. } => {
                    condition(tested, warnings);
                }
                Operands::Cells(_) | Operands::Call(_) => {}
            },
            _ => {}
        }
        node.statement.bodies().into_iter().for_each(|inner| warn(inner, warnings));
    }
}

fn condition(tested: &Condition, warnings: &mut Collection) {
    match &tested.kind {
        ConditionKind::Always | ConditionKind::Forgotten => {}
        ConditionKind::Not(inner) => condition(inner, warnings),
        ConditionKind::And(a, b) | ConditionKind::Or(a, b) => {
            [a, b].into_iter().for_each(|part| condition(part, warnings));
        }
        ConditionKind::Compare(order, a, b) => {
            if let Some(outcome) = outcome(*order, a, b) {
                report(tested.span, outcome, warnings);
            }
        }
    }
}

fn report(place: Span, outcome: bool, warnings: &mut Collection) {
    if !is_own(place) {
        return;
    }
    let (message, label) = match outcome {
        true => ("this comparison always holds", "always true"),
        false => ("this comparison never holds", "always false"),
    };
    let warning = Diagnostic::warning(ProblemCode::AlwaysTheSame, message, place, label);
    warnings.add(warning.help("compare a cell that changes, or delete the condition"));
}

/// Returns the outcome of a comparison, if the text determines it.
fn outcome(order: Order, a: &Expression, b: &Expression) -> Option<bool> {
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return Some(order.holds(a, b));
    }
    let is_cell =
        |side: &Expression| matches!(side.kind, ExpressionKind::Name { .. } | ExpressionKind::Element(_));
    (is_cell(a) && is_cell(b) && spelled(a) == spelled(b)).then(|| order.holds(0, 0))
}

/// Returns the value of an integer literal that fits into 32 bits, otherwise `None`. Comparisons of larger
/// literals aren't checked.
fn number(side: &Expression) -> Option<i32> {
    match &side.kind {
        ExpressionKind::Int { value, .. } => i32::try_from(*value).ok(),
        _ => None,
    }
}
