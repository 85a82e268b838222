//! Windows: what the operands of a procedure are in one of its calls. A window is a list of addresses that is
//! filled when the procedure is entered, so that a step looks a frame's variable or a parameter up by a number
//! and asks nothing; elements of arrays are looked up just before their step, in the window too. Knows no step.

use reviver_flow::Guards;
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_memory::ask;

use crate::interp::op::{LOOKED_UP, Op, WINDOWED};
use crate::state::{Frame, Reference};
use crate::trap::Cause;

/// What a number of a window is, once the procedure is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    /// An offset into all cells of the class, or a length that is known.
    Fixed(u32),
    /// An offset from the frame's first cell of the class.
    Frame(Class, u32),
    /// The first cell of a parameter, its length, and the distance of its elements.
    Base(u32),
    Length(u32),
    Stride(u32),
    /// The cell of the operand of a number (0 to 2), found before each step by [`Indexing`].
    Found(u8),
}

/// Finds an element, or its row: `window[out] = window[base] + stride·(ints[window[cell]] + offset)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexing {
    pub out: u32,
    pub base: u32,
    pub cell: u32,
    /// Where the window has the array's length, and the distance of its elements.
    pub length: u32,
    pub stride: u32,
    pub offset: i64,
    /// Which operand it belongs to, and which of its indices it is.
    pub operand: u8,
    pub dimension: u8,
}

/// How the operands of a step are found in a window: which of the program's indexings come first, and what must
/// be told apart then.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lookup {
    /// The number of the first indexing, and how many there are.
    pub first: u32,
    pub count: u8,
    pub guards: Guards,
}

impl Lookup {
    /// Whether the operands are found without it.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.guards.is_empty()
    }
}

/// All that steps are found by in the windows of a program.
#[derive(Clone, Copy)]
pub(crate) struct Lookups<'p> {
    /// One for each op of the code, if any of them needs a window.
    pub own: &'p [Lookup],
    pub indexings: &'p [Indexing],
}

/// The window of the current call.
#[derive(Clone, Debug, Default)]
pub struct Window {
    pub(crate) cells: Vec<u32>,
}

impl Window {
    /// With room for so many cells, so that running asks for none.
    pub(crate) fn with_room(cells: usize) -> Window {
        let mut window = Window::default();
        // Where there is none now, it is asked for later.
        let _ = ask::exactly(&mut window.cells, cells);
        window
    }

    /// Makes it that of a call.
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

/// The cells of the operands of an op, told apart where they may be one cell.
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
    // Of a branch half the third is no operand, but where it lands.
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
        // Verified offsets are so small that a sum which wraps is outside of every array.
        let index = ints[window[self.cell as usize] as usize].wrapping_add(self.offset);
        // A mutant lets the index right behind the last one pass.
        if index as u64 >= u64::from(length) + u64::from(!keeps(Rule::IndicesAreChecked)) {
            let (operand, dimension) = (u32::from(self.operand), u32::from(self.dimension));
            return Err(Cause::Index { operand, dimension, index, length });
        }
        window[self.out as usize] = window[self.base as usize] + index as u32 * stride;
        Ok(())
    }
}

/// A target is none of its sources, and no index: its old value would be needed to undo the step.
#[inline]
fn distinct(guards: Guards, cells: [usize; 3], window: &[u32], indexings: &[Indexing]) -> Result<(), Cause> {
    let is_index = |target: usize| {
        let own = |indexing: &&Indexing| window[indexing.cell as usize] as usize == target;
        indexings.iter().find(own).map(|indexing| u32::from(indexing.operand))
    };
    tell_apart(guards, cells, is_index)
}

/// Traps where cells that must be different are one. `index_of` gives the operand of which a cell is an index.
pub(crate) fn tell_apart(
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
