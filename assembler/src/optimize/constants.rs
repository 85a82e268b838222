//! Constant folding: operations whose result follows from one constant operand, and conditions with constant sides.
//! Operations on two constants stay, because the assembler evaluates them.

use reviver_isa::arith::Order;
use reviver_isa::function::Function;
use reviver_isa::update::{Action, Update};

use super::accesses::{operands, target_count};
use super::aliases::may_alias;
use super::program::ProgramInPasses;
use crate::build;
use crate::scopes::Names;
use crate::tree::{
    Body, Condition, ConditionKind, Expression, ExpressionKind, If, InstructionNode, Operands, Statement,
    StatementNode, UnaryOperator,
};
use crate::visit;

/// Folds operations with a constant operand. Returns true if the program has changed.
pub(super) fn fold(program: &mut ProgramInPasses) -> bool {
    let names = program.definitions().names;
    let mut changed = false;
    program.rewrite(&names, &mut |names: &Names, mut node: StatementNode, made: &mut Body| {
        changed |= replace(names, &mut node.statement, &mut |expression| folded(names, expression));
        match node.statement {
            _ if node.label.is_some() => made.push(node),
            Statement::Instruction(ref instruction) if changes_nothing(instruction) => changed = true,
            Statement::If(ref tree) if has_constant_branch(tree) => {
                changed = true;
                made.extend(taken_branch(node));
            }
            _ => made.push(node),
        }
    });
    changed
}

/// Replaces `a * (1 / b)` by `a / b`, which is rounded once instead of twice. Returns true if the program has changed.
pub(super) fn divide(program: &mut ProgramInPasses) -> bool {
    let names = program.definitions().names;
    let mut changed = false;
    program.rewrite(&names, &mut |names: &Names, mut node: StatementNode, made: &mut Body| {
        // A value that is computed twice, such as that of a `local`, must be computed by the same operations.
        if matches!(&node.statement, Statement::Instruction(instruction) if adds(instruction)) {
            changed |= replace(names, &mut node.statement, &mut quotient);
        }
        made.push(node);
    });
    changed
}

/// Replaces parts of the expressions that a statement reads. Returns true if the statement has changed.
fn replace(
    names: &Names,
    statement: &mut Statement,
    each: &mut impl FnMut(&Expression) -> Option<Expression>,
) -> bool {
    let mut changed = false;
    if let Statement::Instruction(instruction) = statement
        && let Some((targets, sources)) = operands(instruction)
        && may_alias(names, targets, sources)
    {
        return false;
    }
    match statement {
        Statement::Instruction(InstructionNode {
            operands: Operands::Branch { .. } | Operands::Call(_),
            ..
        }) => {}
        Statement::Instruction(_)
        | Statement::Local(_)
        | Statement::Delocal(_)
        | Statement::If(_)
        | Statement::Loop(_)
        | Statement::For(_) => {
            visit::expressions_mut(statement, &mut |expression| changed |= replaced(expression, each));
        }
        _ => {}
    }
    match statement {
        Statement::Instruction(instruction) => {
            let first = target_count(instruction);
            if let Operands::Cells(cells) = &mut instruction.operands
                && let Some((targets, sources)) = cells.split_at_checked(first)
                && let Some(value) = replaced_whole(instruction.function, sources, each)
            {
                *cells = targets.iter().cloned().chain([value]).collect();
                instruction.function = Function::Copy;
                changed = true;
            }
        }
        Statement::Local(local) | Statement::Delocal(local) => {
            if let Some(value) = replaced_whole(local.function, &local.sources, each) {
                (local.function, local.sources) = (Function::Copy, vec![value]);
                changed = true;
            }
        }
        _ => {}
    }
    changed
}

/// Replaces an expression while a rule applies. Returns true if a rule did.
fn replaced(expression: &mut Expression, each: &mut impl FnMut(&Expression) -> Option<Expression>) -> bool {
    let mut changed = false;
    while let Some(new) = each(expression) {
        *expression = new;
        changed = true;
    }
    changed
}

/// Returns the expression that replaces a function of some sources, if a rule applies.
fn replaced_whole(
    function: Function,
    sources: &[Expression],
    each: &mut impl FnMut(&Expression) -> Option<Expression>,
) -> Option<Expression> {
    if function == Function::Copy || sources.is_empty() {
        return None;
    }
    let mut whole = build::applied(function, sources.to_vec());
    replaced(&mut whole, each).then_some(whole)
}

