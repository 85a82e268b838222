//! Call sites: the argument for each parameter, with the part of its address that is known before a run.

use crate::slot::{Anchor, ArrayElement, ArrayIndex, Matrix, Region, Slot};

/// A call of a procedure, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The number of the called procedure.
    pub procedure: u32,
    /// The arguments, one for each parameter of the callee, in the same order.
    pub arguments: Vec<Passed>,
}

/// A vector that a call passes, whole or in part. The length of a parameter is known only at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// The address of the first element.
    pub base: Anchor,
    /// The number of elements; `None` for a parameter.
    pub length: Option<u32>,
}

/// An argument of a call: a reference to one or more cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// A single cell or an immediate, passed for a scalar parameter.
    Cell(Slot),
    /// All elements of a vector.
    Whole(Array),
    /// A matrix, passed for a matrix parameter.
    Matrix(Matrix),
    /// All elements of a matrix in row-major order, passed for a vector parameter.
    Flat(Matrix),
    /// The elements `from`, `from + step`, … below `to`.
    Span {
        /// The vector that contains the elements.
        array: Array,
        /// The index of the first element.
        from: ArrayIndex,
        /// The upper bound of the indices, exclusive.
        to: ArrayIndex,
        /// The distance between indices, at least 1.
        step: u32,
    },
    /// A row of a matrix, passed for a vector parameter.
    Row {
        /// The matrix that contains the row.
        matrix: Matrix,
        /// The number of the row, from 0.
        row: ArrayIndex,
    },
    /// A column of a matrix, passed for a vector parameter.
    Column {
        /// The matrix that contains the column.
        matrix: Matrix,
        /// The number of the column, from 0.
        column: ArrayIndex,
    },
}

impl Passed {
    /// Returns the indices that locate the argument. For a single cell (`Cell`) the result is empty, because its
    /// indices are part of its slot.
    pub fn subscripts(&self) -> impl Iterator<Item = ArrayIndex> + use<> {
        let (first, second) = match *self {
            Passed::Cell(_) | Passed::Whole(_) | Passed::Matrix(_) | Passed::Flat(_) => (None, None),
            Passed::Span { from, to, .. } => (Some(from), Some(to)),
            Passed::Row { row: subscript, .. } | Passed::Column { column: subscript, .. } => {
                (Some(subscript), None)
            }
        };
        first.into_iter().chain(second)
    }

    /// Returns a region that contains all cells of the argument; `None` if a slot's element number is out of range.
    pub fn region(&self, elements: &[ArrayElement]) -> Option<Region> {
        Some(match *self {
            Passed::Cell(ref slot) => slot.locus(elements)?.region(),
            Passed::Whole(Array { base, length }) | Passed::Span { array: Array { base, length }, .. } => {
                Region { anchor: base, length: length.unwrap_or(u32::MAX) }
            }
            Passed::Matrix(matrix)
            | Passed::Flat(matrix)
            | Passed::Row { matrix, .. }
            | Passed::Column { matrix, .. } => matrix.region(),
        })
    }
}
