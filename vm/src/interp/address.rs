//! Address resolution of slots at run time. The module reads index cells and references, and changes no state.

use reviver_flow::call::Array;
use reviver_flow::{Anchor, ArrayElement, ArrayIndex, Flow, Locus, Matrix, Passed, Slot, Step};
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};

use crate::interp::window::require_distinct;
use crate::state::{self, Frame, Reference};
use crate::trap::Cause;

/// The bit that marks an address as that of an adjoint.
pub const ADJOINT: usize = state::ADJOINT as usize;

/// The context that addresses depend on: the flow, the current frame, and its references.
#[derive(Clone, Copy)]
pub struct Addresses<'a> {
    pub flow: &'a Flow,
    pub frame: Frame,
    pub references: &'a [Reference],
}

/// An index that is outside of its array.
pub struct OutOfBounds {
    dimension: u32,
    index: i64,
    length: u32,
}

impl OutOfBounds {
    fn at(self, operand: u32) -> Cause {
        Cause::Index { operand, dimension: self.dimension, index: self.index, length: self.length }
    }
}

impl Addresses<'_> {
    /// Returns the cells of a step's operands. Fails if an index is out of bounds. Also fails if an alias guard of the
    /// step requires two cells to differ, and they are the same cell.
    pub fn operands(&self, step: &Step, ints: &[i64]) -> Result<[usize; 3], Cause> {
        let mut cells = [0; 3];
        for ((n, cell), slot) in (0..).zip(&mut cells).zip(&step.slots) {
            *cell = self.slot(slot, ints).map_err(|bounds| bounds.at(n))?;
        }
        if keeps(Rule::AliasesAreChecked) {
            require_distinct(step.guards, cells, |cell| self.index_of(step, cell))?;
        }
        Ok(cells)
    }

    /// Returns the number of the first operand whose index is in the integer cell `cell`.
    fn index_of(&self, step: &Step, cell: usize) -> Option<u32> {
        let is_index =
            |subscript: ArrayIndex| subscript.cell.is_some_and(|anchor| self.anchor(anchor) == cell);
        let has_index = |slot: &Slot| match self.flow.locus(slot) {
            Some(Locus::Element(element)) => element.subscripts().any(is_index),
            Some(Locus::Cell(_)) | None => false,
        };
        step.slots.iter().position(has_index).map(|n| n as u32)
    }

    /// Returns the address of a slot's cell; for an adjoint, with the bit [`ADJOINT`] set.
    pub fn slot(&self, slot: &Slot, ints: &[i64]) -> Result<usize, OutOfBounds> {
        let cell = self.flow.locus(slot).map_or(Ok(0), |locus| self.locus(&locus, ints))?;
        Ok(if slot.adjoint { cell | ADJOINT } else { cell })
    }

    pub fn locus(&self, locus: &Locus, ints: &[i64]) -> Result<usize, OutOfBounds> {
        match *locus {
            Locus::Cell(anchor) => Ok(self.anchor(anchor)),
            Locus::Element(element) => self.element(element, ints),
        }
    }

    fn element(&self, element: ArrayElement, ints: &[i64]) -> Result<usize, OutOfBounds> {
        match element {
            ArrayElement::Vector { base, length, index } => {
                let array = self.array(Array { base, length });
                let index = self.index(index, array.length, 0, ints)?;
                Ok(array.base as usize + index * array.stride as usize)
            }
            ArrayElement::Matrix { matrix, row, column } => {
                let rows = self.matrix(matrix);
                let row = self.index(row, rows.length, 0, ints)?;
                let column = self.index(column, rows.stride, 1, ints)?;
                Ok(rows.base as usize + row * rows.stride as usize + column)
            }
        }
    }

    /// Returns the cell that an anchor denotes; for a parameter, the first cell of the argument.
    pub fn anchor(&self, anchor: Anchor) -> usize {
        match anchor {
            Anchor::Constant(cell) | Anchor::Fixed(cell) => cell as usize,
            Anchor::Frame(Class::Int, offset) => self.frame.ints as usize + offset as usize,
            Anchor::Frame(Class::Real, offset) => self.frame.reals as usize + offset as usize,
            Anchor::Parameter(n) => self.parameter(n).base as usize,
        }
    }

    fn parameter(&self, n: u32) -> Reference {
        self.references[self.frame.references as usize + n as usize]
    }

    /// Returns a reference to all elements of an array; for a parameter, the argument that was passed.
    fn array(&self, Array { base, length }: Array) -> Reference {
        match (base, length) {
            (Anchor::Parameter(n), _) => self.parameter(n),
            (_, length) => {
                Reference { base: self.anchor(base) as u32, length: length.unwrap_or(0), stride: 1 }
            }
        }
    }

    /// Returns a reference to the rows of a matrix: `length` is the number of rows, `stride` the number of
    /// columns.
    fn matrix(&self, matrix: Matrix) -> Reference {
        match (matrix.base, matrix.size) {
            (Anchor::Parameter(n), _) => self.parameter(n),
            (base, size) => {
                let (length, stride) = size.unwrap_or((0, 0));
                Reference { base: self.anchor(base) as u32, length, stride }
            }
        }
    }

    fn subscript(&self, subscript: ArrayIndex, ints: &[i64]) -> i64 {
        match subscript.cell {
            // Verified offsets are so small that a wrapped sum is outside of every array.
            Some(anchor) => ints[self.anchor(anchor)].wrapping_add(subscript.offset),
            None => subscript.offset,
        }
    }

    fn index(
        &self,
        subscript: ArrayIndex,
        length: u32,
        dimension: u32,
        ints: &[i64],
    ) -> Result<usize, OutOfBounds> {
        let index = self.subscript(subscript, ints);
        // Without this rule, which mutation tests switch off, the index just past the end is accepted.
        let end = u64::from(length) + u64::from(!keeps(Rule::IndicesAreChecked));
        if (index as u64) < end { Ok(index as usize) } else { Err(OutOfBounds { dimension, index, length }) }
    }

    /// Returns the reference that a call passes for its parameter `n`.
    pub fn reference(&self, n: u32, passed: &Passed, ints: &[i64]) -> Result<Reference, Cause> {
        let bounded = |subscript, length, dimension| {
            self.index(subscript, length, dimension, ints).map(|i| i as u32).map_err(|bounds| bounds.at(n))
        };
        match *passed {
            Passed::Cell(ref slot) => {
                let cell = self.slot(slot, ints).map_err(|bounds| bounds.at(n))?;
                Ok(Reference { base: cell as u32, length: 1, stride: 1 })
            }
            Passed::Whole(array) => Ok(self.array(array)),
            Passed::Matrix(matrix) => Ok(self.matrix(matrix)),
            Passed::Flat(matrix) => Ok(self.matrix(matrix).flattened()),
            Passed::Span { array, from, to, step } => {
                let (from, to) = (self.subscript(from, ints), self.subscript(to, ints));
                span(n, self.array(array), from, to, step)
            }
            Passed::Row { matrix, row } => {
                let Reference { base, length: rows, stride: columns } = self.matrix(matrix);
                let row = bounded(row, rows, 0)?;
                Ok(Reference { base: base + row * columns, length: columns, stride: 1 })
            }
            Passed::Column { matrix, column } => {
                let rows = self.matrix(matrix);
                let column = bounded(column, rows.stride, 1)?;
                Ok(Reference { base: rows.base + column, ..rows })
            }
        }
    }
}

/// Returns the part of a slice with the elements `from`, `from + step`, … below `to`.
fn span(argument: u32, whole: Reference, from: i64, to: i64, step: u32) -> Result<Reference, Cause> {
    if !(0 <= from && from <= to && to <= i64::from(whole.length)) {
        return Err(Cause::SliceBounds { argument, from, to, length: whole.length });
    }
    // Both bounds are within the slice's length, so they fit into `u32`.
    let (first, count) = (from as u32, (to - from) as u32);
    let length = count.div_ceil(step);
    // An empty slice refers to no cell. A fixed base makes all empty parts of a slice compare equal.
    let base = if length == 0 { whole.base } else { whole.base + first * whole.stride };
    Ok(Reference { base, length, stride: whole.stride.saturating_mul(step) })
}
