//! Tree traversal: every statement of a body, every expression of a statement. The functions of this module that end
//! with `_mut` visit the same parts, for modification.

use crate::tree::{
    Body, CallNode, Condition, ConditionKind, DeclarationNode, Directive, Expression, ExpressionKind, For,
    Initial, Operands, ShapeNode, Statement, StatementNode, Subscript, TaskKind,
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
        Directive::Record { .. }
        | Directive::Real { .. }
        | Directive::Word { .. }
        | Directive::Inverse
        | Directive::Include { .. }
        | Directive::Lines(_)
        | Directive::NoLabels
        | Directive::Path(_)
        | Directive::Strategy(_)
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

/// Visits an expression, and then its parts.
pub(crate) fn in_expression<'t>(expression: &'t Expression, visit: &mut impl FnMut(&'t Expression)) {
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
        ExpressionKind::InText(application) => in_all(&application.sources, visit),
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

/// Visits the expressions of a statement for modification, without those of nested statements. The parts of an expression
/// are visited before the expression itself.
pub(crate) fn expressions_mut(statement: &mut Statement, visit: &mut impl FnMut(&mut Expression)) {
    match statement {
        Statement::Directive(directive) => in_directive_mut(directive, visit),
        Statement::Instruction(instruction) => match &mut instruction.operands {
            Operands::Cells(list) => in_all_mut(list, visit),
            Operands::Condition(condition) | Operands::Branch { condition, .. } => {
                in_condition_mut(condition, visit);
            }
            Operands::Call(call) => in_all_mut(&mut call.arguments, visit),
        },
        Statement::MacroUse { arguments, .. } => in_all_mut(arguments, visit),
        Statement::If(tree) => {
            [&mut tree.entry, &mut tree.exit].into_iter().for_each(|c| in_condition_mut(c, visit));
        }
        Statement::Loop(tree) => {
            [&mut tree.entry, &mut tree.exit].into_iter().for_each(|c| in_condition_mut(c, visit));
        }
        Statement::For(tree) => in_bounds_mut(tree, visit),
        Statement::Tasks(tree) => match &mut tree.kind {
            TaskKind::Calls(calls) => {
                calls.iter_mut().for_each(|CallNode { arguments, .. }| in_all_mut(arguments, visit));
            }
            TaskKind::Rounds(rounds) => in_bounds_mut(rounds, visit),
        },
        Statement::CallVia(call) => {
            in_expression_mut(&mut call.cell, visit);
            in_all_mut(&mut call.arguments, visit);
        }
        Statement::Local(local) | Statement::Delocal(local) => {
            in_all_mut(&mut local.shape, visit);
            in_all_mut(&mut local.sources, visit);
        }
        Statement::Empty | Statement::Compute(_) | Statement::Procedure(_) | Statement::Macro(_) => {}
    }
}

/// Visits the expressions of a body for modification, including those of nested statements.
pub(crate) fn each_expression_mut(body: &mut Body, visit: &mut impl FnMut(&mut Expression)) {
    for node in body {
        expressions_mut(&mut node.statement, visit);
        node.statement.bodies_mut().into_iter().for_each(|body| each_expression_mut(body, visit));
    }
}

fn in_bounds_mut(tree: &mut For, visit: &mut impl FnMut(&mut Expression)) {
    [&mut tree.from, &mut tree.to]
        .into_iter()
        .chain(&mut tree.step)
        .for_each(|e| in_expression_mut(e, visit));
}

fn in_directive_mut(directive: &mut Directive, visit: &mut impl FnMut(&mut Expression)) {
    match directive {
        Directive::Globals { declarations, .. } | Directive::Ancillas(declarations) => {
            declarations.iter_mut().for_each(|declaration| in_declaration_mut(declaration, visit));
        }
        Directive::Const { value, .. } | Directive::Tolerance { value } | Directive::Limit { value, .. } => {
            in_expression_mut(value, visit);
        }
        _ => {}
    }
}

fn in_declaration_mut(declaration: &mut DeclarationNode, visit: &mut impl FnMut(&mut Expression)) {
    if let ShapeNode::Lengths(lengths) = &mut declaration.shape {
        in_all_mut(lengths, visit);
    }
    for initial in declaration.initial.iter_mut().chain(&mut declaration.default) {
        match initial {
            Initial::Every(value) => in_expression_mut(value, visit),
            Initial::Each(values) => in_all_mut(values, visit),
        }
    }
}

fn in_condition_mut(condition: &mut Condition, visit: &mut impl FnMut(&mut Expression)) {
    match &mut condition.kind {
        ConditionKind::Always | ConditionKind::Forgotten => {}
        ConditionKind::Compare(_, a, b) => [a, b].into_iter().for_each(|side| in_expression_mut(side, visit)),
        ConditionKind::Not(inner) => in_condition_mut(inner, visit),
        ConditionKind::And(a, b) | ConditionKind::Or(a, b) => {
            [a, b].into_iter().for_each(|part| in_condition_mut(part, visit));
        }
    }
}

fn in_all_mut(list: &mut [Expression], visit: &mut impl FnMut(&mut Expression)) {
    list.iter_mut().for_each(|expression| in_expression_mut(expression, visit));
}

/// Visits the parts of an expression for modification, and then the expression itself.
pub(crate) fn in_expression_mut(expression: &mut Expression, visit: &mut impl FnMut(&mut Expression)) {
    match &mut expression.kind {
        ExpressionKind::Int { .. }
        | ExpressionKind::LongInt { .. }
        | ExpressionKind::Real(_)
        | ExpressionKind::Name { .. } => {}
        ExpressionKind::Length(length) => {
            length.dimension.iter_mut().for_each(|part| in_expression_mut(part, visit));
        }
        ExpressionKind::Element(element) => {
            element.subscripts.iter_mut().for_each(|subscript| in_subscript_mut(subscript, visit));
        }
        ExpressionKind::Unary(_, a) => in_expression_mut(a, visit),
        ExpressionKind::Binary(_, sides) => in_all_mut(&mut **sides, visit),
        ExpressionKind::Apply(application) => in_all_mut(&mut application.sources, visit),
        ExpressionKind::InText(application) => in_all_mut(&mut application.sources, visit),
    }
    visit(expression);
}

fn in_subscript_mut(subscript: &mut Subscript, visit: &mut impl FnMut(&mut Expression)) {
    match subscript {
        Subscript::At(index) => in_expression_mut(index, visit),
        Subscript::All => {}
        Subscript::Span { from, to, step } => {
            [from, to].into_iter().chain(step).for_each(|part| in_expression_mut(part, visit));
        }
    }
}
