//! The lengths of slices and matrices come with them: a procedure whose text asks for `len(v)` of a parameter has one
//! parameter more, `len$v`, which each call passes and nobody writes but `disasm`; for `len(M, 1)` it is `len$1$M`. Where a
//! procedure passes a parameter on to one that asks, it needs the length too. This file finds out which; it knows no
//! names but those of parameters.

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

/// A length of what is passed for a parameter: how many cells there are, or a dimension of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ParameterLength {
    pub parameter: usize,
    pub dimension: Option<u8>,
}

/// The number of a procedure, and a length of one of its parameters.
type LengthInProcedure = (u32, ParameterLength);

/// What the texts of the procedures say about lengths.
#[derive(Default)]
struct LengthUses {
    asked: BTreeSet<LengthInProcedure>,
    /// The first is what the second is made of, at a call of the second's procedure.
    passed: Vec<(LengthInProcedure, LengthInProcedure)>,
}

/// By number of the procedure, which lengths of its parameters come along, in order. `procedures` begin
/// with number 1.
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

/// Reads the text of one procedure.
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
                // What a macro does with it nobody looks up.
                Statement::MacroUse { arguments, .. } => {
                    arguments.iter().for_each(|argument| self.given_to_macro(argument));
                }
                Statement::Instruction(instruction) => {
                    let Operands::Call(call) = &instruction.operands else { return };
                    self.call(&call.procedure.text, &call.arguments);
                }
                // Which procedure it is, nobody knows.
                Statement::CallVia(call) => {
                    let procedures = self.procedures;
                    procedures.iter().for_each(|tree| self.call(&tree.name.text, &call.arguments));
                }
                Statement::Tasks(tasks) => {
                    // The call of rounds is a statement of their body.
                    let calls = tasks.calls().filter(|_| tasks.rounds().is_none());
                    calls.for_each(|call| self.call(&call.procedure.text, &call.arguments));
                }
                _ => {}
            }
        });
    }

    /// A rule has the parameters of what it stands in for.
    fn rule(&mut self) {
        let rule = self.tree.rule.as_ref().and_then(|rule| self.numbers.get(&rule.text));
        let Some(&rule) = rule else { return };
        let others = (rule as usize).checked_sub(1).and_then(|n| self.procedures.get(n));
        let others = others.map_or([].as_slice(), |tree| &tree.parameters);
        let both = self.tree.parameters.iter().zip(others).enumerate();
        // Where they differ, that is an error of its own.
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
            // Which dimension a constant with a name means is found later.
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

    /// The lengths of own parameters of which a length of an argument is made.
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
            // That its own length is known to be a word makes that of a part one.
            [Subscript::Span { .. }] => only(None),
            _ => Vec::new(),
        }
    }

    fn parameter(&self, name: &str) -> Option<(usize, &ParameterNode)> {
        self.tree.parameters.iter().enumerate().find(|(_, parameter)| parameter.name.text == name)
    }
}

/// All lengths that a parameter has.
fn lengths_of(parameter: usize, rank: Rank) -> impl Iterator<Item = ParameterLength> + Clone {
    let dimensions: &[Option<u8>] = match rank {
        Rank::Scalar => &[],
        Rank::Vector => &[None],
        Rank::Matrix => &[None, Some(0), Some(1)],
    };
    dimensions.iter().map(move |&dimension| ParameterLength { parameter, dimension })
}

impl LengthUses {
    /// All that are asked for, and those that are needed to pass them.
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

/// The parameter that brings a length of another one.
pub(super) fn length_parameter(measured: &Parameter, dimension: Option<u8>) -> Parameter {
    let name = names::length_parameter(&measured.name, dimension);
    Parameter { name, class: Class::Int, passing: Passing::In, rank: Rank::Scalar }
}

/// A length that is asked of what has none.
pub(super) fn no_length(message: String, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(ProblemCode::NoLength, message, span, "asked here").help(format!(
        "`len({name})` is that of a vector or a slice; of a matrix, `len({name}, 0)` are its rows and `len({name}, 1)` its columns"
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
