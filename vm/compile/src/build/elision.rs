//! Elision of `uncompute`: selects pairs of `compute` and `uncompute` for which compiled code restores saved cells
//! instead of executing `uncompute`. In unchecked code, the result is the same if `apply` changes no cell that
//! `compute` reads or changes. This module is independent of SSA values.

use std::cell::RefCell;
use std::collections::HashMap;

use reviver_flow::graph::CodeDirection;
use reviver_flow::{Anchor, Flow, Region};
use reviver_isa::Module;
use reviver_isa::instruction::Class;

use super::inlining::{InlinedFrame, InlinedFrames};
use super::pairs::{ComputePair, TouchedCells, begins_with_zeros, pairs};
use super::storage::AddressedCells;
use crate::function::{Specialization, StopPlace};

/// Upper bound on array elements that are saved for a pair. Elements that hold 0 at the start of the pair are cleared,
/// not saved. Named cells need no bound, because the number of steps that name them already bounds their number.
const MOST_KEPT: u32 = 64;
/// Least number of adjacent cells that are cleared by a loop.
const SHORTEST_LOOP: u32 = 8;

/// Cells that a pair changes. Their anchors refer to the procedure body that contains the pair after inlining.
#[derive(Clone, Copy, Debug)]
pub(super) struct RestoredCells {
    pub class: Class,
    region: Region,
    /// True if the cells hold 0 at the start of the pair.
    pub begin_with_zeros: bool,
}

impl RestoredCells {
    pub fn anchors(&self) -> impl Iterator<Item = Anchor> + use<> {
        let anchor = self.region.anchor;
        (0..self.region.length).map(move |n| offset_by(anchor, n))
    }
}

fn offset_by(anchor: Anchor, distance: u32) -> Anchor {
    match anchor {
        Anchor::Fixed(cell) => Anchor::Fixed(cell + distance),
        Anchor::Frame(class, cell) => Anchor::Frame(class, cell + distance),
        Anchor::Constant(_) | Anchor::Parameter(_) => anchor,
    }
}

/// Adjacent memory cells to clear.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClearedCells {
    pub class: Class,
    pub first: Anchor,
    pub count: u32,
}

/// Elided pair of an inlined frame: compiled code skips its `uncompute`.
#[derive(Clone, Debug)]
pub(super) struct SkippedPair {
    /// Position at which execution enters the pair. In a backward run, this is the end of `uncompute`.
    pub enter: u32,
    /// Position at which the first executed part of the pair ends.
    pub middle: u32,
    /// Position from which steps are skipped.
    pub from: u32,
    /// Position at which execution continues after the skipped steps.
    pub to: u32,
    /// Number of skipped steps, if it is constant.
    pub steps: Option<u32>,
    pub cells: Vec<RestoredCells>,
}

impl SkippedPair {
    fn of(pair: &ComputePair, direction: CodeDirection, cells: Vec<RestoredCells>) -> SkippedPair {
        let steps = pair.computed.steps;
        let [enter, middle, from, to] = match direction {
            CodeDirection::Forward => [pair.compute, pair.apply, pair.uncompute, pair.end],
            CodeDirection::Backward => [pair.end, pair.uncompute, pair.apply, pair.compute],
        };
        SkippedPair { enter, middle, from, to, steps, cells }
    }

    /// Returns the runs of memory cells that are cleared by loops.
    pub fn loops(&self, storage: &AddressedCells) -> Vec<ClearedCells> {
        let all = self.cells.iter().flat_map(|cells| cleared(cells, storage));
        all.filter(|cleared| cleared.count >= SHORTEST_LOOP).collect()
    }

    /// Returns the memory cells that are cleared one by one.
    pub fn single(&self, storage: &AddressedCells) -> Vec<(Class, Anchor)> {
        let all = self.cells.iter().flat_map(|cells| cleared(cells, storage));
        let few = all.filter(|cleared| cleared.count < SHORTEST_LOOP);
        few.flat_map(|few| (0..few.count).map(move |n| (few.class, offset_by(few.first, n)))).collect()
    }
}

/// Returns the runs of adjacent memory cells that must be cleared.
fn cleared(cells: &RestoredCells, storage: &AddressedCells) -> Vec<ClearedCells> {
    let mut found: Vec<ClearedCells> = Vec::new();
    let mut is_open = false;
    for anchor in cells.anchors().filter(|_| cells.begin_with_zeros) {
        let is_in_memory = !storage.is_variable(cells.class, anchor);
        match found.last_mut().filter(|_| is_open && is_in_memory) {
            Some(last) => last.count += 1,
            None if is_in_memory => found.push(ClearedCells { class: cells.class, first: anchor, count: 1 }),
            None => {}
        }
        is_open = is_in_memory;
    }
    found
}

/// Elided pairs of a specialization.
pub(super) struct Elisions<'f> {
    module: &'f Module,
    flow: &'f Flow,
    specialization: &'f Specialization,
    pairs: Vec<ComputePair>,
    /// Elided pairs by inlined frame.
    skipped: HashMap<u32, Vec<SkippedPair>>,
    /// Cache of the results of [`begins_with_zeros`]. The key is the pair's start and the index of the changed cells.
    zeros: RefCell<HashMap<(u32, usize), bool>>,
}

