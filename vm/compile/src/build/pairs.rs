//! Analysis of `compute … apply … uncompute`: finds the pairs in which `uncompute` undoes `compute` step by step, and
//! the cells that each part touches. The structure that a module records only suggests candidates. A comparison of the
//! steps proves each pair. This module is independent of specializations and SSA values.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use reviver_flow::{Access, Anchor, CallSite, Flow, Region, Slot, Step, StepLink};
use reviver_isa::Module;
use reviver_isa::instruction::Class;
use reviver_isa::structure::{Block, BlockKind};
use reviver_isa::update::{Action, Direction};

use super::cleared::{CellUse, leave_clear};

/// Cells that code may touch. Their anchors refer to the procedure that contains the code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TouchedCells {
    pub class: Class,
    pub region: Region,
}

impl TouchedCells {
    /// Returns true if these cells may alias the cells `other` of the same procedure. A changed parameter doesn't alias
    /// another parameter, because calls check their arguments. A cell of the frame has only one name.
    pub fn may_meet(&self, other: &TouchedCells) -> bool {
        let end = |first: u32, region: &Region| first.saturating_add(region.length);
        let (a, b) = (&self.region, &other.region);
        self.class == other.class
            && match (a.anchor, b.anchor) {
                (Anchor::Fixed(first), Anchor::Fixed(second))
                | (Anchor::Frame(_, first), Anchor::Frame(_, second)) => {
                    first < end(second, b) && second < end(first, a)
                }
                (Anchor::Parameter(n), Anchor::Parameter(m)) => n == m,
                (Anchor::Parameter(_), Anchor::Fixed(_)) | (Anchor::Fixed(_), Anchor::Parameter(_)) => true,
                _ => false,
            }
    }
}

/// Summary of code, including all its calls: the cells that it may touch, and its number of steps if this number is
/// constant.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeEffect {
    pub read: Vec<TouchedCells>,
    pub written: Vec<TouchedCells>,
    pub steps: Option<u32>,
    /// Procedures that the code may call.
    pub procedures: BTreeSet<u32>,
}

/// Upper bound on touched cells of a summary; code that touches more isn't analyzed.
const MOST_TOUCHED: usize = 1 << 8;
/// Mask of orderings for a condition that always holds. The bits are the three orderings under which a condition holds;
/// a condition that never holds has the mask 0.
const ALWAYS: u8 = 0b111;
const NEVER: u8 = 0;
/// Upper bound on the nesting of analyzed calls.
const MOST_DEPTH: usize = 24;
/// Upper bound on analyzed steps for all pairs of a module; steps of callees count at each call.
const MOST_WORK: usize = 1 << 20;

impl CodeEffect {
    fn add(&mut self, access: Access, touched: TouchedCells) -> Option<()> {
        // Constants never change, so reading one needs no entry.
        if matches!(touched.region.anchor, Anchor::Constant(_)) {
            return Some(());
        }
        let list = if access == Access::Write { &mut self.written } else { &mut self.read };
        if !list.contains(&touched) {
            list.push(touched);
        }
        (list.len() <= MOST_TOUCHED).then_some(())
    }

    fn count(&mut self, steps: Option<u32>) {
        self.steps = self.steps.zip(steps).and_then(|(before, steps)| before.checked_add(steps));
    }
}

/// Pair of `compute` and `uncompute` around an `apply`.
#[derive(Clone, Debug)]
pub(super) struct ComputePair {
    pub procedure: u32,
    /// Position at which `compute` begins.
    pub compute: u32,
    /// Position at which `apply` begins.
    pub apply: u32,
    /// Position at which `uncompute` begins.
    pub uncompute: u32,
    /// Position at which `uncompute` ends.
    pub end: u32,
    /// Summary of the cells that `compute` may touch.
    pub computed: CodeEffect,
    /// Cells that `apply` may change.
    pub applied: Vec<TouchedCells>,
}

impl ComputePair {
    /// Returns true if a position is strictly inside the pair.
    pub fn encloses(&self, position: u32) -> bool {
        self.compute < position && position < self.end
    }

    fn contains(&self, at: u32) -> bool {
        (self.compute..self.end).contains(&at)
    }

    fn is_distinct_from(&self, other: &ComputePair) -> bool {
        self.end <= other.compute || other.end <= self.compute
    }

    /// Returns true if `apply` changes no cell that `compute` reads or changes. The comparison uses only the names of
    /// cells in the procedure.
    fn leaves_alone(&self) -> bool {
        let touched = || self.computed.read.iter().chain(&self.computed.written);
        !self.applied.iter().any(|changed| touched().any(|touched| touched.may_meet(changed)))
    }
}

/// Returns the pairs of a module in which `uncompute` undoes `compute`, step by step.
pub(super) fn pairs(module: &Module, flow: &Flow) -> Vec<ComputePair> {
    let mut search = Search { module, flow, work: MOST_WORK, open: Vec::new() };
    let blocks = module.structure.blocks.iter().filter(|block| block.kind == BlockKind::Compute);
    blocks.filter_map(|block| search.pair(block)).collect()
}

