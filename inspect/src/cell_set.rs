//! Sets of cells, identified without a state: one cell, an array, or a slice of an array. A set only contains
//! the layout of the cells; the syntax of slices is parsed elsewhere.

use reviver_flow::{Anchor, Region, Slot};
use reviver_vm::State;

use crate::memory::{Cell, Memory, Storage, Target};

/// A regular two-dimensional grid of cells, starting at `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSet {
    first: Target,
    rows: Axis,
    columns: Axis,
}

/// One dimension of a set: the number of cells, and the distance between neighbouring cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Number of cells along the dimension.
    pub count: u32,
    /// Distance between neighbouring cells, in cells; 0 for a dimension of length 1.
    pub stride: u32,
}

impl Axis {
    /// A dimension of length 1.
    pub const NONE: Axis = Axis { count: 1, stride: 0 };

    /// Returns the distance between the first and the last cell of the dimension, in cells.
    fn extent(self) -> u64 {
        u64::from(self.count.saturating_sub(1)) * u64::from(self.stride)
    }

    /// Returns the index of the last cell that is at most `distance` cells after the first one, and the
    /// remaining distance.
    fn number(self, distance: u64) -> (u64, u64) {
        let number = distance.checked_div(u64::from(self.stride)).unwrap_or(0);
        let number = number.min(u64::from(self.count.saturating_sub(1)));
        (number, distance - number * u64::from(self.stride))
    }
}

impl From<Target> for CellSet {
    fn from(first: Target) -> CellSet {
        CellSet { first, rows: Axis::NONE, columns: Axis::NONE }
    }
}

impl CellSet {
    /// Creates the set that starts at `first`. All offsets of a row must be greater than all offsets of the previous
    /// row.
    pub fn new(first: Target, rows: Axis, columns: Axis) -> CellSet {
        CellSet { first, rows, columns }
    }

    /// Creates the set of all cells of a storage. `first` identifies the storage's first cell.
    pub fn whole(storage: &Storage, first: Target) -> CellSet {
        let stride =
            storage.cell(0).zip(storage.cell(1)).map_or(0, |(a, b)| b.offset.saturating_sub(a.offset));
        let count = u32::try_from(storage.cells()).unwrap_or(u32::MAX);
        CellSet { first, rows: Axis::NONE, columns: Axis { count, stride } }
    }

    /// Returns the cell with the lowest offset.
    pub fn first(&self) -> Target {
        self.first
    }

    /// Returns the cell of a set with one cell, and `None` for any other set.
    pub fn single(&self) -> Option<Target> {
        (self.rows.count == 1 && self.columns.count == 1).then_some(self.first)
    }

    /// Returns the cells of the set in a state. Returns `None` if the cells belong to a frame that isn't
    /// open.
    pub fn resolve(&self, memory: &Memory, state: &State) -> Option<ResolvedSet> {
        Some(ResolvedSet {
            first: memory.resolve(state, self.first)?,
            rows: self.rows,
            columns: self.columns,
        })
    }

    /// Returns true if a slot of a procedure may refer to one of the cells or to its adjoint. Without a state, the
    /// slot's address may be unknown. The result is true in that case.
    pub fn may_have(&self, memory: &Memory, procedure: usize, slot: &Slot) -> bool {
        let (class, offset) = match self.first {
            Target::Static(cell) => (cell.class, cell.offset),
            Target::Frame { class, relative, .. } => (class, relative),
        };
        let Some(locus) = memory.program().flow().locus(slot).filter(|_| slot.class == class) else {
            return false;
        };
        let Region { anchor, length } = locus.region();
        let first = match (anchor, self.first) {
            (Anchor::Fixed(first), Target::Static(_)) => first,
            (Anchor::Frame(_, first), Target::Frame { procedure: owner, .. }) if procedure == owner => first,
            // A parameter can refer to any cell of its class.
            (Anchor::Parameter(_), _) => return true,
            (Anchor::Constant(_) | Anchor::Fixed(_) | Anchor::Frame(..), _) => return false,
        };
        let (first, length, offset) = (u64::from(first), u64::from(length), u64::from(offset));
        first < offset + self.extent() + 1 && offset < first + length
    }

    fn extent(&self) -> u64 {
        self.rows.extent() + self.columns.extent()
    }
}

/// The cells of a set in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedSet {
    first: Cell,
    rows: Axis,
    columns: Axis,
}

impl ResolvedSet {
    /// Returns true if the cell is in the set. A value and its adjoint are different cells.
    pub fn contains(&self, cell: Cell) -> bool {
        let Some(distance) = cell.offset.checked_sub(self.first.offset) else { return false };
        let is_kin = cell.class == self.first.class && cell.adjoint == self.first.adjoint;
        let (_, left) = self.rows.number(u64::from(distance));
        let (_, left) = self.columns.number(left);
        is_kin && left == 0
    }

    /// Returns the cell with the lowest offset.
    pub fn first(&self) -> Cell {
        self.first
    }

    /// Returns the cell with the highest offset.
    pub fn last(&self) -> Cell {
        let extent = self.rows.extent() + self.columns.extent();
        self.at(extent)
    }

    /// Returns the cells in row-major order.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        let row = |n: u32| u64::from(n) * u64::from(self.rows.stride);
        let column = |n: u32| u64::from(n) * u64::from(self.columns.stride);
        (0..self.rows.count)
            .flat_map(move |r| (0..self.columns.count).map(move |c| self.at(row(r) + column(c))))
    }

    fn at(&self, distance: u64) -> Cell {
        Cell { offset: self.first.offset.saturating_add(distance as u32), ..self.first }
    }
}

#[cfg(test)]
mod tests {
    use reviver_isa::instruction::Class;

    use super::*;

    #[test]
    fn a_set_contains_exactly_its_cells() {
        let axis = |count, stride| Axis { count, stride };
        let sets = [
            (Axis::NONE, Axis::NONE),
            (Axis::NONE, axis(4, 1)),
            (Axis::NONE, axis(4, 3)),
            (axis(3, 10), axis(2, 4)),
            (axis(3, 10), Axis::NONE),
            (axis(2, 7), axis(7, 1)),
        ];
        for (rows, columns) in sets {
            let first = Cell::new(Class::Int, 5);
            let set = ResolvedSet { first, rows, columns };
            let cells: Vec<u32> = set.cells().map(|cell| cell.offset).collect();
            assert_eq!(cells.len() as u32, rows.count * columns.count);
            assert_eq!(cells.last(), Some(&set.last().offset));
            let found = (0..60).filter(|offset| set.contains(Cell::new(Class::Int, *offset)));
            assert_eq!(found.collect::<Vec<_>>(), cells);
            assert!(!set.contains(Cell::new(Class::Real, 5)));
        }
    }
}
