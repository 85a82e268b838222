//! Which arguments of a call certainly name the same cells. Knows arguments only, no parameters: each
//! comes with whether it may be changed. What depends on values is found at the call.
//!
//! Every argument is looked up among those before it by what it names, so that a call with many
//! arguments costs no more than several with few.

use std::collections::HashMap;

use crate::instruction::{Argument, Base, Operand, Place, Range, Slice};

/// The first arguments that name something: of all, and of those that may be changed.
#[derive(Clone, Copy, Default)]
struct Earliest {
    any: Option<u32>,
    changed: Option<u32>,
}

impl Earliest {
    fn note(&mut self, n: u32, changed: bool) {
        self.any.get_or_insert(n);
        if changed {
            self.changed.get_or_insert(n);
        }
    }

    /// The first that may not share its cells with another argument.
    fn against(self, changed: bool) -> Option<u32> {
        if changed { self.any } else { self.changed }
    }
}

/// The arguments of a call so far.
#[derive(Default)]
pub(super) struct PassedPlaces<'a> {
    cells: HashMap<&'a Place, Earliest>,
    /// Single cells by the declaration that they are of.
    cells_of: HashMap<Base, Earliest>,
    slices: HashMap<&'a Slice, Earliest>,
    /// Slices by the array that they are of: all, and those of the whole array.
    slices_of: HashMap<Base, Earliest>,
    wholes: HashMap<Base, Earliest>,
}

impl<'a> PassedPlaces<'a> {
    /// Adds the argument with the number `n`. The first one before it that certainly shares cells
    /// with it, where one of the two may be changed.
    pub(super) fn add(&mut self, n: u32, argument: &'a Argument, changed: bool) -> Option<u32> {
        match argument {
            Argument::Scalar(Operand::Place(place)) => self.add_cell(n, place, changed),
            Argument::Slice(slice) if has_elements(slice) => self.add_slice(n, slice, changed),
            Argument::Scalar(_) | Argument::Slice(_) => None,
        }
    }

    fn add_cell(&mut self, n: u32, place: &'a Place, changed: bool) -> Option<u32> {
        let same = [self.cells.get(place), self.wholes.get(&place.base)];
        let clash = first(same, changed);
        self.cells.entry(place).or_default().note(n, changed);
        self.cells_of.entry(place.base).or_default().note(n, changed);
        clash
    }

    fn add_slice(&mut self, n: u32, slice: &'a Slice, changed: bool) -> Option<u32> {
        let is_whole = slice.range == Range::Whole;
        let same = match is_whole {
            true => [self.slices_of.get(&slice.base), self.cells_of.get(&slice.base)],
            false => [self.slices.get(slice), self.wholes.get(&slice.base)],
        };
        let clash = first(same, changed);
        self.slices.entry(slice).or_default().note(n, changed);
        self.slices_of.entry(slice.base).or_default().note(n, changed);
        if is_whole {
            self.wholes.entry(slice.base).or_default().note(n, changed);
        }
        clash
    }
}

fn first(found: [Option<&Earliest>; 2], changed: bool) -> Option<u32> {
    found.into_iter().flatten().filter_map(|earliest| earliest.against(changed)).min()
}

/// Whether a slice certainly has elements: an empty one overlaps nothing, not even itself.
fn has_elements(slice: &Slice) -> bool {
    match slice.range {
        Range::Whole | Range::Row(_) | Range::Column(_) => true,
        Range::Span { from, to, .. } => from.cell == to.cell && from.offset < to.offset,
    }
}
