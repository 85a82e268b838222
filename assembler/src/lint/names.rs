//! Constants, macros and parameters that nothing names. A name that begins with `_` says that this is
//! meant.

use std::collections::HashSet;

use super::own::is_own;
use crate::diagnostic::{Collection, Diagnostic};
use crate::tree::{
    Body, Condition, ConditionKind, DeclarationNode, Directive, Expression, ExpressionKind, Initial, Name,
    Operands, Statement, Subscript,
};

/// Names as they are used.
type UsedNames<'t> = HashSet<&'t str>;

pub(super) fn warn(body: &Body, warnings: &mut Collection) {
    let mut used = UsedNames::new();
    in_body(body, &mut used);
    let ruled = ruled(body);
    for node in body {
        match &node.statement {
            Statement::Directive(Directive::Const { name, .. }) if is_unused(name, &used) => {
                let message = format!("nothing uses the constant `{}`", name.text);
                warnings.add(Diagnostic::warning(message, name.span, "defined here"));
            }
            Statement::Macro(tree) => {
                if is_unused(&tree.name, &used) {
                    let message = format!("nothing uses the macro `{}`", tree.name.text);
                    warnings.add(Diagnostic::warning(message, tree.name.span, "defined here"));
                }
                parameters(&tree.name, &tree.parameters.iter().collect::<Vec<_>>(), &tree.body, warnings);
            }
            // The parameters of a rule are those of what it stands in for.
            Statement::Procedure(tree) if !ruled.contains(tree.name.text.as_str()) && tree.rule.is_none() => {
                let names: Vec<&Name> = tree.parameters.iter().map(|parameter| &parameter.name).collect();
                parameters(&tree.name, &names, &tree.body, warnings);
            }
            _ => {}
        }
    }
}

/// Procedures that stand in for the adjoint of others.
fn ruled(body: &Body) -> HashSet<&str> {
    let procedures = body.iter().filter_map(|node| match &node.statement {
        Statement::Procedure(tree) => Some(tree),
        _ => None,
    });
    procedures.filter_map(|tree| tree.rule.as_ref()).map(|rule| rule.text.as_str()).collect()
}

fn is_unused(name: &Name, used: &UsedNames<'_>) -> bool {
    is_own(name.span) && !name.text.starts_with('_') && !used.contains(name.text.as_str())
}

fn parameters(owner: &Name, parameters: &[&Name], body: &Body, warnings: &mut Collection) {
    if !is_own(owner.span) || parameters.is_empty() {
        return;
    }
    let mut used = UsedNames::new();
    in_body(body, &mut used);
    for parameter in parameters.iter().filter(|parameter| is_unused(parameter, &used)) {
        let message = format!("`{}` does not use its parameter `{}`", owner.text, parameter.text);
        let warning = Diagnostic::warning(message, parameter.span, "declared here");
        warnings
            .add(warning.help(format!("leave it out, or call it `_{}` if that is meant", parameter.text)));
    }
}

fn in_body<'t>(body: &'t Body, used: &mut UsedNames<'t>) {
    for node in body {
        in_statement(&node.statement, used);
        node.statement.bodies().into_iter().for_each(|inner| in_body(inner, used));
    }
}

fn in_statement<'t>(statement: &'t Statement, used: &mut UsedNames<'t>) {
    match statement {
        Statement::Directive(directive) => in_directive(directive, used),
        Statement::Instruction(instruction) => in_operands(&instruction.operands, used),
        Statement::MacroUse { name, arguments, .. } => {
            used.insert(&name.text);
            in_all(arguments, used);
        }
        Statement::If(tree) => [&tree.entry, &tree.exit].into_iter().for_each(|c| in_condition(c, used)),
        Statement::Loop(tree) => [&tree.entry, &tree.exit].into_iter().for_each(|c| in_condition(c, used)),
        Statement::For(tree) => {
            [&tree.from, &tree.to].into_iter().chain(&tree.step).for_each(|e| in_expression(e, used));
        }
        Statement::Local(local) | Statement::Delocal(local) => in_all(&local.sources, used),
        Statement::Empty | Statement::Compute(_) | Statement::Procedure(_) | Statement::Macro(_) => {}
    }
}

fn in_directive<'t>(directive: &'t Directive, used: &mut UsedNames<'t>) {
    match directive {
        Directive::Globals { declarations, .. } | Directive::Ancillas(declarations) => {
            declarations.iter().for_each(|declaration| in_declaration(declaration, used));
        }
        Directive::Const { value, .. } | Directive::Tolerance { value } | Directive::Limit { value, .. } => {
            in_expression(value, used);
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

fn in_declaration<'t>(declaration: &'t DeclarationNode, used: &mut UsedNames<'t>) {
    in_all(&declaration.shape, used);
    for initial in declaration.initial.iter().chain(&declaration.default) {
        match initial {
            Initial::Every(value) => in_expression(value, used),
            Initial::Each(values) => in_all(values, used),
        }
    }
}

fn in_operands<'t>(operands: &'t Operands, used: &mut UsedNames<'t>) {
    match operands {
        Operands::Cells(list) => in_all(list, used),
        Operands::Condition(condition) | Operands::Branch { condition, .. } => in_condition(condition, used),
        Operands::Calls(calls) => calls.iter().for_each(|call| in_all(&call.arguments, used)),
        Operands::CallVia(call) => {
            in_expression(&call.cell, used);
            in_all(&call.arguments, used);
        }
    }
}

fn in_condition<'t>(condition: &'t Condition, used: &mut UsedNames<'t>) {
    match &condition.kind {
        ConditionKind::Always => {}
        ConditionKind::Compare(_, a, b) => [a, b].into_iter().for_each(|side| in_expression(side, used)),
        ConditionKind::Not(inner) => in_condition(inner, used),
        ConditionKind::And(a, b) | ConditionKind::Or(a, b) => {
            [a, b].into_iter().for_each(|part| in_condition(part, used));
        }
    }
}

fn in_all<'t>(list: &'t [Expression], used: &mut UsedNames<'t>) {
    list.iter().for_each(|expression| in_expression(expression, used));
}

fn in_expression<'t>(expression: &'t Expression, used: &mut UsedNames<'t>) {
    match &expression.kind {
        ExpressionKind::Int { .. } | ExpressionKind::LongInt { .. } | ExpressionKind::Real(_) => {}
        ExpressionKind::Name { name, .. } => {
            used.insert(name);
        }
        ExpressionKind::Element(element) => {
            used.insert(&element.name);
            element.subscripts.iter().for_each(|subscript| in_subscript(subscript, used));
        }
        ExpressionKind::Unary(_, a) => in_expression(a, used),
        ExpressionKind::Binary(_, sides) => in_all(&**sides, used),
        ExpressionKind::Apply(application) => in_all(&application.sources, used),
    }
}

fn in_subscript<'t>(subscript: &'t Subscript, used: &mut UsedNames<'t>) {
    match subscript {
        Subscript::At(index) => in_expression(index, used),
        Subscript::All => {}
        Subscript::Span { from, to, step } => {
            [from, to].into_iter().chain(step).for_each(|part| in_expression(part, used));
        }
    }
}
