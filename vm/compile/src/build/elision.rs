//! Which pairs of `compute` and `uncompute` a version doesn't undo: what `compute` changes is put back instead, and the steps are skipped.
//! Where nothing is checked, and `apply` leaves alone what `compute` reads and changes, that comes to the same. Knows no value.

use std::cell::RefCell;
use std::collections::HashMap;

use reviver_flow::graph::Way;
use reviver_flow::{Anchor, Flow, Region};
use reviver_isa::Module;
use reviver_isa::instruction::Class;

use super::activation::{Activation, Activations};
use super::pairs::{ComputePair, TouchedCells, begins_with_zeros, pairs};
use super::storage::AddressedCells;
use crate::form::{StopPlace, Version};

/// Elements of arrays that don't hold 0 where a pair begins: so many are kept meanwhile. Cells that steps name are as few as the steps.
const MOST_KEPT: u32 = 64;
/// Fewer neighbours aren't worth a loop.
const SHORTEST_LOOP: u32 = 8;

/// Cells that a pair changes, as the version's own procedure names them.
#[derive(Clone, Copy, Debug)]
pub(super) struct RestoredCells {
    pub class: Class,
    region: Region,
    /// Whether they hold 0 where the pair begins.
    pub begin_with_zeros: bool,
}

impl RestoredCells {
    pub fn anchors(&self) -> impl Iterator<Item = Anchor> + use<> {
        let anchor = self.region.anchor;
        (0..self.region.length).map(move |n| behind(anchor, n))
    }
}

fn behind(anchor: Anchor, distance: u32) -> Anchor {
    match anchor {
        Anchor::Fixed(cell) => Anchor::Fixed(cell + distance),
        Anchor::Frame(class, cell) => Anchor::Frame(class, cell + distance),
        Anchor::Constant(_) | Anchor::Parameter(_) => anchor,
    }
}

/// Neighbours in memory that become 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClearedCells {
    pub class: Class,
    pub first: Anchor,
    pub count: u32,
}

/// A pair that isn't undone in an activation.
#[derive(Clone, Debug)]
pub(super) struct SkippedPair {
    /// The positions at which it is entered, where the first part of it ends, where steps are skipped, and up to where.
    pub enter: u32,
    pub middle: u32,
    pub from: u32,
    pub to: u32,
    /// How many steps are skipped, if they are always as many.
    pub steps: Option<u32>,
    pub cells: Vec<RestoredCells>,
}

impl SkippedPair {
    fn of(pair: &ComputePair, way: Way, cells: Vec<RestoredCells>) -> SkippedPair {
        let steps = pair.computed.steps;
        let [enter, middle, from, to] = match way {
            Way::Along => [pair.compute, pair.apply, pair.uncompute, pair.end],
            Way::Against => [pair.end, pair.uncompute, pair.apply, pair.compute],
        };
        SkippedPair { enter, middle, from, to, steps, cells }
    }

    /// The cells in memory that become 0 one after the other.
    pub fn loops(&self, storage: &AddressedCells) -> Vec<ClearedCells> {
        let all = self.cells.iter().flat_map(|cells| cleared(cells, storage));
        all.filter(|cleared| cleared.count >= SHORTEST_LOOP).collect()
    }

    /// Those that become 0 each by itself.
    pub fn single(&self, storage: &AddressedCells) -> Vec<(Class, Anchor)> {
        let all = self.cells.iter().flat_map(|cells| cleared(cells, storage));
        let few = all.filter(|cleared| cleared.count < SHORTEST_LOOP);
        few.flat_map(|few| (0..few.count).map(move |n| (few.class, behind(few.first, n)))).collect()
    }
}

/// What of some cells lies in memory and becomes 0, in stretches of neighbours.
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

/// The pairs of a version.
pub(super) struct Elisions<'f> {
    module: &'f Module,
    flow: &'f Flow,
    version: &'f Version,
    pairs: Vec<ComputePair>,
    /// By activation those that aren't undone.
    skipped: HashMap<u32, Vec<SkippedPair>>,
    /// By a pair's beginning and the number of cells that it changes, whether those hold 0 there if they do where its procedure is entered.
    zeros: RefCell<HashMap<(u32, usize), bool>>,
}

