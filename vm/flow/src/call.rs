//! Calls: what is passed for each parameter, with as much of it as is known before a run. Knows no state.

use crate::slot::{Anchor, ArrayElement, ArrayIndex, Matrix, Region, Slot};

/// A call of a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The number of the callee.
    pub procedure: u32,
    pub arguments: Vec<Passed>,
}

/// A vector that a call passes, or passes a part of. A parameter brings its own length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    pub base: Anchor,
    pub length: Option<u32>,
}

/// What a call passes for one parameter: a reference to these cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    Cell(Slot),
    /// All elements of a vector.
    Whole(Array),
    /// A matrix, as a matrix.
    Matrix(Matrix),
    /// All elements of a matrix as a vector, row after row.
    Flat(Matrix),
    /// Those from, from + step, … below `to`.
    Span {
        array: Array,
        from: ArrayIndex,
        to: ArrayIndex,
        step: u32,
    },
    Row {
        matrix: Matrix,
        row: ArrayIndex,
    },
    Column {
        matrix: Matrix,
        column: ArrayIndex,
    },
}

impl Passed {
    /// What is computed from cells to find it, where it isn't an element.
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

    /// The cells among which those are that it refers to; none of an element that isn't there.
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
