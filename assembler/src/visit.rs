//! Tree traversal: every statement of a body, every expression of a statement.

use crate::tree::{
    Condition, ConditionKind, DeclarationNode, Directive, Expression, ExpressionKind, For, Initial, Operands,
    Statement, StatementNode, Subscript, TaskKind,
};

/// Visits the statements of a body, including nested ones.
pub(crate) fn statements<'t>(body: &'t [StatementNode], visit: &mut impl FnMut(&'t Statement)) {
    for node in body {
        visit(&node.statement);
        node.statement.bodies().into_iter().for_each(|inner| statements(inner, visit));
    }
}

/// Visits the expressions of a statement and their parts, without those of nested statements.
pub(crate) fn expressions<'t>(statement: &'t Statement, visit: &mut impl FnMut(&'t Expression)) {
    match statement {
        Statement::Directive(directive) => in_directive(directive, visit),
        Statement::Instruction(instruction) => in_operands(&instruction.operands, visit),
        Statement::MacroUse { arguments, .. } => in_all(arguments, visit),
        Statement::If(tree) => [&tree.entry, &tree.exit].into_iter().for_each(|c| in_condition(c, visit)),
        Statement::Loop(tree) => [&tree.entry, &tree.exit].into_iter().for_each(|c| in_condition(c, visit)),
        Statement::For(tree) => in_bounds(tree, visit),
        Statement::Tasks(tree) => match &tree.kind {
            TaskKind::Calls(calls) => calls.iter().for_each(|call| in_all(&call.arguments, visit)),
            TaskKind::Rounds(rounds) => in_bounds(rounds, visit),
        },
        Statement::CallVia(call) => {
            in_expression(&call.cell, visit);
            in_all(&call.arguments, visit);
        }
        Statement::Local(local) | Statement::Delocal(local) => {
            in_all(&local.shape, visit);
            in_all(&local.sources, visit);
        }
        Statement::Empty | Statement::Compute(_) | Statement::Procedure(_) | Statement::Macro(_) => {}
    }
}

fn in_bounds<'t>(tree: &'t For, visit: &mut impl FnMut(&'t Expression)) {
    [&tree.from, &tree.to].into_iter().chain(&tree.step).for_each(|e| in_expression(e, visit));
}

fn in_directive<'t>(directive: &'t Directive, visit: &mut impl FnMut(&'t Expression)) {
    match directive {
        Directive::Globals { declarations, .. } | Directive::Ancillas(declarations) => {
            declarations.iter().for_each(|declaration| in_declaration(declaration, visit));
        }
        Directive::Const { value, .. } | Directive::Tolerance { value } | Directive::Limit { value, .. } => {
            in_expression(value, visit);
        }
        Directive::Real { .. }
        | Directive::Word { .. }
        | Directive::Inverse
        | Directive::Include { .. }
        | Directive::Lines(_)
        | Directive::NoLabels
        | Directive::Path(_)
        | Directive::File { .. }
        | Directive::Block(_)
        | Directive::Scope(_)
        | Directive::Value(_) => {}
    }
}

fn in_declaration<'t>(declaration: &'t DeclarationNode, visit: &mut impl FnMut(&'t Expression)) {
    in_all(declaration.shape.lengths(), visit);
    for initial in declaration.initial.iter().chain(&declaration.default) {
        match initial {
            Initial::Every(value) => in_expression(value, visit),
            Initial::Each(values) => in_all(values, visit),
        }
    }
}

fn in_operands<'t>(operands: &'t Operands, visit: &mut impl FnMut(&'t Expression)) {
    match operands {
        Operands::Cells(list) => in_all(list, visit),
        Operands::Condition(condition) | Operands::Branch { condition, .. } => in_condition(condition, visit),
        Operands::Call(call) => in_all(&call.arguments, visit),
    }
}

fn in_condition<'t>(condition: &'t Condition, visit: &mut impl FnMut(&'t Expression)) {
    match &condition.kind {
        ConditionKind::Always | ConditionKind::Forgotten => {}
        ConditionKind::Compare(_, a, b) => {
            [&**a, &**b].into_iter().for_each(|side| in_expression(side, visit))
        }
        ConditionKind::Not(inner) => in_condition(inner, visit),
        ConditionKind::And(a, b) | ConditionKind::Or(a, b) => {
            [a, b].into_iter().for_each(|part| in_condition(part, visit));
        }
    }
}

fn in_all<'t>(list: &'t [Expression], visit: &mut impl FnMut(&'t Expression)) {
    list.iter().for_each(|expression| in_expression(expression, visit));
}

fn in_expression<'t>(expression: &'t Expression, visit: &mut impl FnMut(&'t Expression)) {
    visit(expression);
    match &expression.kind {
        ExpressionKind::Int { .. }
        | ExpressionKind::LongInt { .. }
        | ExpressionKind::Real(_)
        | ExpressionKind::Name { .. } => {}
        ExpressionKind::Length(length) => length.dimension.iter().for_each(|part| in_expression(part, visit)),
        ExpressionKind::Element(element) => {
            element.subscripts.iter().for_each(|subscript| in_subscript(subscript, visit));
        }
        ExpressionKind::Unary(_, a) => in_expression(a, visit),
        ExpressionKind::Binary(_, sides) => in_all(&**sides, visit),
        ExpressionKind::Apply(application) => in_all(&application.sources, visit),
    }
}

fn in_subscript<'t>(subscript: &'t Subscript, visit: &mut impl FnMut(&'t Expression)) {
    match subscript {
        Subscript::At(index) => in_expression(index, visit),
        Subscript::All => {}
        Subscript::Span { from, to, step } => {
            [from, to].into_iter().chain(step).for_each(|part| in_expression(part, visit));
        }
    }
}
