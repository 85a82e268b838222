//! Arguments that may be the same cells. Two `in` arguments may overlap, but their adjoints are changed, so they mustn't.
//! The adjoint of the second argument is then collected in a local, and added to its cells after the call.

use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::Update;

use super::emitter::Emitter;
use crate::build;
use crate::fresh::FreshNames;
use crate::fresh::adjoint_of;
use crate::scopes::{Bound, CellShape};
use crate::tree::{Body, Expression, ExpressionKind, LengthOf, Statement, Subscript};

/// Returns true if the adjoints of two arguments may have a cell in common.
pub(super) fn may_overlap(fresh: &FreshNames, a: &Expression, b: &Expression) -> bool {
    let name = |expression: &Expression| match &expression.kind {
        ExpressionKind::Name { name, .. } => Some((fresh.adjoint(name), Vec::new())),
        ExpressionKind::Element(element) => Some((fresh.adjoint(&element.name), element.subscripts.clone())),
        _ => None,
    };
    let (Some((a, of_a)), Some((b, of_b))) = (name(a), name(b)) else { return false };
    let differ = |(a, b): (&Subscript, &Subscript)| match (a, b) {
        (Subscript::At(a), Subscript::At(b)) => match (&a.kind, &b.kind) {
            (ExpressionKind::Int { value: a, .. }, ExpressionKind::Int { value: b, .. }) => a != b,
            _ => false,
        },
        _ => false,
    };
    a == b && !of_a.iter().zip(&of_b).any(differ)
}

/// The adjoint of an argument, collected in a local.
pub(super) struct CollectedAdjoint {
    /// The statements that open the local, and those that add it to the adjoints of the cells and close it.
    pub before: Body,
    pub after: Body,
    /// The argument for the adjoint parameter.
    pub passed: Expression,
}

impl Emitter {
    /// Returns a local for the adjoint of argument `n`. Returns `None` for a part of an array parameter, whose length is
    /// known only at run time.
    pub(super) fn collected(&mut self, n: usize, argument: &Expression) -> Option<CollectedAdjoint> {
        let name = self.fresh.argument(n);
        let adjoint = self.fresh.adjoint(&name);
        let target = adjoint_of(&self.fresh, argument);
        let declared = match &argument.kind {
            ExpressionKind::Name { name, .. } => self.names.find(name),
            _ if self.names.is_scalar(argument) => Some(Bound::cell(Class::Real, true)),
            _ => None,
        };
        let (lengths, passed, after) = match declared {
            Some(Bound::Cells { shape: CellShape::Lengths(lengths), .. }) => {
                let after = self.for_all(&lengths, |this, indices| {
                    let target = indexed(&target, indices);
                    let own = indexed(&build::cell(&adjoint), indices);
                    this.given(target, own)
                });
                (lengths, build::cell(&adjoint), after)
            }
            _ => {
                let PartOfArray { most, count, cell } = self.part_of(argument)?;
                let array = self.fresh.adjoint(array_of(argument)?);
                let after = self.for_all(std::slice::from_ref(&count), |this, indices| {
                    let index = indices.first().cloned().unwrap_or_else(|| build::int(0));
                    let own = indexed(&build::cell(&adjoint), indices);
                    this.given(cell(&array, index), own)
                });
                let whole = Subscript::Span { from: build::int(0), to: count, step: None };
                (vec![most], build::element(&adjoint, vec![whole]), after)
            }
        };
        let mut after = after;
        let own = Box::new(build::local(&adjoint, lengths, None));
        after.push(build::node(Statement::Delocal(own.clone())));
        Some(CollectedAdjoint { before: vec![build::node(Statement::Local(own))], after, passed })
    }

    /// Returns the statements that add a collected adjoint to that of a cell, and drop it.
    fn given(&mut self, target: Expression, own: Expression) -> Body {
        let mut body = vec![build::update(Update::Add, Function::Copy, vec![target, own.clone()])];
        self.drop_adjoint(own, &mut body);
        body
    }