/// Returns an equal expression with fewer operations. Returns `None` if no rule applies.
fn folded(names: &Names, expression: &Expression) -> Option<Expression> {
    match &expression.kind {
        ExpressionKind::Unary(UnaryOperator::Negate, operand) => match &operand.kind {
            ExpressionKind::Unary(UnaryOperator::Negate, inner) => Some((**inner).clone()),
            _ => None,
        },
        ExpressionKind::Binary(operator, sides) => {
            let [a, b] = &**sides;
            match operator.function() {
                Function::Mul if is_number(a, 1) => same_class(names, expression, b),
                Function::Mul | Function::Div if is_number(b, 1) => same_class(names, expression, a),
                Function::Sum if is_number(a, 0) => same_class(names, expression, b),
                Function::Sum | Function::Diff if is_number(b, 0) => same_class(names, expression, a),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns a part of an expression if it has the same class as the expression.
fn same_class(names: &Names, expression: &Expression, part: &Expression) -> Option<Expression> {
    (names.kind(expression).class == names.kind(part).class).then(|| part.clone())
}

/// Returns `a / b` for `a * (1 / b)` and for `(1 / b) * a`.
fn quotient(expression: &Expression) -> Option<Expression> {
    let ExpressionKind::Binary(operator, sides) = &expression.kind else { return None };
    if operator.function() != Function::Mul {
        return None;
    }
    let inverse_of = |expression: &Expression| match &expression.kind {
        ExpressionKind::Binary(operator, sides)
            if operator.function() == Function::Div && is_real_one(&sides[0]) =>
        {
            Some(sides[1].clone())
        }
        _ => None,
    };
    let [a, b] = &**sides;
    match (inverse_of(a), inverse_of(b)) {
        (_, Some(divisor)) => Some(build::applied(Function::Div, vec![a.clone(), divisor])),
        (Some(divisor), None) => Some(build::applied(Function::Div, vec![b.clone(), divisor])),
        (None, None) => None,
    }
}

/// Returns true for the literal 1.0. The integer 1 divided by another one is truncated.
fn is_real_one(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Real(1.0))
}

fn adds(instruction: &InstructionNode) -> bool {
    matches!(instruction.update, Update::Add | Update::Sub)
}

fn is_number(expression: &Expression, wanted: u8) -> bool {
    number(expression) == Some(f64::from(wanted))
}

/// Returns the number that a literal denotes, if it is the same in all number systems: a small whole number.
fn number(expression: &Expression) -> Option<f64> {
    const LARGEST: f64 = 127.0;
    let number = match expression.kind {
        ExpressionKind::Int { value, pattern: false } => u8::try_from(value).ok().map(f64::from),
        ExpressionKind::Real(value) if value.fract() == 0.0 => Some(value),
        _ => None,
    };
    number.filter(|number| number.abs() <= LARGEST)
}

/// Returns true if an instruction adds 0.
fn changes_nothing(instruction: &InstructionNode) -> bool {
    let Operands::Cells(cells) = &instruction.operands else {
        return matches!(&instruction.operands, Operands::Condition(it) if constant(it) == Some(true));
    };
    let is_update = instruction.update.action() == Action::Accumulate
        && matches!(instruction.update, Update::Add | Update::Sub | Update::Xor | Update::Rol | Update::Ror);
    is_update && instruction.function == Function::Copy && cells.get(1).is_some_and(|it| is_number(it, 0))
}

/// Returns the truth of a condition whose sides are literals.
fn constant(condition: &Condition) -> Option<bool> {
    match &condition.kind {
        ConditionKind::Always => Some(true),
        ConditionKind::Forgotten => None,
        ConditionKind::Compare(order, a, b) => {
            let (a, b) = (number(a)?, number(b)?);
            Some(match order {
                Order::Eq => a == b,
                Order::Ne => a != b,
                Order::Lt => a < b,
                Order::Le => a <= b,
                Order::Gt => a > b,
                Order::Ge => a >= b,
            })
        }
        ConditionKind::Not(inner) => constant(inner).map(|truth| !truth),
        ConditionKind::And(a, b) => match (constant(a), constant(b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        ConditionKind::Or(a, b) => match (constant(a), constant(b)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
    }
}

/// Returns true if the same branch of an `if` is taken in all runs, and its variables can be declared outside of it.
fn has_constant_branch(tree: &If) -> bool {
    let Some(truth) = constant(&tree.entry).filter(|truth| constant(&tree.exit) == Some(*truth)) else {
        return false;
    };
    let taken = if truth { Some(&tree.then) } else { tree.otherwise.as_ref() };
    taken.is_none_or(|body| !body.iter().any(|node| matches!(node.statement, Statement::Local(_))))
}

fn taken_branch(node: StatementNode) -> Body {
    let Statement::If(tree) = node.statement else { return Body::new() };
    match constant(&tree.entry) {
        Some(true) => tree.then,
        _ => tree.otherwise.unwrap_or_default(),
    }
}
