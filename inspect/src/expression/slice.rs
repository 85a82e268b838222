//! Resolves names with slices in their brackets, such as `A[2..5]`. As in the language, a slice doesn't
//! contain its end.

use reviver_isa::module::Shape;

use super::evaluate::is_mode;
use super::{ExpressionError, ExpressionNode, IndexNode, Scene};
use crate::cell_set::{Axis, CellSet};
use crate::memory::{Cell, MODE_BIT, Storage};
use reviver_vm::lookup::IndexError;

/// The elements that a slice selects in one dimension: first index, number of elements, and distance between
/// them.
#[derive(Clone, Copy)]
struct ElementSpan {
    from: i64,
    count: u32,
    by: i64,
}

impl Scene<'_> {
    /// Returns the cells of a whole array, a slice, or one element.
    pub(super) fn slice(
        &self,
        name: &str,
        adjoint: bool,
        indices: &[IndexNode],
    ) -> Result<CellSet, ExpressionError> {
        if is_mode(name, adjoint) && indices.is_empty() {
            return Ok(self.memory.target(self.state, MODE_BIT).into());
        }
        let storage = self.cells(name, adjoint)?;
        let whole = IndexNode::Span { from: None, to: None, by: None };
        let (lengths, every) = match storage.shape() {
            Shape::Scalar => (vec![], vec![]),
            Shape::Vector(length) => (vec![length], vec![whole]),
            Shape::Matrix(rows, columns) => (vec![rows, columns], vec![whole.clone(), whole]),
            Shape::Stack => {
                return Err(ExpressionError::Index { name: name.to_owned(), error: IndexError::Stack });
            }
        };
        let indices = if indices.is_empty() { &every } else { indices };
        if indices.len() != lengths.len() {
            let error = IndexError::Count { wanted: lengths.len() as u8 };
            return Err(ExpressionError::Index { name: name.to_owned(), error });
        }
        let spans = indices.iter().zip(lengths).map(|(index, length)| self.span(name, index, length));
        let spans: Vec<ElementSpan> = spans.collect::<Result<_, _>>()?;
        self.set(name, storage, &spans)
    }

    /// Returns the cells that all spans select, one span for each dimension.
    fn set(&self, name: &str, storage: Storage, spans: &[ElementSpan]) -> Result<CellSet, ExpressionError> {
        let failed = |error| ExpressionError::Index { name: name.to_owned(), error };
        let from: Vec<i64> = spans.iter().map(|span| span.from).collect();
        let first = storage.element(&from).map_err(failed)?;
        let axis = |n: usize| {
            let Some(span) = spans.get(n).filter(|span| span.count > 1) else { return Ok(Axis::NONE) };
            let mut next = from.clone();
            next.iter_mut().skip(n).take(1).for_each(|index| *index += span.by);
            let next: Cell = storage.element(&next).map_err(failed)?;
            Ok(Axis { count: span.count, stride: next.offset.saturating_sub(first.offset) })
        };
        let first = self.memory.target(self.state, first);
        match spans.len() {
            2 => Ok(CellSet::new(first, axis(0)?, axis(1)?)),
            _ => Ok(CellSet::new(first, Axis::NONE, axis(0)?)),
        }
    }

    fn span(&self, name: &str, index: &IndexNode, length: u32) -> Result<ElementSpan, ExpressionError> {
        let IndexNode::Span { from, to, by } = index else {
            let IndexNode::At(index) = index else { return Err(ExpressionError::Slice(name.to_owned())) };
            return Ok(ElementSpan { from: self.integer(index, "an index")?, count: 1, by: 1 });
        };
        let number = |node: &Option<ExpressionNode>, otherwise: i64| match node {
            Some(node) => self.integer(node, "a slice"),
            None => Ok(otherwise),
        };
        let (from, to) = (number(from, 0)?, number(to, i64::from(length))?);
        let (step, name) = (number(by, 1)?, name.to_owned());
        if step < 1 {
            return Err(ExpressionError::SliceStep { name, step });
        }
        if from >= to {
            return Err(ExpressionError::EmptySlice { name, from, to });
        }
        if from < 0 || to > i64::from(length) {
            return Err(ExpressionError::SliceOutside { name, from, to, length });
        }
        let count = (to.abs_diff(from)).div_ceil(step.unsigned_abs());
        Ok(ElementSpan { from, count: count as u32, by: step })
    }
}
