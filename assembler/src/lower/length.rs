//! The expression `len(v)`. If `v` is a declared array, the length is a constant. If `v` is an array parameter, the
//! length is an additional parameter, which every call passes.

use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Argument, Base, Class, Range, Slice, Term};
use reviver_isa::module::{Extent, Shape};

use super::Lowering;
use super::constant::Number;
use super::lengths::{ParameterLength, no_length};
use super::scope::Meaning;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::LengthOf;

impl Lowering<'_> {
    /// Returns the meaning of `len(v)` or `len(M, 0)`, or `None` after reporting an error.
    pub(super) fn length(&mut self, length: &LengthOf, span: Span) -> Option<Meaning> {
        let LengthOf { name, dimension } = length;
        let dimension = match dimension {
            None => None,
            Some(dimension) => match self.constant(dimension)?.integer() {
                Some(value) => Some(value),
                None => return self.no_length(name, span),
            },
        };
        let Meaning::Variable { base, adjoint: false } = self.lookup(name, span)? else {
            return self.no_length(name, span);
        };
        match self.fact(base).map(|(_, _, extent)| extent) {
            Some(Extent::Slice) if matches!(dimension, None | Some(0)) => {
                self.passed_length(base, None, span)
            }
            Some(Extent::Matrix) if matches!(dimension, Some(0 | 1)) => {
                self.passed_length(base, dimension.map(|d| u8::from(d == 1)), span)
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

    /// Returns the parameter that passes a length of another parameter: that of a slice, or of a dimension of
    /// a matrix. Reports an error if there is none.
    fn passed_length(&mut self, measured: Base, dimension: Option<u8>, span: Span) -> Option<Meaning> {
        self.bringing(measured, dimension).or_else(|| {
            let name = self.base_name(measured).to_owned();
            self.no_length(&name, span)
        })
    }

    fn bringing(&self, measured: Base, dimension: Option<u8>) -> Option<Meaning> {
        let Base::Parameter(number) = measured else { return None };
        let asked = self.declared.asked_lengths(self.current.number);
        let wanted = ParameterLength { parameter: number as usize, dimension };
        let n = asked.iter().position(|length| *length == wanted)?;
        let first = self.current.parameters.len().checked_sub(asked.len())?;
        Some(Meaning::Variable { base: Base::Parameter((first + n) as u32), adjoint: false })
    }

    /// Returns true if a base is a parameter that passes a length.
    pub(super) fn is_length(&self, base: Base) -> bool {
        let Base::Parameter(number) = base else { return false };
        let asked = self.declared.asked_lengths(self.current.number).len();
        self.current.parameters.len().checked_sub(asked).is_some_and(|first| number as usize >= first)
    }

    /// Returns the operand for a length of an argument: its number of cells, or the length of a matrix
    /// dimension.
    pub(super) fn length_of_argument(
        &mut self,
        argument: &Argument,
        dimension: Option<u8>,
        span: Span,
    ) -> Option<Argument> {
        let Argument::Slice(Slice { base, range }) = argument else { return None };
        let (base, extent) = (*base, self.fact(*base).map(|(_, _, extent)| extent)?);
        let meaning = match range {
            Range::Whole => match dimension {
                Some(dimension) => self.dimension(base, extent, dimension, span)?,
                None => self.cell_count(base, extent, span)?,
            },
            Range::Span { from, to, step } => {
                let length = self.span_length(*from, *to, *step, span)?;
                // A length that is computed at run time may be the length of the whole array. So the length of
                // the whole array must fit into a word.
                if let (Extent::Cells(shape), false) = (extent, matches!(length, Meaning::Constant(_))) {
                    self.length_fits(base, shape.cells().into(), "cells", span)?;
                }
                length
            }
            Range::Row(_) => self.dimension(base, extent, 1, span)?,
            Range::Column(_) => self.dimension(base, extent, 0, span)?,
        };
        if let Meaning::Constant(number) = &meaning
            && let Some(value) = number.integer()
        {
            let what = match (range, dimension) {
                (Range::Whole, Some(0)) => "rows",
                (Range::Whole, Some(_)) => "columns",
                (Range::Whole, None) => "cells",
                (Range::Span { .. }, _) => "cells in this part",
                (Range::Row(_), _) => "cells in a row",
                (Range::Column(_), _) => "cells in a column",
            };
            self.length_fits(base, value, what, span)?;
        }
        let source = self.source_of(meaning, span)?;
        self.typed(source, Class::Int, span).map(Argument::Scalar)
    }

    /// Returns the number of rows or columns of a matrix.
    fn dimension(&mut self, matrix: Base, extent: Extent, dimension: u8, span: Span) -> Option<Meaning> {
        match extent {
            Extent::Cells(Shape::Matrix(rows, columns)) => {
                Some(constant(if dimension == 0 { rows } else { columns }.into()))
            }
            Extent::Matrix => self.passed_length(matrix, Some(dimension), span),
            // The verifier rejects a vector where a matrix is required, so the result has no effect.
            Extent::Cells(_) | Extent::Slice => Some(constant(0)),
        }
    }

    /// Returns the number of cells of an array.
    fn cell_count(&mut self, array: Base, extent: Extent, span: Span) -> Option<Meaning> {
        match extent {
            Extent::Cells(shape) => Some(constant(shape.cells().into())),
            Extent::Slice | Extent::Matrix => self.passed_length(array, None, span),
        }
    }

    /// Reports a length that doesn't fit into a word of the program, because it would wrap.
    fn length_fits(&mut self, array: Base, count: i128, what: &str, span: Span) -> Option<()> {
        let word = self.declared.word;
        if count <= i128::from(*word.range().end()) {
            return Some(());
        }
        let (name, bits) = (self.base_name(array), word.bits());
        let message = format!("the length of `{name}` is {count} {what}, which doesn't fit into {bits} bits");
        let help = "choose `.word 32` or `.word 64`: the procedure uses the length of its argument";
        self.report.fail(
            Diagnostic::error(
                ProblemCode::NumberDoesNotFit,
                message,
                span,
                "the call also passes the length of this array",
            )
            .help(help),
        )
    }

    /// Returns the number of elements of the slice `from..to step s`: `floordiv(to - from - 1, s) + 1`. If
    /// the bounds are valid, no intermediate result is greater than a length, so nothing wraps. Invalid
    /// bounds trap at the call.
    fn span_length(&mut self, from: Term, to: Term, step: u32, span: Span) -> Option<Meaning> {
        let less = i128::from(step > 1);
        let difference = i128::from(to.offset) - i128::from(from.offset) - less;
        let distance = if from.cell == to.cell {
            constant(difference)
        } else if from.cell.is_none() && (difference != 0 || step > 1) {
            shifted(to.cell, difference)
        } else {
            // The cell itself can't be passed as the length: it would be an alias of the caller's cell, which
            // the callee might change. So the length is computed into a temporary.
            let to = shifted(to.cell, i128::from(to.offset) - less);
            let from = shifted(from.cell, from.offset.into());
            self.formula(Function::Diff, [(to, span), (from, span)])?
        };
        if step == 1 {
            return Some(match distance {
                // A negative length is replaced by 0. The verifier reports the bounds.
                Meaning::Constant(Number::Int { value, .. }) => constant(value.max(0)),
                computed => computed,
            });
        }
        if let Meaning::Constant(Number::Int { value, .. }) = distance {
            return Some(constant(0.max(value.div_euclid(step.into()) + 1)));
        }
        // A step that doesn't fit into a word is replaced by the greatest word. With either step there is at
        // most one element.
        let step = i128::from(step).min(i128::from(*self.declared.word.range().end()));
        let whole = self.formula(Function::Floordiv, [(distance, span), (constant(step), span)])?;
        self.formula(Function::Sum, [(whole, span), (constant(1), span)])
    }
}

fn constant(value: i128) -> Meaning {
    Meaning::Constant(Number::int(value))
}

/// Returns the sum of a cell, if any, and an offset.
fn shifted(cell: Option<Base>, offset: i128) -> Meaning {
    match cell {
        None => constant(offset),
        Some(base) if offset == 0 => Meaning::Variable { base, adjoint: false },
        Some(base) => Meaning::Sum { base, offset, wraps: true },
    }
}
