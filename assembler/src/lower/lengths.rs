//! The lengths of slices come with them: a procedure whose text asks for `len(v)` of a parameter has one parameter
//! more, `len$v`, which each call passes and no text writes. Where a procedure passes a slice on as a whole to one
//! that asks, it needs the length too. This file finds out which; it knows no names but those of parameters.

use std::collections::{BTreeSet, HashMap};

use compact_str::CompactString;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Parameter, Passing};
use reviver_isa::names::LENGTH_PARAMETER;

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Expression, ExpressionKind, Macro, Operands, ProcedureNode, Statement};
use crate::visit::{expressions, statements};

/// A parameter: the number of its procedure, and its own.
type SliceParameter = (u32, usize);

/// What the texts of the procedures say about lengths.
#[derive(Default)]
struct LengthUses {
    asked: BTreeSet<SliceParameter>,
    /// The first is passed as the second.
    passed: Vec<(SliceParameter, SliceParameter)>,
}

/// By number of the procedure, which of its parameters bring their lengths along, in order. `procedures` begin
/// with number 1.
pub(super) fn asked(
    procedures: &[&ProcedureNode],
    macros: &[&Macro],
    numbers: &HashMap<CompactString, u32>,
) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new(); procedures.len() + 1];
    let bodies = procedures.iter().map(|tree| &tree.body).chain(macros.iter().map(|tree| &tree.body));
    let mut asks = false;
    bodies.for_each(|body| {
        statements(body, &mut |statement| {
            expressions(statement, &mut |e| asks |= matches!(e.kind, ExpressionKind::Length(_)));
        });
    });
    if !asks {
        return lists;
    }
    let mut uses = LengthUses::default();
    for (number, tree) in (1..).zip(procedures) {
        uses.read(number, tree, numbers);
    }
    for (procedure, parameter) in uses.closed() {
        lists.get_mut(procedure as usize).into_iter().for_each(|list| list.push(parameter));
    }
    lists
}

impl LengthUses {
    fn read(&mut self, number: u32, tree: &ProcedureNode, numbers: &HashMap<CompactString, u32>) {
        let slice = |name: &str| {
            tree.parameters.iter().position(|parameter| parameter.slice && parameter.name.text == name)
        };
        let named = |expression: &Expression| match &expression.kind {
            ExpressionKind::Name { name, adjoint: false } => slice(name),
            _ => None,
        };
        let rule = tree.rule.as_ref().and_then(|rule| numbers.get(&rule.text));
        for (rule, n) in rule.into_iter().flat_map(|rule| (0..tree.parameters.len()).map(move |n| (*rule, n)))
        {
            // A rule has the parameters of what it stands in for.
            self.passed.extend([((number, n), (rule, n)), ((rule, n), (number, n))]);
        }
        statements(&tree.body, &mut |statement| {
            expressions(statement, &mut |expression| {
                if let ExpressionKind::Length(length) = &expression.kind {
                    self.asked.extend(slice(&length.name).map(|n| (number, n)));
                }
            });
            match statement {
                // What a macro does with it nobody looks up.
                Statement::MacroUse { arguments, .. } => {
                    self.asked.extend(arguments.iter().filter_map(named).map(|n| (number, n)));
                }
                Statement::Instruction(instruction) => {
                    let Operands::Calls(calls) = &instruction.operands else { return };
                    for call in calls.iter() {
                        let Some(&callee) = numbers.get(&call.procedure.text) else { continue };
                        let own = call.arguments.iter().enumerate();
                        let own =
                            own.filter_map(|(n, argument)| Some(((number, named(argument)?), (callee, n))));
                        self.passed.extend(own);
                    }
                }
                _ => {}
            }
        });
    }

    /// All that are asked for, and those that are passed as such.
    fn closed(mut self) -> BTreeSet<SliceParameter> {
        loop {
            let news: Vec<SliceParameter> = self
                .passed
                .iter()
                .filter(|(own, other)| self.asked.contains(other) && !self.asked.contains(own))
                .map(|(own, _)| *own)
                .collect();
            if news.is_empty() {
                return self.asked;
            }
            self.asked.extend(news);
        }
    }
}

/// The parameter that brings the length of another one.
pub(super) fn length_parameter(of: &Parameter) -> Parameter {
    let name = format!("{LENGTH_PARAMETER}{}", of.name);
    Parameter { name, class: Class::Int, passing: Passing::In, slice: false }
}

/// A length that is asked of what has none.
pub(super) fn no_length(message: String, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(message, span, "asked here").help(format!(
        "`len({name})` is that of a vector or a slice; of a matrix, `len({name}, 0)` are its rows and `len({name}, 1)` its columns"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_passed_along() {
        let uses = LengthUses {
            asked: BTreeSet::from([(3, 0)]),
            passed: vec![((1, 0), (2, 1)), ((2, 1), (3, 0)), ((2, 0), (1, 1))],
        };
        assert_eq!(uses.closed(), BTreeSet::from([(1, 0), (2, 1), (3, 0)]));
    }
}
