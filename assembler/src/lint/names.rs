//! Warnings about unused constants, macros and parameters. A name that begins with `_` is exempt, and so is a field of a
//! record, because other variables may use the field.

use std::collections::HashSet;

use reviver_isa::codes::ProblemCode;

use super::own::is_own;
use crate::diagnostic::{Collection, Diagnostic};
use crate::tree::{Body, Directive, ExpressionKind, Name, Statement};
use crate::visit::{expressions, statements};

/// The names that are used.
type UsedNames<'t> = HashSet<&'t str>;

pub(super) fn warn(body: &Body, warnings: &mut Collection) {
    let mut used = UsedNames::new();
    in_body(body, &mut used);
    let ruled = ruled(body);
    for node in body {
        match &node.statement {
            Statement::Directive(Directive::Const { name, .. }) if is_unused(name, &used) => {
                let message = format!("nothing uses the constant `{}`", name.text);
                warnings.add(Diagnostic::warning(ProblemCode::Unused, message, name.span, "defined here"));
            }
            Statement::Macro(tree) => {
                if is_unused(&tree.name, &used) {
                    let message = format!("nothing uses the macro `{}`", tree.name.text);
                    warnings.add(Diagnostic::warning(
                        ProblemCode::Unused,
                        message,
                        tree.name.span,
                        "defined here",
                    ));
                }
                parameters(&tree.name, &tree.parameters.iter().collect::<Vec<_>>(), &tree.body, warnings);
            }
            // The parameters of a rule are determined by the procedure that has the rule, so they may be
            // unused.
            Statement::Procedure(tree) if !ruled.contains(tree.name.text.as_str()) && tree.rule.is_none() => {
                let names: Vec<&Name> = tree.parameters.iter().map(|parameter| &parameter.name).collect();
                parameters(&tree.name, &names, &tree.body, warnings);
            }
            _ => {}
        }
    }
}

/// Returns the names of the procedures that are custom adjoint rules of other procedures.
fn ruled(body: &Body) -> HashSet<&str> {
    let procedures = body.iter().filter_map(|node| match &node.statement {
        Statement::Procedure(tree) => Some(tree),
        _ => None,
    });
    procedures.flat_map(|tree| tree.rules()).map(|rule| rule.text.as_str()).collect()
}

fn is_unused(name: &Name, used: &UsedNames<'_>) -> bool {
    let is_exempt = name.text.starts_with('_') || name.text.contains('.');
    is_own(name.span) && !is_exempt && !used.contains(name.text.as_str())
}

fn parameters(owner: &Name, parameters: &[&Name], body: &Body, warnings: &mut Collection) {
    if !is_own(owner.span) || parameters.is_empty() {
        return;
    }
    let mut used = UsedNames::new();
    in_body(body, &mut used);
    for parameter in parameters.iter().filter(|parameter| is_unused(parameter, &used)) {
        let message = format!("`{}` does not use its parameter `{}`", owner.text, parameter.text);
        let warning = Diagnostic::warning(ProblemCode::Unused, message, parameter.span, "declared here");
        warnings.add(
            warning.help(format!("delete the parameter, or rename it `_{}` to keep it", parameter.text)),
        );
    }
}

fn in_body<'t>(body: &'t Body, used: &mut UsedNames<'t>) {
    statements(body, &mut |statement| {
        if let Statement::MacroUse { name, .. } = statement {
            used.insert(&name.text);
        }
        expressions(statement, &mut |expression| match &expression.kind {
            ExpressionKind::Name { name, .. } => drop(used.insert(name)),
            ExpressionKind::Element(element) => drop(used.insert(&element.name)),
            ExpressionKind::Length(length) => drop(used.insert(&length.name)),
            ExpressionKind::Int { .. }
            | ExpressionKind::LongInt { .. }
            | ExpressionKind::Real(_)
            | ExpressionKind::Unary(..)
            | ExpressionKind::Binary(..)
            | ExpressionKind::Apply(_)
            | ExpressionKind::InText(_) => {}
        });
    });
}
