//! From places to cells: the addresses that are only known at a step. Reads index cells and
//! references; changes nothing.

use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};

use crate::op::{self, Argument, Op, Place, Spot, Term};
use crate::state::{self, Frame, Reference};
use crate::trap::Cause;

/// Set in the address of an adjoint.
pub const ADJOINT: usize = state::ADJOINT as usize;

/// What addresses depend on.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub places: &'a [Place],
    pub frame: Frame,
    pub references: &'a [Reference],
}

/// An index outside of its array.
struct OutOfBounds {
    dimension: u32,
    index: i64,
    length: u32,
}

impl OutOfBounds {
    fn at(self, operand: u32) -> Cause {
        Cause::Index { operand, dimension: self.dimension, index: self.index, length: self.length }
    }
}

impl Scope<'_> {
    /// The cells of an op with dynamic operands, told apart as the op demands.
    #[inline(always)]
    pub fn operands(&self, op: &Op, ints: &[i64]) -> Result<[usize; 3], Cause> {
        let cells = self.sources(op, 3, ints)?;
        if op.guards != 0 && keeps(Rule::AliasesAreChecked) {
            self.distinct(op, cells, ints)?;
        }
        Ok(cells)
    }

    /// The cells of the first `count` operands.
    #[inline(always)]
    pub fn sources(&self, op: &Op, count: usize, ints: &[i64]) -> Result<[usize; 3], Cause> {
        let mut cells = op.cells();
        for (n, cell) in cells.iter_mut().enumerate().take(count) {
            if op.flags & op::DYNAMIC[n] != 0 {
                let place = &self.places[*cell];
                *cell = self.cell(place, ints).map_err(|bounds| bounds.at(n as u32))?;
            }
        }
        Ok(cells)
    }

    #[inline]
    fn distinct(&self, op: &Op, [a, b, c]: [usize; 3], ints: &[i64]) -> Result<(), Cause> {
        if op.guards & op::DISTINCT_AB != 0 && a == b {
            return Err(Cause::Alias { operand: 1 });
        }
        if op.guards & op::DISTINCT_AC != 0 && a == c || op.guards & op::DISTINCT_BC != 0 && b == c {
            return Err(Cause::Alias { operand: 2 });
        }
        if op.guards & op::NO_INDEX_A != 0 {
            self.not_an_index(op, a, ints)?;
        }
        if op.guards & op::NO_INDEX_B != 0 {
            self.not_an_index(op, b, ints)?;
        }
        Ok(())
    }

    /// A target must not be an index cell of any operand: its old value would be needed to find it.
    fn not_an_index(&self, op: &Op, target: usize, ints: &[i64]) -> Result<(), Cause> {
        for (n, number) in [op.a, op.b, op.c].into_iter().enumerate() {
            if op.flags & op::DYNAMIC[n] == 0 {
                continue;
            }
            let is_index = |term: Term| term.cell.is_some_and(|spot| self.spot(spot, ints) == target);
            if self.terms(number).into_iter().flatten().any(is_index) {
                return Err(Cause::Alias { operand: n as u32 });
            }
        }
        Ok(())
    }

    /// The indices of a place.
    fn terms(&self, number: u32) -> [Option<Term>; 2] {
        match self.places[number as usize] {
            Place::Scalar(_) => [None, None],
            Place::Vector { term, .. } => [Some(term), None],
            Place::Matrix { row, column, .. } => [Some(row), Some(column)],
            Place::AdjointOf(place) => self.terms(place),
        }
    }

    #[inline(always)]
    fn spot(&self, spot: Spot, _ints: &[i64]) -> usize {
        match spot {
            Spot::Absolute(cell) => cell as usize,
            Spot::Frame(Class::Int, offset) => self.frame.ints as usize + offset as usize,
            Spot::Frame(Class::Real, offset) => self.frame.reals as usize + offset as usize,
            Spot::Parameter(n) => self.parameter(n).base as usize,
        }
    }

    #[inline(always)]
    fn parameter(&self, n: u32) -> Reference {
        self.references[self.frame.references as usize + n as usize]
    }

    #[inline(always)]
    fn term(&self, term: Term, ints: &[i64]) -> i64 {
        match term.cell {
            // Verified offsets are so small that a sum which wraps is outside of every array.
            Some(spot) => ints[self.spot(spot, ints)].wrapping_add(term.offset),
            None => term.offset,
        }
    }

    #[inline(always)]
    fn index(&self, term: Term, length: u32, dimension: u32, ints: &[i64]) -> Result<usize, OutOfBounds> {
        let index = self.term(term, ints);
        // A mutant lets the index right behind the last one pass.
        let end = u64::from(length) + u64::from(!keeps(Rule::IndicesAreChecked));
        if (index as u64) < end { Ok(index as usize) } else { Err(OutOfBounds { dimension, index, length }) }
    }

    #[inline(always)]
    fn cell(&self, place: &Place, ints: &[i64]) -> Result<usize, OutOfBounds> {
        match *place {
            Place::AdjointOf(primal) => self.adjoint(primal, ints),
            Place::Scalar(spot) => Ok(self.spot(spot, ints)),
            Place::Vector { base: Spot::Parameter(n), term, .. } => {
                let slice = self.parameter(n);
                let index = self.index(term, slice.length, 0, ints)?;
                Ok(slice.base as usize + index * slice.stride as usize)
            }
            Place::Vector { base, length, term } => {
                Ok(self.spot(base, ints) + self.index(term, length, 0, ints)?)
            }
            Place::Matrix { base, rows, columns, row, column } => {
                let row = self.index(row, rows, 0, ints)?;
                let column = self.index(column, columns, 1, ints)?;
                Ok(self.spot(base, ints) + row * columns as usize + column)
            }
        }
    }

    #[inline(never)]
    fn adjoint(&self, primal: u32, ints: &[i64]) -> Result<usize, OutOfBounds> {
        self.cell(&self.places[primal as usize], ints).map(|cell| cell | ADJOINT)
    }

    /// What a call passes for its parameter `n`.
    pub fn reference(&self, n: u32, argument: &Argument, ints: &[i64]) -> Result<Reference, Cause> {
        let row_of = |base: Spot, length: u32, stride: u32| Reference {
            base: self.spot(base, ints) as u32,
            length,
            stride,
        };
        let bounded = |term, length, dimension| {
            self.index(term, length, dimension, ints).map(|i| i as u32).map_err(|bounds| bounds.at(n))
        };
        match *argument {
            Argument::Cell(ref place) => {
                let cell = self.cell(place, ints).map_err(|bounds| bounds.at(n))?;
                Ok(Reference { base: cell as u32, length: 1, stride: 1 })
            }
            Argument::Whole { base: Spot::Parameter(parameter), .. } => Ok(self.parameter(parameter)),
            Argument::Whole { base, length } => Ok(row_of(base, length, 1)),
            Argument::Span { base, length, from, to, step } => {
                let whole = match base {
                    Spot::Parameter(parameter) => self.parameter(parameter),
                    _ => row_of(base, length, 1),
                };
                self.span(n, whole, self.term(from, ints), self.term(to, ints), step)
            }
            Argument::Row { base, rows, columns, row } => {
                let row = bounded(row, rows, 0)?;
                let all = row_of(base, columns, 1);
                Ok(Reference { base: all.base + row * columns, ..all })
            }
            Argument::Column { base, rows, columns, column } => {
                let column = bounded(column, columns, 1)?;
                let all = row_of(base, rows, columns);
                Ok(Reference { base: all.base + column, ..all })
            }
        }
    }

    /// Part of a slice: the elements from, from + step, … below `to`.
    fn span(
        &self,
        argument: u32,
        whole: Reference,
        from: i64,
        to: i64,
        step: u32,
    ) -> Result<Reference, Cause> {
        if !(0 <= from && from <= to && to <= i64::from(whole.length)) {
            return Err(Cause::SliceBounds { argument, from, to, length: whole.length });
        }
        // Both bounds are within the slice's length, which fits.
        let (first, count) = (from as u32, (to - from) as u32);
        let length = count.div_ceil(step);
        // An empty slice refers to nothing; a fixed base makes it equal to itself.
        let base = if length == 0 { whole.base } else { whole.base + first * whole.stride };
        Ok(Reference { base, length, stride: whole.stride.saturating_mul(step) })
    }
}

/// Whether two slices of one class share a cell.
pub fn overlap(a: Reference, b: Reference) -> bool {
    if a.length == 0 || b.length == 0 {
        return false;
    }
    let last = |r: Reference| u64::from(r.base) + (u64::from(r.length) - 1) * u64::from(r.stride);
    if last(a) < u64::from(b.base) || last(b) < u64::from(a.base) {
        return false;
    }
    // The shorter one is walked: slices of different strides that interleave are rare and short.
    let (short, long) = if a.length <= b.length { (a, b) } else { (b, a) };
    if short.stride == long.stride {
        let (low, high) = if short.base <= long.base { (short, long) } else { (long, short) };
        return (high.base - low.base) % low.stride == 0;
    }
    (0..u64::from(short.length)).any(|i| {
        let cell = u64::from(short.base) + i * u64::from(short.stride);
        cell >= u64::from(long.base)
            && cell <= last(long)
            && (cell - u64::from(long.base)).is_multiple_of(u64::from(long.stride))
    })
}
