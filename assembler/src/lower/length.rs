//! `len(v)`: a constant of an array; of a slice the parameter that brings it.

use reviver_isa::function::Function;
use reviver_isa::instruction::{Argument, Base, Class, Range, Slice, Term};
use reviver_isa::module::{Extent, Shape};

use super::Lowering;
use super::constant::Number;
use super::lengths::no_length;
use super::scope::Meaning;
use crate::source::Span;
use crate::tree::LengthOf;

impl Lowering<'_> {
    /// `len(v)`, `len(M, 0)`
    pub(super) fn length(&mut self, length: &LengthOf, span: Span) -> Option<Meaning> {
        let LengthOf { name, dimension } = length;
        let dimension = match dimension {
            None => None,
            Some(dimension) => match self.constant(dimension)? {
                Number::Int { value, .. } => Some(value),
                Number::Real(_) => return self.no_length(name, span),
            },
        };
        let Meaning::Variable { base, adjoint: false } = self.lookup(name, span)? else {
            return self.no_length(name, span);
        };
        match self.fact(base).map(|(_, _, extent)| extent) {
            Some(Extent::Slice) if matches!(dimension, None | Some(0)) => {
                self.passed_length(base).map_or_else(|| self.no_length(name, span), Some)
            }
            Some(Extent::Cells(shape)) => match self.declared.array_length(shape, dimension) {
                Some(number) => Some(Meaning::Constant(number)),
                None => self.no_length(name, span),
            },
            _ => self.no_length(name, span),
        }
    }

    fn no_length<T>(&mut self, name: &str, span: Span) -> Option<T> {
        let message = format!("`{name}` has no such length");
        self.report.fail(no_length(message, name, span))
    }

    /// The parameter that brings the length of a slice.
    fn passed_length(&self, slice: Base) -> Option<Meaning> {
        let Base::Parameter(number) = slice else { return None };
        let asked = self.declared.asked_lengths(self.current.number);
        let n = asked.iter().position(|parameter| *parameter == number as usize)?;
        let first = self.current.parameters.len().checked_sub(asked.len())?;
        Some(Meaning::Variable { base: Base::Parameter((first + n) as u32), adjoint: false })
    }

    /// The length of what is passed for a slice.
    pub(super) fn length_of_argument(&mut self, argument: &Argument, span: Span) -> Option<Argument> {
        let Argument::Slice(Slice { base, range }) = argument else { return None };
        let extent = self.fact(*base).map(|(_, _, extent)| extent)?;
        let meaning = match (range, extent) {
            (Range::Whole, Extent::Cells(shape)) => Meaning::Constant(Number::int(shape.cells().into())),
            (Range::Whole, Extent::Slice) => match self.passed_length(*base) {
                Some(meaning) => meaning,
                None => {
                    let name = self.base_name(*base).to_owned();
                    return self.no_length(&name, span);
                }
            },
            (Range::Span { from, to, step }, _) => self.span_length(*from, *to, *step, span)?,
            (Range::Row(_), Extent::Cells(Shape::Matrix(_, columns))) => {
                Meaning::Constant(Number::int(columns.into()))
            }
            (Range::Column(_), Extent::Cells(Shape::Matrix(rows, _))) => {
                Meaning::Constant(Number::int(rows.into()))
            }
            // The verifier says that no vector has rows.
            _ => Meaning::Constant(Number::int(0)),
        };
        let source = self.source_of(meaning, span)?;
        self.typed(source, Class::Int, span).map(Argument::Scalar)
    }

    /// How many elements are from `from` up to `to`, in steps: `(to - from + step - 1) / step`.
    fn span_length(&mut self, from: Term, to: Term, step: u32, span: Span) -> Option<Meaning> {
        let number = |value: i64| Meaning::Constant(Number::int(value.into()));
        let meaning = |term: Term| match term.cell {
            None => number(term.offset),
            Some(base) => Meaning::Sum { base, offset: term.offset.into() },
        };
        let above = Term { offset: to.offset.checked_add(i64::from(step) - 1)?, ..to };
        if let (None, None) = (from.cell, to.cell) {
            return Some(number(above.offset.checked_sub(from.offset)? / i64::from(step)));
        }
        let distance = self.formula(Function::Diff, [(meaning(above), span), (meaning(from), span)])?;
        if step == 1 {
            return Some(distance);
        }
        self.formula(Function::Div, [(distance, span), (number(step.into()), span)])
    }
}
