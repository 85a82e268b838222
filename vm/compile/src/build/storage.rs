//! Escape analysis: finds the cells to which an address computed at run time may point. These cells must stay in
//! memory. All other cells are SSA variables, because only steps with a static address access them. This module is
//! independent of the meaning of steps.

use reviver_flow::{Anchor, Flow, Locus, Region, Slot};
use reviver_isa::instruction::Class;

use std::collections::BTreeMap;

use super::inlining::{AnchorPlace, InlinedFrames};
use crate::function::ReachedCells;
use crate::op::Space;

/// Returns the address space of a slot's cell.
pub(super) fn space(slot: &Slot) -> Space {
    match (slot.class, slot.adjoint) {
        (Class::Int, _) => Space::Ints,
        (Class::Real, false) => Space::Reals,
        (Class::Real, true) => Space::Adjoints,
    }
}

/// Cells of one class that computed addresses may reach.
#[derive(Clone, Debug, Default)]
struct Reached {
    /// True if code accesses cells of a parameter. A parameter may refer to any cell that existed before the call.
    parameters: bool,
    /// Half-open ranges of addresses. In the finished analysis, they are disjoint and in ascending order.
    fixed: Vec<(u32, u32)>,
    /// Half-open ranges of offsets in the frame. In the finished analysis, they are disjoint and in ascending order.
    frame: Vec<(u32, u32)>,
}

/// Cells of both classes that computed addresses may reach.
#[derive(Clone, Debug, Default)]
pub(super) struct AddressedCells {
    ints: Reached,
    reals: Reached,
}

/// Addressed cells of each procedure body (the specialization's own, and out-of-line callees).
#[derive(Debug)]
pub(super) struct FunctionStorage(BTreeMap<u32, AddressedCells>);

/// Result for a procedure body that doesn't exist.
static NOTHING_REACHED: AddressedCells = AddressedCells { ints: Reached::NOTHING, reals: Reached::NOTHING };

impl FunctionStorage {
    /// Collects the addressed cells from three sources: the slots of a specialization, each with its inlined frame; the
    /// cells that are read to compute call arguments; and the arguments of out-of-line calls.
    pub fn new<'s>(
        flow: &Flow,
        inlined_frames: &InlinedFrames,
        slots: impl Iterator<Item = (u32, &'s Slot)>,
    ) -> FunctionStorage {
        let mut all: BTreeMap<u32, AddressedCells> = BTreeMap::new();
        let mut add = |inlined_frame, slot: &Slot| {
            let own = all.entry(inlined_frames.function(inlined_frame)).or_default();
            own.add(flow, inlined_frames, inlined_frame, slot);
        };
        slots.for_each(|(inlined_frame, slot)| add(inlined_frame, slot));
        inlined_frames
            .indices()
            .into_iter()
            .for_each(|(inlined_frame, cell)| add(inlined_frame, &Slot::int(cell)));
        for (function, class, region) in inlined_frames.passed_to_functions() {
            all.entry(function).or_default().reached_mut(class).add(region);
        }
        for reached in all.values_mut().flat_map(|own| [&mut own.ints, &mut own.reals]) {
            merge(&mut reached.fixed);
            merge(&mut reached.frame);
        }
        FunctionStorage(all)
    }

    /// Returns the cells that computed addresses may reach, in all procedure bodies. Returns `None` if their addresses
    /// aren't known: if a parameter may refer to them, or if they are in the frame of an out-of-line callee.
    pub fn reached(&self) -> Option<ReachedCells> {
        let mut all = ReachedCells::default();
        for own in self.0.values() {
            for (found, reached) in [(&mut all.ints, &own.ints), (&mut all.reals, &own.reals)] {
                if reached.parameters || !reached.frame.is_empty() {
                    return None;
                }
                found.extend(&reached.fixed);
            }
        }
        merge(&mut all.ints);
        merge(&mut all.reals);
        Some(all)
    }

    /// Returns the addressed cells of a procedure body.
    pub fn of(&self, function: u32) -> &AddressedCells {
        self.0.get(&function).unwrap_or(&NOTHING_REACHED)
    }
}

impl Reached {
    const NOTHING: Reached = Reached { parameters: false, fixed: Vec::new(), frame: Vec::new() };

    /// Adds the region that contains all possible targets of a computed address.
    fn add(&mut self, region: Region) {
        match region.anchor {
            Anchor::Parameter(_) => self.parameters = true,
            Anchor::Fixed(start) => self.fixed.push(cells(start, region)),
            Anchor::Frame(_, start) => self.frame.push(cells(start, region)),
            Anchor::Constant(_) => {}
        }
    }
}

impl AddressedCells {
    fn add(&mut self, flow: &Flow, inlined_frames: &InlinedFrames, inlined_frame: u32, slot: &Slot) {
        let Some(locus) = flow.locus(slot) else { return };
        let named = locus.region();
        let is_computed = match locus {
            Locus::Cell(anchor) => {
                matches!(inlined_frames.place(inlined_frame, anchor), AnchorPlace::Computed(_))
            }
            Locus::Element(_) => true,
        };
        let region = inlined_frames.region(inlined_frame, named);
        if is_computed || matches!(region.anchor, Anchor::Parameter(_)) {
            self.reached_mut(slot.class).add(region);
        }
        if let Locus::Element(element) = locus {
            for cell in element.subscripts().filter_map(|subscript| subscript.cell) {
                self.add(flow, inlined_frames, inlined_frame, &Slot::int(cell));
            }
        }
    }

    fn reached(&self, class: Class) -> &Reached {
        match class {
            Class::Int => &self.ints,
            Class::Real => &self.reals,
        }
    }

    fn reached_mut(&mut self, class: Class) -> &mut Reached {
        match class {
            Class::Int => &mut self.ints,
            Class::Real => &mut self.reals,
        }
    }

    /// Returns true if the cell at an anchor is an SSA variable.
    pub fn is_variable(&self, class: Class, anchor: Anchor) -> bool {
        let reached = self.reached(class);
        match anchor {
            Anchor::Fixed(cell) => !reached.parameters && !contains(&reached.fixed, cell),
            Anchor::Frame(_, cell) => !contains(&reached.frame, cell),
            Anchor::Constant(_) | Anchor::Parameter(_) => false,
        }
    }
}

/// Returns the half-open range of a region's cells.
fn cells(start: u32, region: Region) -> (u32, u32) {
    (start, start.saturating_add(region.length))
}

/// Sorts ranges and merges those that overlap or touch.
fn merge(ranges: &mut Vec<(u32, u32)>) {
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for &(start, end) in &*ranges {
        match merged.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => merged.push((start, end)),
        }
    }
    *ranges = merged;
}

fn contains(ranges: &[(u32, u32)], cell: u32) -> bool {
    let begun = ranges.partition_point(|(start, _)| *start <= cell);
    begun.checked_sub(1).and_then(|n| ranges.get(n)).is_some_and(|(_, end)| cell < *end)
}