impl<'f> Elisions<'f> {
    pub fn of(module: &'f Module, flow: &'f Flow, version: &'f Version) -> Elisions<'f> {
        // On a way with adjoints they are carried back through what is undone.
        let is_asked = !version.level.is_checked() && !version.gradient;
        let pairs = if is_asked { pairs(module, flow) } else { Vec::new() };
        Elisions { pairs, ..Elisions::none(module, flow, version) }
    }

    /// Where all pairs are undone.
    pub fn none(module: &'f Module, flow: &'f Flow, version: &'f Version) -> Elisions<'f> {
        let (pairs, skipped) = (Vec::new(), HashMap::new());
        Elisions { module, flow, version, pairs, skipped, zeros: RefCell::default() }
    }

    /// Finds those of an activation.
    pub fn find(&mut self, activations: &Activations, number: u32) {
        if self.skipped.contains_key(&number) {
            return;
        }
        let found = self.pairs.iter().filter_map(|pair| self.skipped(activations, number, pair)).collect();
        self.skipped.insert(number, found);
    }

    /// Those of an activation, once they are found.
    pub fn get(&self, activation: u32) -> &[SkippedPair] {
        self.skipped.get(&activation).map_or(&[], Vec::as_slice)
    }

    /// The pair whose steps are skipped from a position of an activation.
    pub fn from(&self, activation: u32, position: u32) -> Option<&SkippedPair> {
        self.get(activation).iter().find(|pair| pair.from == position)
    }

    /// Whether steps are skipped from there whose number only code finds.
    pub fn skips_unknown(&self, activation: u32, position: u32) -> bool {
        self.from(activation, position).is_some_and(|pair| pair.steps.is_none())
    }

    fn skipped(&self, activations: &Activations, number: u32, pair: &ComputePair) -> Option<SkippedPair> {
        let own = activations.get(number).filter(|own| own.procedure == pair.procedure)?;
        if self.begins_inside(own, pair) || self.stops_inside(own, pair) {
            return None;
        }
        let seen = |touched: &TouchedCells| {
            let region = activations.region(number, touched.region);
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
            // Where a parameter leads to is only known when code runs.
            if matches!(region.anchor, Anchor::Parameter(_)) {
                return None;
            }
            let begin_with_zeros = region.length > 1 && self.are_zero(own, pair, n);
            if region.length > 1 && !begin_with_zeros {
                kept = kept.saturating_add(region.length);
            }
            cells.push(RestoredCells { class, region, begin_with_zeros });
        }
        (kept <= MOST_KEPT).then(|| SkippedPair::of(pair, own.way, cells))
    }

    /// Whether the version begins between the ends of a pair: what its cells held before isn't known there.
    fn begins_inside(&self, own: &Activation, pair: &ComputePair) -> bool {
        own.called.is_none() && pair.encloses(self.version.position)
    }

    /// Whether the run is to stop within what would be skipped.
    fn stops_inside(&self, own: &Activation, pair: &ComputePair) -> bool {
        let skipped = match own.way {
            Way::Along => pair.uncompute..=pair.end,
            Way::Against => pair.compute..=pair.apply,
        };
        let callees =
            || pair.computed.procedures.iter().filter_map(|&n| self.module.procedures.get(n as usize));
        self.version.stops.iter().any(|StopPlace { position, .. }| {
            skipped.contains(&position)
                || callees().any(|callee| (callee.entry..=callee.exit + 1).contains(&position))
        })
    }

    /// Whether the cells of a number that a pair changes hold 0 where it begins: those of a frame that is fresh.
    fn are_zero(&self, own: &Activation, pair: &ComputePair, n: usize) -> bool {
        let Some(cells) = pair.computed.written.get(n) else { return false };
        let main = self.flow.layout().main_frame(cells.class);
        let is_fresh = match cells.region.anchor {
            Anchor::Frame(..) => own.called.is_some(),
            Anchor::Fixed(first) => {
                let is_of_main = main.contains(&first) && first + cells.region.length <= main.end;
                pair.procedure == 0 && is_of_main && self.version.zeros.cells
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
