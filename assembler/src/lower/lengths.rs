//! Additional parameters for the lengths of slices and matrices. A procedure that uses `len(v)` of its
//! parameter `v` gets the parameter `len$v`; for `len(M, 1)` it gets `len$1$M`. Every call passes these
//! parameters. Only the disassembler writes them in a text.
//!
//! If a second procedure passes its parameter `w` as `v`, the second procedure needs the length of `w`, too.
//! This module determines which lengths each procedure needs.

use std::collections::{BTreeSet, HashMap};

use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Parameter, Passing, Rank};
use reviver_isa::names;

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{
    Expression, ExpressionKind, LengthOf, Macro, Operands, ParameterNode, ProcedureNode, Statement, Subscript,
};
use crate::visit::{expressions, statements};

/// A length of an array parameter: the number of its cells, or the length of one dimension of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ParameterLength {
    pub parameter: usize,
    pub dimension: Option<u8>,
}

/// A procedure's number, with a length of one of its parameters.
type LengthInProcedure = (u32, ParameterLength);

/// The lengths that the texts of procedures use, and the lengths that calls pass on.
#[derive(Default)]
struct LengthUses {
    asked: BTreeSet<LengthInProcedure>,
    /// The dependencies between lengths. In each pair, the procedure of the first length calls the procedure of
    /// the second length, and computes the second length from the first.
    passed: Vec<(LengthInProcedure, LengthInProcedure)>,
}

/// Returns, for each procedure, the lengths that it gets as additional parameters, in order. The index is the
/// procedure's number. `procedures` are all procedures except main, so the first one has the number 1.
pub(super) fn asked(
    procedures: &[&ProcedureNode],
    macros: &[&Macro],
    numbers: &HashMap<CompactString, u32>,
) -> Vec<Vec<ParameterLength>> {
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
        Reader { procedures, numbers, number, tree, uses: &mut uses }.read();
    }
    for (procedure, length) in uses.closed() {
        lists.get_mut(procedure as usize).into_iter().for_each(|list| list.push(length));
    }
    lists
}

/// The analysis of one procedure's text, which adds the lengths that it finds to `uses`.
struct Reader<'t, 'u> {
    procedures: &'t [&'t ProcedureNode],
    numbers: &'t HashMap<CompactString, u32>,
    number: u32,
    tree: &'t ProcedureNode,
    uses: &'u mut LengthUses,
}

impl Reader<'_, '_> {
    fn read(&mut self) {
        self.rule();
        let tree = self.tree;
        statements(&tree.body, &mut |statement| {
            expressions(statement, &mut |expression| {
                if let ExpressionKind::Length(length) = &expression.kind {
                    self.asked(length);
                }
            });
            match statement {
                // The body of the macro isn't analysed, so all lengths of the arguments count as used.
                Statement::MacroUse { arguments, .. } => {
                    arguments.iter().for_each(|argument| self.given_to_macro(argument));
                }
                Statement::Instruction(instruction) => {
                    let Operands::Call(call) = &instruction.operands else { return };
                    self.call(&call.procedure.text, &call.arguments);
                }
                // Any procedure may be the callee, so each one counts as called.
                Statement::CallVia(call) => {
                    let procedures = self.procedures;
                    procedures.iter().for_each(|tree| self.call(&tree.name.text, &call.arguments));
                }
                Statement::Tasks(tasks) => {
                    // The call in a `par for` is a statement in the body of the loop, which is visited
                    // anyway.
                    let calls = tasks.calls().filter(|_| tasks.rounds().is_none());
                    calls.for_each(|call| self.call(&call.procedure.text, &call.arguments));
                }
                _ => {}
            }
        });
    }

    /// Makes a procedure and its rule use the same lengths, because both must have the same parameters.
    fn rule(&mut self) {
        let rule = self.tree.rule.as_ref().and_then(|rule| self.numbers.get(&rule.text));
        let Some(&rule) = rule else { return };
        let others = (rule as usize).checked_sub(1).and_then(|n| self.procedures.get(n));
        let others = others.map_or([].as_slice(), |tree| &tree.parameters);
        let both = self.tree.parameters.iter().zip(others).enumerate();
        // If the parameters differ in other ways, the verifier reports the difference.
        for (n, (parameter, _)) in both.filter(|(_, (own, other))| own.rank == other.rank) {
            for length in lengths_of(n, parameter.rank) {
                let (own, other) = ((self.number, length), (rule, length));
                self.uses.passed.extend([(own, other), (other, own)]);
            }
        }
    }

    fn asked(&mut self, length: &LengthOf) {
        let Some((parameter, rank)) = self.parameter(&length.name).map(|(n, node)| (n, node.rank)) else {
            return;
        };
        let meant = |own: &ParameterLength| match length.dimension.as_ref().map(|wanted| &wanted.kind) {
            Some(ExpressionKind::Int { value, .. }) => {
                own.dimension.map_or(rank == Rank::Vector, |dimension| u64::from(dimension) == *value)
            }
            // The dimension is a named constant, whose value isn't known yet. So all dimensions count as
            // used.
            _ => own.dimension.is_some() || rank == Rank::Vector,
        };
        let own = lengths_of(parameter, rank).filter(meant);
        self.uses.asked.extend(own.map(|length| (self.number, length)));
    }

