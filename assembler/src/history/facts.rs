//! Facts about a program: the classes, lengths and names of its cells, its number system, and its procedures. This module
//! changes nothing.

use std::collections::HashMap;

use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use crate::build;
use crate::keep::class::{Classes, class_of, class_of_applied};
use crate::keep::names::UnusedNames;
use crate::tree::{
    Body, DeclarationNode, Directive, Expression, ExpressionKind, Limit, Name, ProcedureNode, Statement,
};
use crate::visit;

/// Adds the classes of the variables that a body declares.
pub(super) fn declare(body: &Body, classes: &mut Classes, conflicts: &mut Vec<Name>) {
    for node in body {
        match &node.statement {
            Statement::Directive(Directive::Ancillas(declarations)) => {
                declarations.iter().for_each(|it| classes.insert(it.name.text.clone(), class(it)));
            }
            Statement::Local(local) => {
                let inferred = || match local.sources.as_slice() {
                    [] => Class::Int,
                    [value] if local.function == Function::Copy => class_of(value, classes),
                    sources => class_of_applied(local.function, sources, classes),
                };
                let class = local.class.unwrap_or_else(inferred);
                if classes.own(&local.name.text).is_some_and(|other| other != class) {
                    conflicts.push(local.name.clone());
                }
                classes.insert(local.name.text.clone(), class);
            }
            Statement::For(tree) => classes.insert(tree.counter.text.clone(), Class::Int),
            _ => {}
        }
        node.statement.bodies().into_iter().for_each(|body| declare(body, classes, conflicts));
    }
}

fn class(declaration: &DeclarationNode) -> Class {
    declaration.class.unwrap_or(Class::Int)
}

/// Returns the classes of the program's own names.
pub(super) fn classes_of(trees: &[Body]) -> Classes {
    let mut classes = Classes::default();
    let mut constants: Vec<(&CompactString, &Expression)> = Vec::new();
    for node in trees.iter().flatten() {
        match &node.statement {
            Statement::Directive(
                Directive::Globals { declarations, .. } | Directive::Ancillas(declarations),
            ) => {
                classes.extend(declarations.iter().map(|it| (it.name.text.clone(), class(it))));
            }
            Statement::Directive(Directive::Const { name, value }) => constants.push((&name.text, value)),
            _ => {}
        }
    }
    for (name, value) in constants {
        let class = class_of(value, &classes);
        classes.insert(name.clone(), class);
    }
    classes.into_shared()
}

/// Returns the number system of reals.
pub(super) fn reals(trees: &[Body]) -> RealSystem {
    let system = trees.iter().flatten().find_map(|node| match &node.statement {
        Statement::Directive(Directive::Real { system }) => Some(*system),
        _ => None,
    });
    system.unwrap_or(RealSystem::F64)
}

/// Returns the magnitude up to which a real counts as 0.
pub(super) fn tolerance(trees: &[Body]) -> Expression {
    let given = trees.iter().flatten().find_map(|node| match &node.statement {
        Statement::Directive(Directive::Tolerance { value }) => Some((**value).clone()),
        _ => None,
    });
    given.unwrap_or_else(|| build::real(reals(trees).default_tolerance()))
}

/// Returns the lengths of the program's cells.
pub(super) fn lengths_of(trees: &[Body]) -> HashMap<CompactString, Vec<Expression>> {
    let mut lengths = HashMap::new();
    for node in trees.iter().flatten() {
        if let Statement::Directive(
            Directive::Globals { declarations, .. } | Directive::Ancillas(declarations),
        ) = &node.statement
        {
            lengths.extend(declarations.iter().map(|it| (it.name.text.clone(), it.shape.lengths().to_vec())));
        }
    }
    lengths
}

/// Returns the procedures of a program by name.
pub(super) fn procedures_of(trees: &[Body]) -> HashMap<CompactString, ProcedureNode> {
    let trees = trees.iter().flatten().filter_map(|node| match &node.statement {
        Statement::Procedure(tree) => Some((tree.name.text.clone(), (**tree).clone())),
        _ => None,
    });
    trees.collect()
}

/// Returns all names of the program, from which new names differ.
pub(super) fn names_of(trees: &[Body]) -> UnusedNames {
    let mut names = UnusedNames::default();
    for tree in trees {
        visit::statements(tree, &mut |statement| {
            match statement {
                Statement::Procedure(tree) => {
                    names.take(&tree.name.text);
                    tree.parameters.iter().for_each(|parameter| names.take(&parameter.name.text));
                }
                Statement::Macro(tree) => {
                    names.take(&tree.name.text);
                    tree.parameters.iter().for_each(|parameter| names.take(&parameter.text));
                }
                Statement::Local(local) => names.take(&local.name.text),
                Statement::For(tree) => names.take(&tree.counter.text),
                Statement::Directive(
                    Directive::Globals { declarations, .. } | Directive::Ancillas(declarations),
                ) => declarations.iter().for_each(|it| names.take(&it.name.text)),
                Statement::Directive(Directive::Const { name, .. }) => names.take(&name.text),
                _ => {}
            }
            visit::expressions(statement, &mut |expression| {
                if let ExpressionKind::Name { name, .. } = &expression.kind {
                    names.take(name);
                }
            });
        });
        tree.iter().filter_map(|node| node.label.as_ref()).for_each(|label| names.take(&label.text));
    }
    names.into_shared()
}

/// Returns the number of values that an array of the program keeps for a while, which `.limit history` raises.
pub(crate) fn capacity<'t>(trees: impl IntoIterator<Item = &'t Body>) -> u64 {
    let limit = trees.into_iter().flatten().find_map(|node| match &node.statement {
        Statement::Directive(Directive::Limit { what: Limit::History, value }) => match &value.kind {
            ExpressionKind::Int { value, .. } => Some(*value),
            _ => None,
        },
        _ => None,
    });
    limit.unwrap_or_default().max(LEAST_CAPACITY)
}

/// The values that an array keeps for a while unless the program's limit is greater.
const LEAST_CAPACITY: u64 = 1 << 16;
