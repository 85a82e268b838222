//! Windows: the operand addresses of a procedure in one of its calls. A window is a list of addresses that is filled
//! when the procedure is entered. Steps then access frame variables and parameters by an index into the window. The
//! addresses of array elements are computed into the window just before their step. The module executes no step.

use reviver_flow::Guards;
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_memory::ask;

use crate::interp::op::{LOOKED_UP, Op, WINDOWED};
use crate::state::{Frame, Reference};
use crate::trap::Cause;

/// The definition of a window entry, from which the entry is computed when the procedure is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    /// An offset into all cells of the class, or a known length.
    Fixed(u32),
    /// An offset from the first cell of the class in the frame.
    Frame(Class, u32),
    /// The first cell of the argument for this parameter. The next two entries are the argument's length and stride.
    Base(u32),
    Length(u32),
    Stride(u32),
    /// The cell of an operand (0 to 2), computed before each step by [`Indexing`].
    Found(u8),
}

/// An element lookup: `window[out] = window[base] + stride·(ints[window[cell]] + offset)`. For a matrix, the first
/// lookup finds the row, and a second one the element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexing {
    pub out: u32,
    pub base: u32,
    pub cell: u32,
    /// The window indices of the array's length and stride.
    pub length: u32,
    pub stride: u32,
    pub offset: i64,
    /// The number of the instruction's operand that is looked up, for the report of an index out of bounds.
    pub operand: u8,
    /// The number of the index within the operand: 1 for the second index of a matrix, otherwise 0.
    pub dimension: u8,
}

/// The lookup of a step's operands in a window: the indexings to execute first, and the alias guards to
/// check.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lookup {
    /// The index of the first indexing to execute.
    pub first: u32,
    /// The number of indexings to execute.
    pub count: u8,
    pub guards: Guards,
}

impl Lookup {
    /// Returns true if the operands need no lookup.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.guards.is_empty()
    }
}

/// All lookups and indexings of a program in one direction.
#[derive(Clone, Copy)]
pub(crate) struct Lookups<'p> {
    /// One entry for each op of the code, or empty if no op needs a window.
    pub own: &'p [Lookup],
    pub indexings: &'p [Indexing],
}

/// The window of the current call.
#[derive(Clone, Debug, Default)]
pub struct Window {
    pub(crate) cells: Vec<u32>,
}

impl Window {
    /// Creates a window with a capacity of `cells`, so that a run needs no allocation for it.
    pub(crate) fn with_capacity(cells: usize) -> Window {
        let mut window = Window::default();
        // On failure, the allocation is repeated when the window is filled.
        let _ = ask::exactly(&mut window.cells, cells);
        window
    }

    /// Fills the window for a call.
    pub(crate) fn fill(&mut self, entries: &[Entry], frame: Frame, references: &[Reference]) {
        let own = references.get(frame.references as usize..).unwrap_or_default();
        let parameter = |n: u32| own[n as usize];
        self.cells.clear();
        self.cells.extend(entries.iter().map(|entry| match *entry {
            Entry::Fixed(cell) => cell,
            Entry::Frame(class, offset) => frame.start(class) + offset,
            Entry::Base(n) => parameter(n).base,
            Entry::Length(n) => parameter(n).length,
            Entry::Stride(n) => parameter(n).stride,
            Entry::Found(_) => 0,
        }));
    }
}

/// Returns the cells of an op's operands. Fails if an index is out of bounds. Also fails if an alias guard of the step
/// requires two cells to differ, and they are the same cell.
#[inline(always)]
pub(crate) fn find(
    op: &Op,
    counter: usize,
    window: &mut [u32],
    lookups: Lookups<'_>,
    ints: &[i64],
) -> Result<[usize; 3], Cause> {
    if op.flags & WINDOWED == 0 {
        return Ok(op.operands());
    }
    // For a branch half, the third field is the jump target instead of an operand.
    let third = |window: &[u32]| window.get(op.c as usize).map_or(0, |&cell| cell as usize);
    if op.flags & LOOKED_UP == 0 {
        return Ok([window[op.a as usize] as usize, window[op.b as usize] as usize, third(window)]);
    }
    let lookup = lookups.own[counter];
    let own = &lookups.indexings[lookup.first as usize..lookup.first as usize + usize::from(lookup.count)];
    for indexing in own {
        indexing.find(window, ints)?;
    }
    let cells = [window[op.a as usize] as usize, window[op.b as usize] as usize, third(window)];
    if !lookup.guards.is_empty() && keeps(Rule::AliasesAreChecked) {
        distinct(lookup.guards, cells, window, own)?;
    }
    Ok(cells)
}

impl Indexing {
    #[inline(always)]
    fn find(&self, window: &mut [u32], ints: &[i64]) -> Result<(), Cause> {
        let (length, stride) = (window[self.length as usize], window[self.stride as usize]);
        // Verified offsets are so small that a wrapped sum is outside of every array.
        let index = ints[window[self.cell as usize] as usize].wrapping_add(self.offset);
        // Without this rule, which mutation tests switch off, the index just past the end is accepted.
        if index as u64 >= u64::from(length) + u64::from(!keeps(Rule::IndicesAreChecked)) {
            let (operand, dimension) = (u32::from(self.operand), u32::from(self.dimension));
            return Err(Cause::Index { operand, dimension, index, length });
        }
        window[self.out as usize] = window[self.base as usize] + index as u32 * stride;
        Ok(())
    }
}

/// Fails if a target is also a source or an index of the step, because undoing the step would need the target's old
/// value.
#[inline]
fn distinct(guards: Guards, cells: [usize; 3], window: &[u32], indexings: &[Indexing]) -> Result<(), Cause> {
    let is_index = |target: usize| {
        let own = |indexing: &&Indexing| window[indexing.cell as usize] as usize == target;
        indexings.iter().find(own).map(|indexing| u32::from(indexing.operand))
    };
    require_distinct(guards, cells, is_index)
}

/// Traps if cells that must differ are the same. `index_of` returns the operand that a cell is an index of.
pub(crate) fn require_distinct(
    guards: Guards,
    [a, b, c]: [usize; 3],
    index_of: impl Fn(usize) -> Option<u32>,
) -> Result<(), Cause> {
    if guards.contains(Guards::FIRST_SECOND) && a == b {
        return Err(Cause::Alias { operand: 1 });
    }
    let is_third = guards.contains(Guards::FIRST_THIRD) && a == c;
    if is_third || guards.contains(Guards::SECOND_THIRD) && b == c {
        return Err(Cause::Alias { operand: 2 });
    }
    for (guard, target) in [(Guards::FIRST_NO_INDEX, a), (Guards::SECOND_NO_INDEX, b)] {
        if guards.contains(guard)
            && let Some(operand) = index_of(target)
        {
            return Err(Cause::Alias { operand });
        }
    }
    Ok(())
}
