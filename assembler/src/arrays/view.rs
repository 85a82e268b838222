//! Arrays and their parts: the lengths of their dimensions, and their elements.

use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::module::Rank;
use reviver_isa::operator::BinaryOperator;

use super::binary;
use crate::build;
use crate::scopes::{Bound, CellShape, Names};
use crate::tree::{Element, Expression, ExpressionKind, LengthOf, Subscript, TextFunction};

/// The lengths of an array's dimensions, one or two.
pub(super) struct Shape {
    pub lengths: Vec<Expression>,
}

impl Shape {
    /// Returns the shape of a value: that of the first array in it. Returns `None` for a number.
    pub fn of(names: &Names, value: &Expression) -> Option<Shape> {
        if let Some(shape) = Shape::of_cells(names, value) {
            return Some(shape);
        }
        match &value.kind {
            ExpressionKind::Unary(_, inner) => Shape::of(names, inner),
            ExpressionKind::Binary(_, sides) => sides.iter().find_map(|side| Shape::of(names, side)),
            ExpressionKind::Apply(application) => {
                application.sources.iter().find_map(|source| Shape::of(names, source))
            }
            ExpressionKind::InText(application) if application.function == TextFunction::Transpose => {
                let Shape { mut lengths } = Shape::of(names, application.sources.first()?)?;
                lengths.reverse();
                Some(Shape { lengths })
            }
            _ => None,
        }
    }

    /// Returns the shape of an array, or of a part of one. Returns `None` for cells and computed values.
    pub fn of_cells(names: &Names, cells: &Expression) -> Option<Shape> {
        let rank = rank(names, cells)?;
        let length = |name: &Rc<CompactString>, dimension: Option<usize>| -> Expression {
            let declared = declared_length(names, name, dimension.unwrap_or(0));
            declared.unwrap_or_else(|| {
                let dimension = dimension.map(|n| build::int(n as u64));
                let kind = ExpressionKind::Length(Box::new(LengthOf { name: name.clone(), dimension }));
                Expression { kind, span: cells.span }
            })
        };
        let lengths = match &cells.kind {
            ExpressionKind::Name { name, .. } if rank == 1 => vec![length(name, None)],
            ExpressionKind::Name { name, .. } => vec![length(name, Some(0)), length(name, Some(1))],
            ExpressionKind::Element(element) => {
                let is_vector = element.subscripts.len() == 1;
                let of_dimension = |(n, subscript): (usize, &Subscript)| match subscript {
                    Subscript::At(_) => None,
                    Subscript::All => Some(length(&element.name, (!is_vector).then_some(n))),
                    Subscript::Span { from, to, step } => Some(span_length(from, to, step.as_ref())),
                };
                element.subscripts.iter().enumerate().filter_map(of_dimension).collect()
            }
            _ => return None,
        };
        Some(Shape { lengths })
    }
}

/// Returns the declared length of a dimension, if it is a literal or a constant.
fn declared_length(names: &Names, name: &str, dimension: usize) -> Option<Expression> {
    let Some(Bound::Cells { shape: CellShape::Lengths(lengths), .. }) = names.find(name) else { return None };
    let length = lengths.get(dimension)?;
    let is_plain = match &length.kind {
        ExpressionKind::Int { .. } => true,
        ExpressionKind::Name { .. } => names.is_constant(length),
        _ => false,
    };
    is_plain.then(|| length.clone())
}

/// Returns the number of elements from one index up to another.
fn span_length(from: &Expression, to: &Expression, step: Option<&Expression>) -> Expression {
    let distance = match (&from.kind, &to.kind) {
        (ExpressionKind::Int { value: 0, .. }, _) => to.clone(),
        (ExpressionKind::Int { value: a, .. }, ExpressionKind::Int { value: b, .. }) if a <= b => {
            build::int(b - a)
        }
        _ => binary(BinaryOperator::Subtract, to, from, to.span),
    };
    let Some(step) = step else { return distance };
    // A part that isn't empty has its first element, and further ones as long as there is a whole step to the end.
    let rest = binary(BinaryOperator::Subtract, step, &build::int(1), step.span);
    let rounded = binary(BinaryOperator::Add, &distance, &rest, step.span);
    binary(BinaryOperator::Divide, &rounded, step, step.span)
}

/// Returns the number of dimensions of an array, or of a part of one. Returns `None` for cells and computed values.
pub(super) fn rank(names: &Names, cells: &Expression) -> Option<usize> {
    match &cells.kind {
        ExpressionKind::Name { name, .. } => match names.find(name)? {
            Bound::Cells { shape: CellShape::Lengths(lengths), .. } => Some(lengths.len()),
            Bound::Cells { shape: CellShape::Slice(rank), .. } => {
                Some(if rank == Rank::Matrix { 2 } else { 1 })
            }
            _ => None,
        },
        ExpressionKind::Element(element) => {
            Some(element.subscripts.iter().filter(|it| !matches!(it, Subscript::At(_))).count())
        }
        _ => None,
    }
    .filter(|rank| *rank > 0)
}

/// Returns an element of an array, or of a part of one.
pub(super) fn element(names: &Names, cells: &Expression, indices: &[Expression]) -> Option<Expression> {
    rank(names, cells)?;
    let mut indices = indices.iter();
    let (name, adjoint, subscripts) = match &cells.kind {
        ExpressionKind::Name { name, adjoint } => {
            (name, *adjoint, indices.cloned().map(Subscript::At).collect())
        }
        ExpressionKind::Element(element) => {
            let mut subscripts = Vec::with_capacity(element.subscripts.len());
            for subscript in &element.subscripts {
                subscripts.push(match subscript {
                    Subscript::At(index) => Subscript::At(index.clone()),
                    Subscript::All => Subscript::At(indices.next()?.clone()),
                    Subscript::Span { from, step, .. } => {
                        Subscript::At(in_span(from, step.as_ref(), indices.next()?))
                    }
                });
            }
            (&element.name, element.adjoint, subscripts)
        }
        _ => return None,
    };
    let kind = ExpressionKind::Element(Box::new(Element { name: name.clone(), adjoint, subscripts }));
    Some(Expression { kind, span: cells.span })
}

/// Returns the index of an element in the array, from its index in a part.
fn in_span(from: &Expression, step: Option<&Expression>, index: &Expression) -> Expression {
    let distance = match step {
        Some(step) => binary(BinaryOperator::Multiply, step, index, step.span),
        None => index.clone(),
    };
    match from.kind {
        ExpressionKind::Int { value: 0, .. } => distance,
        _ => binary(BinaryOperator::Add, &distance, from, from.span),
    }
}