impl<'f> Elisions<'f> {
    pub fn of(module: &'f Module, flow: &'f Flow, specialization: &'f Specialization) -> Elisions<'f> {
        // In gradient mode adjoints propagate through `uncompute`, so it can't be skipped.
        let is_asked = !specialization.level.is_checked() && !specialization.gradient;
        let pairs = if is_asked { pairs(module, flow) } else { Vec::new() };
        Elisions { pairs, ..Elisions::none(module, flow, specialization) }
    }

    /// Returns an instance that elides no pair.
    pub fn none(module: &'f Module, flow: &'f Flow, specialization: &'f Specialization) -> Elisions<'f> {
        let (pairs, skipped) = (Vec::new(), HashMap::new());
        Elisions { module, flow, specialization, pairs, skipped, zeros: RefCell::default() }
    }

    /// Selects the pairs of an inlined frame that are elided.
    pub fn find(&mut self, inlined_frames: &InlinedFrames, number: u32) {
        if self.skipped.contains_key(&number) {
            return;
        }
        let found = self.pairs.iter().filter_map(|pair| self.skipped(inlined_frames, number, pair)).collect();
        self.skipped.insert(number, found);
    }

    /// Returns the elided pairs of an inlined frame, after [`Elisions::find`].
    pub fn get(&self, inlined_frame: u32) -> &[SkippedPair] {
        self.skipped.get(&inlined_frame).map_or(&[], Vec::as_slice)
    }

    /// Returns the elided pair whose skipped steps begin at a position of an inlined frame.
    pub fn from(&self, inlined_frame: u32, position: u32) -> Option<&SkippedPair> {
        self.get(inlined_frame).iter().find(|pair| pair.from == position)
    }

    /// Returns true if steps are skipped from a position, and the number of skipped steps is known only at run time.
    pub fn skips_unknown(&self, inlined_frame: u32, position: u32) -> bool {
        self.from(inlined_frame, position).is_some_and(|pair| pair.steps.is_none())
    }

    fn skipped(
        &self,
        inlined_frames: &InlinedFrames,
        number: u32,
        pair: &ComputePair,
    ) -> Option<SkippedPair> {
        let own = inlined_frames.get(number).filter(|own| own.procedure == pair.procedure)?;
        if self.begins_inside(own, pair) || self.stops_inside(own, pair) {
            return None;
        }
        let seen = |touched: &TouchedCells| {
            let region = inlined_frames.region(number, touched.region);
            TouchedCells { class: touched.class, region }
        };
        let [read, written, applied] = [&pair.computed.read, &pair.computed.written, &pair.applied]
            .map(|list| list.iter().map(seen).collect::<Vec<_>>());
        let is_touched =
            |changed: &TouchedCells| read.iter().chain(&written).any(|own| own.may_meet(changed));
        if applied.iter().any(is_touched) {
            return None;
        }
        let mut cells = Vec::new();
        let mut kept = 0_u32;
        for (n, TouchedCells { class, region }) in written.into_iter().enumerate() {
            // The cells that a parameter refers to are known only at run time, so they can't be saved.
            if matches!(region.anchor, Anchor::Parameter(_)) {
                return None;
            }
            let begin_with_zeros = region.length > 1 && self.are_zero(own, pair, n);
            if region.length > 1 && !begin_with_zeros {
                kept = kept.saturating_add(region.length);
            }
            cells.push(RestoredCells { class, region, begin_with_zeros });
        }
        (kept <= MOST_KEPT).then(|| SkippedPair::of(pair, own.direction, cells))
    }

    /// Returns true if the specialization's entry is inside a pair. For such a pair, the contents of the cells before
    /// the pair are unknown.
    fn begins_inside(&self, own: &InlinedFrame, pair: &ComputePair) -> bool {
        own.called.is_none() && pair.encloses(self.specialization.position)
    }

    /// Returns true if a stop place is inside the steps that would be skipped.
    fn stops_inside(&self, own: &InlinedFrame, pair: &ComputePair) -> bool {
        let skipped = match own.direction {
            CodeDirection::Forward => pair.uncompute..=pair.end,
            CodeDirection::Backward => pair.compute..=pair.apply,
        };
        let callees =
            || pair.computed.procedures.iter().filter_map(|&n| self.module.procedures.get(n as usize));
        self.specialization.stops.iter().any(|StopPlace { position, .. }| {
            skipped.contains(&position)
                || callees().any(|callee| (callee.entry..=callee.exit + 1).contains(&position))
        })
    }

    /// Returns true if the changed cells with index `n` of the pair are known to hold 0 at the pair's start. The
    /// analysis relies on the zeros of a new frame.
    fn are_zero(&self, own: &InlinedFrame, pair: &ComputePair, n: usize) -> bool {
        let Some(cells) = pair.computed.written.get(n) else { return false };
        let main = self.flow.layout().main_frame(cells.class);
        let is_fresh = match cells.region.anchor {
            Anchor::Frame(..) => own.called.is_some(),
            Anchor::Fixed(first) => {
                let is_of_main = main.contains(&first) && first + cells.region.length <= main.end;
                pair.procedure == 0 && is_of_main && self.specialization.zeros.cells
            }
            Anchor::Constant(_) | Anchor::Parameter(_) => false,
        };
        is_fresh
            && *self
                .zeros
                .borrow_mut()
                .entry((pair.compute, n))
                .or_insert_with(|| begins_with_zeros(self.module, self.flow, &self.pairs, pair, cells))
    }
}