    /// Describes the part of an array that an argument denotes.
    fn part_of(&self, argument: &Expression) -> Option<PartOfArray> {
        let ExpressionKind::Element(element) = &argument.kind else { return None };
        let bound = self.names.find(&element.name);
        let declared = match bound {
            Some(Bound::Cells { shape: CellShape::Lengths(lengths), .. }) => lengths,
            _ => Vec::new(),
        };
        let ends_at_constant = matches!(
            element.subscripts.as_slice(),
            [Subscript::Span { to, .. }] if self.names.is_constant(to)
        );
        if declared.is_empty() && !ends_at_constant {
            return None;
        }
        // The length of an `.ancilla` is no constant of the program, so the declared length is repeated.
        let length = |dimension: Option<u64>| {
            let own = declared.get(dimension.unwrap_or(0) as usize).cloned();
            own.unwrap_or_else(|| {
                let (name, dimension) = (element.name.clone(), dimension.map(build::int));
                build::expression(ExpressionKind::Length(Box::new(LengthOf { name, dimension })))
            })
        };
        let part = match element.subscripts.as_slice() {
            [Subscript::At(row), Subscript::All] => {
                let row = row.clone();
                PartOfArray {
                    most: length(Some(1)),
                    count: length(Some(1)),
                    cell: Box::new(move |name, index| {
                        build::element(name, vec![Subscript::At(row.clone()), Subscript::At(index)])
                    }),
                }
            }
            [Subscript::All, Subscript::At(column)] => {
                let column = column.clone();
                PartOfArray {
                    most: length(Some(0)),
                    count: length(Some(0)),
                    cell: Box::new(move |name, index| {
                        build::element(name, vec![Subscript::At(index), Subscript::At(column.clone())])
                    }),
                }
            }
            [Subscript::Span { from, to, step }] => {
                let apply =
                    |operator, a, b| build::expression(ExpressionKind::Binary(operator, Box::new([a, b])));
                let all = apply(BinaryOperator::Subtract, to.clone(), from.clone());
                let count = match step {
                    // The number of indices is rounded up.
                    Some(step) => {
                        let above = apply(BinaryOperator::Subtract, step.clone(), build::int(1));
                        let all = apply(BinaryOperator::Add, all, above);
                        apply(BinaryOperator::Divide, all, step.clone())
                    }
                    None => all,
                };
                let (from, step) = (from.clone(), step.clone());
                PartOfArray {
                    most: if ends_at_constant { to.clone() } else { length(None) },
                    count,
                    cell: Box::new(move |name, index| {
                        let offset = match &step {
                            Some(step) => apply(BinaryOperator::Multiply, index, step.clone()),
                            None => index,
                        };
                        let index = apply(BinaryOperator::Add, from.clone(), offset);
                        build::element(name, vec![Subscript::At(index)])
                    }),
                }
            }
            _ => return None,
        };
        Some(part)
    }
}

/// A function from the name of an array and an index to a cell.
type CellOfPart = dyn Fn(&str, Expression) -> Expression;

/// A part of an array, whose cells have the indices 0, 1, …
struct PartOfArray {
    /// A constant that is at least the number of cells.
    most: Expression,
    count: Expression,
    /// Returns the cell with an index, in the array with the given name.
    cell: Box<CellOfPart>,
}

/// Returns an element of an array; the cell itself if there are no indices.
fn indexed(array: &Expression, indices: &[Expression]) -> Expression {
    match &array.kind {
        ExpressionKind::Name { name, .. } if !indices.is_empty() => {
            build::element(name, indices.iter().cloned().map(Subscript::At).collect())
        }
        _ => array.clone(),
    }
}

fn array_of(argument: &Expression) -> Option<&str> {
    match &argument.kind {
        ExpressionKind::Element(element) => Some(&element.name),
        _ => None,
    }
}
