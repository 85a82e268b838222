//! Detection of arguments of a call that certainly name the same cells. Callers add the arguments one by one,
//! each with a flag that is true if the callee may change it. Overlaps that depend on values are checked at
//! the call.
//!
//! A hash table finds the preceding arguments with the same place, so the cost is linear in the number of
//! arguments.

use std::collections::HashMap;

use crate::instruction::{Argument, Base, Operand, Place, Range, Slice};

/// The numbers of two arguments that name a place: the first such argument, and the first such argument that
/// the callee may change.
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

    /// Returns the first argument with which a new argument must not share cells. `changed` is true if the
    /// callee may change the new argument. If it is, the new argument conflicts with any argument, otherwise
    /// only with arguments that the callee may change.
    fn against(self, changed: bool) -> Option<u32> {
        if changed { self.any } else { self.changed }
    }
}

/// The arguments of a call added so far.
#[derive(Default)]
pub(super) struct PassedPlaces<'a> {
    /// Arguments that are single cells, by place.
    cells: HashMap<&'a Place, Earliest>,
    /// Arguments that are single cells, by declaration.
    cells_of: HashMap<Base, Earliest>,
    /// Arguments that are slices, by slice.
    slices: HashMap<&'a Slice, Earliest>,
    /// Arguments that are slices, by array.
    slices_of: HashMap<Base, Earliest>,
    /// Arguments that are whole arrays, by array.
    wholes: HashMap<Base, Earliest>,
}

impl<'a> PassedPlaces<'a> {
    /// Adds the argument with the number `n`. Returns the first preceding argument that certainly shares cells
    /// with the new one, if the callee may change one of the two. Returns `None` if there is no such argument.
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

/// Returns true if a slice certainly has elements. An empty slice overlaps nothing, not even itself.
fn has_elements(slice: &Slice) -> bool {
    match slice.range {
        Range::Whole | Range::Row(_) | Range::Column(_) => true,
        Range::Span { from, to, .. } => from.cell == to.cell && from.offset < to.offset,
    }
}
