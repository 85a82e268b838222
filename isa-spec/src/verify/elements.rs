//! Analysis of constant arguments. The analysis determines which elements of a global array an argument
//! certainly names, whether two arguments share an element, and whether an argument is the same in every
//! iteration of a loop. The analysis uses constants only; the machine checks cases that depend on values at the
//! call.

use crate::instruction::{Argument, Base, Index, Operand, Place, Range, Slice, Term};
use crate::module::{Module, Shape};

/// The maximum number of cells for which two arguments are compared. If the smaller argument has more cells,
/// overlaps of its further cells are detected at run time.
const MOST_CELLS: u64 = 4096;

/// The elements of a global array that an argument names: `count` cells from `first` on, at the constant
/// distance `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CertainElements {
    global: u32,
    first: u64,
    step: u64,
    count: u64,
}

impl CertainElements {
    /// Returns the elements that an argument names, or `None` if they depend on values or the argument is
    /// empty. Also returns `None` for indices out of bounds, which other rules report.
    pub(super) fn of(module: &Module, argument: &Argument) -> Option<CertainElements> {
        match argument {
            Argument::Scalar(Operand::Place(Place { base: Base::Global(global), adjoint: false, index })) => {
                let shape = module.globals.get(*global as usize)?.shape;
                let first = element(shape, index.as_deref()?)?;
                Some(CertainElements { global: *global, first, step: 1, count: 1 })
            }
            Argument::Slice(Slice { base: Base::Global(global), range }) => {
                let shape = module.globals.get(*global as usize)?.shape;
                let (first, step, count) = elements(shape, *range)?;
                (count > 0).then_some(CertainElements { global: *global, first, step, count })
            }
            Argument::Scalar(_) | Argument::Slice(_) => None,
        }
    }

    /// Returns true if both sets of elements share a cell. Some overlaps of more than [`MOST_CELLS`] cells
    /// are missed.
    pub(super) fn meet(&self, other: &CertainElements) -> bool {
        if self.global != other.global {
            return false;
        }
        if self.step == 1 && other.step == 1 {
            return self.first < other.first + other.count && other.first < self.first + self.count;
        }
        let (few, many) = if self.count <= other.count { (self, other) } else { (other, self) };
        (0..few.count.min(MOST_CELLS)).any(|n| many.has(few.first + n * few.step))
    }

    fn has(&self, cell: u64) -> bool {
        let Some(distance) = cell.checked_sub(self.first) else { return false };
        distance % self.step == 0 && distance / self.step < self.count
    }
}

/// Returns true if an argument names the same cells in every execution of its call, and at least one cell.
pub(super) fn is_fixed(argument: &Argument) -> bool {
    let is_constant = |term: Term| term.cell.is_none();
    match argument {
        Argument::Scalar(Operand::Place(Place { index, .. })) => match index.as_deref() {
            None => true,
            Some(Index::One(n)) => is_constant(*n),
            Some(Index::Two(row, column)) => is_constant(*row) && is_constant(*column),
        },
        Argument::Scalar(_) => false,
        Argument::Slice(Slice { range, .. }) => match range {
            Range::Whole => true,
            Range::Span { from, to, .. } => {
                constant(*from).zip(constant(*to)).is_some_and(|(from, to)| from < to)
            }
            Range::Row(n) | Range::Column(n) => is_constant(*n),
        },
    }
}

fn constant(term: Term) -> Option<u64> {
    if term.cell.is_none() { u64::try_from(term.offset).ok() } else { None }
}

fn element(shape: Shape, index: &Index) -> Option<u64> {
    match (shape, index) {
        (Shape::Vector(length), Index::One(n)) => constant(*n).filter(|&n| n < u64::from(length)),
        (Shape::Matrix(rows, columns), Index::Two(row, column)) => {
            let row = constant(*row).filter(|&row| row < u64::from(rows))?;
            let column = constant(*column).filter(|&column| column < u64::from(columns))?;
            Some(row * u64::from(columns) + column)
        }
        _ => None,
    }
}

/// Returns the first element of a slice, the distance between elements, and the number of elements.
fn elements(shape: Shape, range: Range) -> Option<(u64, u64, u64)> {
    match (shape, range) {
        (_, Range::Whole) => Some((0, 1, shape.cells())),
        (Shape::Vector(length), Range::Span { from, to, step }) => {
            let (from, to) = (constant(from)?, constant(to).filter(|&to| to <= u64::from(length))?);
            let step = u64::from(step).max(1);
            Some((from, step, to.saturating_sub(from).div_ceil(step)))
        }
        (Shape::Matrix(rows, columns), Range::Row(row)) => {
            let (row, columns) = (constant(row).filter(|&row| row < u64::from(rows))?, u64::from(columns));
            Some((row * columns, 1, columns))
        }
        (Shape::Matrix(rows, columns), Range::Column(column)) => {
            let column = constant(column).filter(|&column| column < u64::from(columns))?;
            Some((column, u64::from(columns), u64::from(rows)))
        }
        _ => None,
    }
}