/// Returns true if cells of the procedure's frame hold 0 at the start of a pair, given that they hold 0 at the
/// procedure's entry. This is true if only pairs change the cells, because each pair restores them.
pub(super) fn begins_with_zeros(
    module: &Module,
    flow: &Flow,
    all: &[ComputePair],
    pair: &ComputePair,
    cells: &TouchedCells,
) -> bool {
    let Some(procedure) = module.procedures.get(pair.procedure as usize) else { return false };
    let beside = |at: u32| {
        let mut others = all.iter().filter(|other| other.contains(at) && other.is_distinct_from(pair));
        others.any(ComputePair::leaves_alone)
    };
    let mut search = Search { module, flow, work: MOST_WORK, open: Vec::new() };
    let mut others = (procedure.entry + 1..procedure.exit).filter(|&at| !pair.contains(at) && !beside(at));
    others.all(|at| {
        let effect = search.effect(at..at + 1, procedure.entry..procedure.exit);
        effect.is_some_and(|effect| effect.written.iter().all(|written| !written.may_meet(cells)))
    })
}

struct Search<'f> {
    module: &'f Module,
    flow: &'f Flow,
    work: usize,
    /// Procedures under analysis, to detect recursion.
    open: Vec<u32>,
}

impl Search<'_> {
    fn pair(&mut self, block: &Block) -> Option<ComputePair> {
        let starts: Vec<u32> = block.seams.iter().map(|seam| seam.start).collect();
        let &[compute, apply, uncompute, end] = starts.as_slice() else { return None };
        let procedure = self.module.procedures.iter().position(|p| p.entry < compute && end <= p.exit)?;
        let is_in_order = compute < apply && apply < uncompute && uncompute < end;
        if !is_in_order || !self.is_undone(compute..apply, uncompute..end) {
            return None;
        }
        let computed = self.effect(compute..apply, compute..apply)?;
        // Skipped code must not branch out of its range.
        self.effect(uncompute..end, uncompute..end)?;
        let mut applied = self.effect(apply..uncompute, apply..uncompute)?.written;
        applied.retain(|cells| !self.is_borrowed(cells, &computed, apply..uncompute));
        let procedure = procedure as u32;
        Some(ComputePair { procedure, compute, apply, uncompute, end, computed, applied })
    }

    /// Returns true if `apply` only borrows a cell: `apply` finds the cell vacant and leaves it vacant. An example is a
    /// temporary that both `compute` and `apply` use.
    fn is_borrowed(&mut self, cell: &TouchedCells, computed: &CodeEffect, steps: Range<u32>) -> bool {
        let is_one = cell.region.length == 1 && !matches!(cell.region.anchor, Anchor::Parameter(_));
        if !is_one || !computed.read.iter().chain(&computed.written).any(|other| other.may_meet(cell)) {
            return false;
        }
        let uses: Vec<CellUse> =
            steps.clone().map(|at| self.use_of(cell, at, steps.clone()).unwrap_or(CellUse::Uses)).collect();
        let first = steps.start;
        leave_clear(self.flow, steps, |at| uses.get((at - first) as usize).copied().unwrap_or(CellUse::Uses))
    }

    /// Returns how a step uses a cell, or `None` if that is unknown.
    fn use_of(&mut self, cell: &TouchedCells, at: u32, bounds: Range<u32>) -> Option<CellUse> {
        let effect = self.effect(at..at + 1, bounds)?;
        let meets = |touched: &Vec<TouchedCells>| touched.iter().any(|touched| touched.may_meet(cell));
        let clears = self.flow.step(at)?.operation.update.action() == Action::Clear;
        Some(match (meets(&effect.read), effect.written.as_slice()) {
            (false, [written]) if clears && written == cell => CellUse::Clears,
            (false, _) if !meets(&effect.written) => CellUse::Nothing,
            _ => CellUse::Uses,
        })
    }

    /// Compares two ranges of steps. Returns true if `undone`, executed forward, executes the same steps as `done`,
    /// executed backward, on every path.
    fn is_undone(&self, done: Range<u32>, undone: Range<u32>) -> bool {
        let mut known = HashSet::new();
        let mut open = vec![(done.end, undone.start)];
        while let Some((back, on)) = open.pop() {
            let is_within =
                (done.start..=done.end).contains(&back) && (undone.start..=undone.end).contains(&on);
            if !is_within || (back == done.start) != (on == undone.end) {
                return false;
            }
            if back == done.start || !known.insert((back, on)) {
                continue;
            }
            let Some(next) = self.simultaneous_steps(back, on) else { return false };
            open.extend(next);
        }
        true
    }

    /// Returns the pairs of positions after one step backward from `back` and one step forward from `on`. Returns
    /// `None` if these two steps differ.
    fn simultaneous_steps(&self, back: u32, on: u32) -> Option<Vec<(u32, u32)>> {
        let (step, other) = (self.flow.step(back.checked_sub(1)?)?, self.flow.step(on)?);
        let straight = (back - 1, on + 1);
        if let (StepLink::Partner(from), StepLink::Partner(to)) = (step.link, other.link) {
            // A backward step over a join may lead to the branch that jumps to the join. A backward step over a branch
            // leads to the position before the branch.
            let first = (step.operation.update.action() == Action::Join).then(|| step.orderings().0);
            let second = (other.operation.update.action() == Action::Jump).then(|| other.orderings().0);
            return match (first.unwrap_or(NEVER), second.unwrap_or(NEVER)) {
                (one @ (ALWAYS | NEVER), another @ (ALWAYS | NEVER)) => {
                    let back = if one == ALWAYS { from } else { straight.0 };
                    Some(vec![(back, if another == ALWAYS { to + 1 } else { straight.1 })])
                }
                (one, another) if one == another && self.are_same(step, other) => {
                    Some(vec![(from, to + 1), straight])
                }
                (one, another) if one == ALWAYS & !another && self.are_same(step, other) => {
                    Some(vec![(from, straight.1), (straight.0, to + 1)])
                }
                _ => None,
            };
        }
        let is_linked = match (step.link, other.link) {
            (StepLink::None, StepLink::None) => true,
            (StepLink::Call(call), StepLink::Call(of_other)) => {
                self.flow.call(call).is_some() && self.flow.call(call) == self.flow.call(of_other)
            }
            _ => false,
        };
        let is_reversible = step.operation.update.is_reversible();
        let is_same = is_linked && step.inverse() == other.operation && self.are_same(step, other);
        (is_reversible && is_same).then(|| vec![straight])
    }

    fn are_same(&self, step: &Step, other: &Step) -> bool {
        let known = |slot: &Slot| (slot.class, slot.adjoint, self.flow.locus(slot));
        step.slots.iter().map(known).eq(other.slots.iter().map(known))
    }

    /// Summarizes the cells that steps may touch. Returns `None` if the cells are unknown, or if a branch leads out of
    /// `bounds`.
    fn effect(&mut self, steps: Range<u32>, bounds: Range<u32>) -> Option<CodeEffect> {
        let mut effect = CodeEffect { steps: Some(0), ..CodeEffect::default() };
        for at in steps {
            self.work = self.work.checked_sub(1)?;
            let step = self.flow.step(at)?;
            if step.names_adjoint() {
                return None;
            }
            match step.operation.update.action() {
                Action::Accumulate
                | Action::Replace
                | Action::Erase(_)
                | Action::Map
                | Action::Exchange
                | Action::Rotate
                | Action::Clear
                | Action::Test => effect.count(Some(1)),
                Action::Jump | Action::Join => {
                    let StepLink::Partner(partner) = step.link else { return None };
                    if !bounds.contains(&partner) {
                        return None;
                    }
                    effect.count(None);
                }
                Action::Call(Direction::Forward | Direction::Backward) => {
                    self.add_call(at, step, &mut effect)?
                }
                Action::Put(_)
                | Action::Take(_)
                | Action::Show
                | Action::Begin
                | Action::End
                | Action::Tasks(_)
                | Action::Switch(_) => return None,
            }
            let mut touched = Vec::new();
            self.flow.visit_accesses(at, |access, slot| touched.push((access, *slot)));
            self.flow.visit_passed(at, |slot| touched.push((Access::Read, *slot)));
            for (access, slot) in touched {
                let region = self.flow.locus(&slot)?.region();
                effect.add(access, TouchedCells { class: slot.class, region })?;
            }
        }
        Some(effect)
    }

    /// Adds the summary of a callee to the summary of its caller.
    fn add_call(&mut self, at: u32, step: &Step, effect: &mut CodeEffect) -> Option<()> {
        let StepLink::Call(call) = step.link else { return None };
        let passes = self.flow.call(call)?;
        let callee = self.module.procedures.get(passes.procedure as usize)?;
        if self.open.contains(&passes.procedure) || self.open.len() >= MOST_DEPTH || at == callee.entry {
            return None;
        }
        self.open.push(passes.procedure);
        let own = self.effect(callee.entry + 1..callee.exit, callee.entry..callee.exit);
        self.open.pop();
        let own = own?;
        for (access, list) in [(Access::Read, &own.read), (Access::Write, &own.written)] {
            for touched in list {
                if let Some(seen) = self.seen_by_caller(passes, touched)? {
                    effect.add(access, seen)?;
                }
            }
        }
        // Entering and leaving the callee count as two steps.
        effect.count(own.steps.and_then(|steps| steps.checked_add(2)));
        effect.procedures.insert(passes.procedure);
        effect.procedures.extend(own.procedures);
        Some(())
    }

    /// Translates a cell that a callee touches to the caller's names. Returns `Some(None)` for a cell of the callee's
    /// own frame, and `None` if the cell can't be translated.
    fn seen_by_caller(&self, passes: &CallSite, touched: &TouchedCells) -> Option<Option<TouchedCells>> {
        match touched.region.anchor {
            Anchor::Frame(..) => Some(None),
            Anchor::Constant(_) | Anchor::Fixed(_) => Some(Some(*touched)),
            Anchor::Parameter(n) => {
                let region = passes.arguments.get(n as usize)?.region(self.flow.elements())?;
                Some(Some(TouchedCells { region, ..*touched }))
            }
        }
    }
}