    fn given_to_macro(&mut self, argument: &Expression) {
        let needed = match &argument.kind {
            ExpressionKind::Name { name, adjoint: false } => {
                let parameter = self.parameter(name);
                let all = parameter.map(|(parameter, node)| lengths_of(parameter, node.rank));
                all.into_iter().flatten().collect()
            }
            _ => self.needed(argument, None),
        };
        self.uses.asked.extend(needed.into_iter().map(|length| (self.number, length)));
    }

    fn call(&mut self, callee: &str, arguments: &[Expression]) {
        let Some(&number) = self.numbers.get(callee) else { return };
        let tree = (number as usize).checked_sub(1).and_then(|n| self.procedures.get(n));
        let Some(tree) = tree else { return };
        for (n, (argument, parameter)) in arguments.iter().zip(&tree.parameters).enumerate() {
            for wanted in lengths_of(n, parameter.rank) {
                let own = self.needed(argument, wanted.dimension);
                let edges = own.into_iter().map(|own| ((self.number, own), (number, wanted)));
                self.uses.passed.extend(edges);
            }
        }
    }

    /// Returns the lengths of the caller's parameters from which a length of an argument is computed.
    fn needed(&self, argument: &Expression, dimension: Option<u8>) -> Vec<ParameterLength> {
        let (name, subscripts) = match &argument.kind {
            ExpressionKind::Name { name, adjoint: false } => (name, [].as_slice()),
            ExpressionKind::Element(element) => (&element.name, element.subscripts.as_slice()),
            _ => return Vec::new(),
        };
        let Some((parameter, node)) = self.parameter(name) else { return Vec::new() };
        let all = lengths_of(parameter, node.rank);
        let only = |wanted: Option<u8>| all.filter(|own| own.dimension == wanted).collect();
        match subscripts {
            [] | [Subscript::All] | [Subscript::All, Subscript::All] => only(dimension),
            [Subscript::At(_), Subscript::All] => only(Some(1)),
            [Subscript::All, Subscript::At(_)] => only(Some(0)),
            // The length of a slice is computed from the bounds. But the length of the whole array is needed,
            // too, to check that it fits into a word.
            [Subscript::Span { .. }] => only(None),
            _ => Vec::new(),
        }
    }

    fn parameter(&self, name: &str) -> Option<(usize, &ParameterNode)> {
        self.tree.parameters.iter().enumerate().find(|(_, parameter)| parameter.name.text == name)
    }
}

/// Returns all lengths that a parameter of this rank has.
fn lengths_of(parameter: usize, rank: Rank) -> impl Iterator<Item = ParameterLength> + Clone {
    let dimensions: &[Option<u8>] = match rank {
        Rank::Scalar => &[],
        Rank::Vector => &[None],
        Rank::Matrix => &[None, Some(0), Some(1)],
    };
    dimensions.iter().map(move |&dimension| ParameterLength { parameter, dimension })
}

impl LengthUses {
    /// Returns the lengths that procedures use, and all lengths that are needed to compute those in calls.
    fn closed(self) -> BTreeSet<LengthInProcedure> {
        let mut needed_by: HashMap<LengthInProcedure, Vec<LengthInProcedure>> = HashMap::new();
        for (own, other) in self.passed {
            needed_by.entry(other).or_default().push(own);
        }
        let mut all = self.asked;
        let mut news: Vec<LengthInProcedure> = all.iter().copied().collect();
        while let Some(length) = news.pop() {
            let needed = needed_by.remove(&length).unwrap_or_default();
            news.extend(needed.into_iter().filter(|own| all.insert(*own)));
        }
        all
    }
}

/// Returns the parameter that passes a length of another parameter.
pub(super) fn length_parameter(measured: &Parameter, dimension: Option<u8>) -> Parameter {
    let name = names::length_parameter(&measured.name, dimension);
    Parameter { name, class: Class::Int, passing: Passing::In, rank: Rank::Scalar }
}

/// Returns the error for `len` of something that has no such length.
pub(super) fn no_length(message: String, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(ProblemCode::NoLength, message, span, "this length").help(format!(
        "write `len({name})` for a vector or a slice; for a matrix, write `len({name}, 0)` for its rows or `len({name}, 1)` for its columns"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_passed_along() {
        let of = |procedure, parameter, dimension| (procedure, ParameterLength { parameter, dimension });
        let length = |procedure, parameter| of(procedure, parameter, None);
        let uses = LengthUses {
            asked: BTreeSet::from([length(3, 0), of(3, 1, Some(1))]),
            passed: vec![
                (length(1, 0), length(2, 1)),
                (length(2, 1), length(3, 0)),
                (length(2, 0), length(1, 1)),
                (of(2, 2, Some(0)), of(3, 1, Some(1))),
                (of(1, 2, Some(1)), of(2, 2, Some(1))),
            ],
        };
        let expected = [length(1, 0), length(2, 1), of(2, 2, Some(0)), length(3, 0), of(3, 1, Some(1))];
        assert_eq!(uses.closed(), BTreeSet::from(expected));
    }
}
