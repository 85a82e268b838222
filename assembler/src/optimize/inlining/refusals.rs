//! Errors that inlining could cause: the assembler refuses some statements that are never executed as written, for example
//! because a name occurs twice, or because a constant expression has no value.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_isa::module::Passing;
use reviver_isa::update::Update;

use crate::optimize::program::cell_name;
use crate::scopes::{Bound, CellShape, Names};
use crate::tree::{
    BinaryOperator, CallNode, Expression, ExpressionKind, InstructionNode, Operands, ParameterNode,
    ProcedureNode, Statement, StatementNode, Subscript,
};
use crate::visit;

/// Finds statements that the assembler may refuse with the arguments in them, although they are never executed so.
pub(super) struct Refusals<'r> {
    /// The names that are visible at the call.
    names: &'r Names,
    /// The parameters with their arguments.
    arguments: HashMap<&'r CompactString, (&'r ParameterNode, &'r Expression)>,
}

impl Refusals<'_> {
    pub fn new<'r>(names: &'r Names, procedure: &'r ProcedureNode, call: &'r CallNode) -> Refusals<'r> {
        let parameters = procedure.parameters.iter().zip(&call.arguments);
        let arguments = parameters.map(|(it, argument)| (&it.name.text, (it, argument))).collect();
        Refusals { names, arguments }
    }

    /// Returns true if a name may occur twice in a statement, or if a constant index may be outside of an array.
    pub fn may_occur(&self, procedure: &ProcedureNode) -> bool {
        self.passes_twice()
            || procedure.body.iter().any(|node| {
                let mentioned = mentioned_in(node);
                self.reads_passed_global(&mentioned)
                    || self.repeats_name(&mentioned)
                    || self.may_leave_array(node)
            })
    }

    /// Returns true if two arguments mention the same cells.
    fn passes_twice(&self) -> bool {
        let mut names = HashSet::new();
        self.arguments.values().any(|(_, argument)| {
            let own = mentioned_by(argument);
            own.into_iter().any(|name| !names.insert(name))
        })
    }

    /// Returns true if a statement mentions a global that an `in` argument mentions, too.
    fn reads_passed_global(&self, mentioned: &HashSet<&CompactString>) -> bool {
        let inputs = self.arguments.values().filter(|(it, _)| it.passing == Passing::In);
        inputs.flat_map(|(_, argument)| mentioned_by(argument)).any(|name| self.is_outer(mentioned, name))
    }

    /// Returns true if a statement mentions a parameter and a global that has been passed as this parameter.
    fn repeats_name(&self, mentioned: &HashSet<&CompactString>) -> bool {
        let found = mentioned.iter().filter_map(|name| self.arguments.get(*name));
        found.flat_map(|(_, argument)| mentioned_by(argument)).any(|name| self.is_outer(mentioned, name))
    }

    /// Returns true if a name occurs in a statement and denotes a global there.
    fn is_outer(&self, mentioned: &HashSet<&CompactString>, name: &CompactString) -> bool {
        mentioned.contains(name) && !self.arguments.contains_key(name)
    }

    /// Returns true if a statement may have an element of a parameter that is outside of the argument.
    fn may_leave_array(&self, node: &StatementNode) -> bool {
        let mut found = false;
        visit::statements(std::slice::from_ref(node), &mut |statement| {
            visit::expressions(statement, &mut |part| {
                if let ExpressionKind::Element(element) = &part.kind
                    && let Some((_, argument)) = self.arguments.get(&*element.name)
                {
                    let lengths = self.lengths(argument);
                    let subscripts = element.subscripts.iter().enumerate();
                    found |=
                        subscripts.into_iter().any(|(n, it)| !self.is_inside(it, lengths.get(n).copied()));
                }
            });
        });
        found
    }

    /// Returns true if a subscript depends on a cell, or is a literal that is smaller than the length.
    fn is_inside(&self, subscript: &Subscript, length: Option<Option<u64>>) -> bool {
        let Subscript::At(index) = subscript else { return false };
        match (literal(index), length.flatten()) {
            (Some(index), Some(length)) => index < length,
            _ => mentioned_by(index).into_iter().any(|name| !self.names.is_constant_name(name)),
        }
    }

    /// Returns the lengths of an array, `None` for those that aren't literals.
    fn lengths(&self, argument: &Expression) -> Vec<Option<u64>> {
        let found = cell_name(argument).and_then(|name| self.names.find(name));
        let Some(Bound::Cells { shape: CellShape::Lengths(lengths), .. }) = found else { return Vec::new() };
        lengths.iter().map(literal).collect()
    }
}

fn literal(expression: &Expression) -> Option<u64> {
    match expression.kind {
        ExpressionKind::Int { value, .. } => Some(value),
        _ => None,
    }
}

/// Returns the names that a statement mentions, with those of nested statements.
fn mentioned_in(node: &StatementNode) -> HashSet<&CompactString> {
    let mut found = HashSet::new();
    visit::statements(std::slice::from_ref(node), &mut |statement| {
        visit::expressions(statement, &mut |part| found.extend(cell_name(part)));
    });
    found
}

/// Returns the names that an expression mentions.
fn mentioned_by(expression: &Expression) -> HashSet<&CompactString> {
    let mut found = HashSet::new();
    visit::in_expression(expression, &mut |part| found.extend(cell_name(part)));
    found
}

/// Returns true if a number can replace a parameter: if the parameter is added, or is an operand of `+`, `-` or `*` with a
/// cell as the other operand. In other places the number could become part of a constant expression with an error, such as
/// an index outside of an array, in a statement that isn't executed.
pub(super) fn accepts_number(names: &Names, procedure: &ProcedureNode, parameter: &str) -> bool {
    let is_it = |expression: &Expression| matches!(&expression.kind, ExpressionKind::Name { name, adjoint: false } if name.as_str() == parameter);
    let is_cell = |expression: &Expression| {
        let is_input = |name: &CompactString| {
            let inputs = procedure.parameters.iter().filter(|it| it.passing == Passing::In);
            inputs.map(|it| &it.name.text).any(|input| input == name)
        };
        cell_name(expression).is_some_and(|name| !is_input(name) && !names.is_constant_name(name))
    };
    let has_cell = |expression: &Expression| {
        let mut found = false;
        visit::in_expression(expression, &mut |part| found |= is_cell(part));
        found
    };
    let (mut all, mut accepted) = (0, 0);
    visit::statements(&procedure.body, &mut |statement| {
        if let Statement::Instruction(InstructionNode { update: Update::Add | Update::Sub, operands, .. }) =
            statement
            && let Operands::Cells(cells) = operands
            && let [_, source] = &**cells
        {
            accepted += usize::from(is_it(source));
        }
        visit::expressions(statement, &mut |part| {
            all += usize::from(is_it(part));
            if let ExpressionKind::Binary(
                BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply,
                sides,
            ) = &part.kind
            {
                let [a, b] = &**sides;
                accepted += usize::from(is_it(a) && has_cell(b)) + usize::from(is_it(b) && has_cell(a));
            }
        });
    });
    all == accepted
}
