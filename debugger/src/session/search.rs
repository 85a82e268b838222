//! Searches for the last write to given cells, stack entries or tape entries. The session travels into the past,
//! and stops as soon as it has passed such a write. The caller then interprets the write.
//!
//! The past of a value is earlier in time. An adjoint was propagated from the origin of its branch, so its past
//! leads to the origin. For example, if the session has travelled backward from a loss, the past of an adjoint is
//! later in time.

use std::sync::atomic::Ordering;

use reviver_isa::instruction::Class;
use reviver_isa::update::Update;
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::explain::explain;
use reviver_vm::stops::{Node, Stops};
use reviver_vm::{Cause, Stop, Trap, Travel};

use super::Session;
use super::store::moves;
use crate::access::{self, Access};
use crate::memory::{Cell, Target};
use crate::outcome::Reason;
use crate::points::{WatchMode, candidates};
use crate::question::{Holder, PastOfCell, StoreEntry, ValueStore};

/// Result of a search into the past.
#[derive(PartialEq)]
pub(super) enum SearchResult {
    /// The session has just travelled over a write to a wanted location.
    Write,
    /// The session has reached the place where the frame of a wanted cell begins, so there are no earlier writes to
    /// the cell.
    Birth,
    /// The search has found no write, although it reached the beginning of the past, or the start or the end of the
    /// branch.
    Nothing,
    /// The search was stopped early: by the user, by the step limit, or for lack of memory.
    Stopped(Reason),
}

/// A location whose last write is searched for.
pub(super) struct Wanted {
    pub holder: Holder,
    /// Number of links from the original question to this location's answer.
    pub depth: usize,
    /// Index, in the chain, of the link that this location's answer completes.
    pub link: usize,
}

impl Session {
    /// Returns the past as seen from the current step: the past of adjoints if `of_adjoints` is true, otherwise
    /// the past of values.
    pub(super) fn past(&self, of_adjoints: bool) -> PastOfCell {
        let branch = self.timeline.branch();
        match of_adjoints {
            true if branch.step() < branch.offset() => {
                PastOfCell { direction: Travel::Forward, bound: branch.offset() }
            }
            true => PastOfCell { direction: Travel::Backward, bound: branch.offset() },
            // A value may be older than the edit that began the branch.
            false => PastOfCell { direction: Travel::Backward, bound: i64::MIN },
        }
    }

    /// Runs `visit` and restores the session's position afterwards.
    ///
    /// # Errors
    /// There is no memory for a copy of the current state.
    pub(super) fn excursion<T>(&mut self, visit: impl FnOnce(&mut Session) -> T) -> Result<T, OutOfMemory> {
        self.interrupt.store(false, Ordering::Relaxed);
        let state = self.state().try_clone()?;
        self.timeline.branch_mut().begin_motion();
        let answer = visit(self);
        self.timeline.branch_mut().install(state);
        self.interrupt.store(false, Ordering::Relaxed);
        Ok(answer)
    }

    /// Travels into the past until the session has passed a write to a wanted location. If `heeds_frames` is true,
    /// the search also stops where the frame of a wanted cell begins. `plan` is the result of [`Session::writes`]
    /// for the same arguments.
    pub(super) fn search(
        &mut self,
        wanted: &[Wanted],
        past: PastOfCell,
        heeds_frames: bool,
        plan: &Stops,
    ) -> SearchResult {
        loop {
            let here = self.step_number();
            self.tell(here);
            let left = past.steps_from(here).min(self.within_reach(past.direction));
            if past.steps_from(here) == 0 || self.instruction(past.direction).is_none() {
                return SearchResult::Nothing;
            }
            if self.interrupt.load(Ordering::Relaxed) {
                return SearchResult::Stopped(Reason::Interrupted);
            }
            if left == 0 {
                return SearchResult::Stopped(Reason::StepLimit);
            }
            let node = Node::of(self.state(), past.direction);
            let looks = plan.contains(node);
            if looks && heeds_frames && wanted.iter().any(|wanted| self.is_birth(node, wanted.holder)) {
                return SearchResult::Birth;
            }
            let is_write = looks && wanted.iter().any(|wanted| self.writes_to(node, wanted.holder).is_some());
            let outcome = match looks {
                true => self.timeline.run(past.direction, 1),
                false => self.timeline.run_until(Some(plan), past.direction, left.min(self.slice())),
            };
            if let Err(trap @ Trap { cause: Cause::NoMemory(_), .. }) = outcome {
                let explanation = explain(self.program(), self.state(), trap);
                return SearchResult::Stopped(Reason::Trap(Box::new(explanation)));
            }
            if is_write || !matches!(outcome, Ok(Stop::Budget | Stop::Shown { .. })) {
                let is_made = is_write && outcome.is_ok_and(|stop| stop != Stop::Bound);
                return if is_made { SearchResult::Write } else { SearchResult::Nothing };
            }
        }
    }

    /// Returns the stops at all instructions that may write a wanted location. If `heeds_frames` is true, the stops
    /// include the beginning and the end of each procedure with wanted cells.
    pub(super) fn writes(&self, wanted: &[Wanted], heeds_frames: bool) -> Stops {
        let instructions = wanted.iter().flat_map(|wanted| match wanted.holder {
            Holder::Cells(cells) => {
                let mut found = candidates(&self.memory, cells, WatchMode::Write);
                found.extend(self.bounds_of(cells.first()).into_iter().flatten().filter(|_| heeds_frames));
                found
            }
            Holder::Entry { .. } => self.movers(),
        });
        Stops::new(self.program(), instructions.flat_map(Node::over))
    }

    /// Returns the first and the last instruction of the procedure whose frame contains a target. Returns
    /// `None` for cells that exist during the whole run.
    fn bounds_of(&self, target: Target) -> Option<[u32; 2]> {
        let Target::Frame { procedure, .. } = target else { return None };
        self.program().module().procedures.get(procedure).map(|procedure| [procedure.entry, procedure.exit])
    }

    /// Returns true if the step from a node would close the frame that contains a location.
    pub(super) fn is_birth(&self, node: Node, holder: Holder) -> bool {
        let Holder::Cells(cells) = holder else { return false };
        let target = cells.first();
        let Target::Frame { depth, .. } = target else { return false };
        depth == self.state().calls.len()
            && self.memory.resolve(self.state(), target).is_some()
            && self.bounds_of(target).is_some_and(|bounds| bounds.contains(&node.instruction()))
    }

    /// Returns the instructions that move a value from a cell to a stack or a tape, or back.
    fn movers(&self) -> Vec<u32> {
        let code = (0..).zip(&self.program().module().code);
        code.filter(|(_, i)| moves(i.update, Class::Int).is_some()).map(|(at, _)| at).collect()
    }

    /// Returns a cell of the location `holder`, if the step from a node writes this cell. If the location is an
    /// entry of a stack or a tape, returns the cell from or to which the step moves the entry's value. Returns
    /// `None` if the step doesn't write the location.
    pub(super) fn writes_to(&self, node: Node, holder: Holder) -> Option<Cell> {
        let cells = match holder {
            Holder::Cells(cells) => cells.resolve(&self.memory, self.state())?,
            Holder::Entry { entry, adjoint } => {
                let (cell, moved) = self.move_of(node)?;
                let cell = if adjoint { cell.adjoint()? } else { cell };
                return (StoreEntry::moved(self.state(), moved) == Some(entry)).then_some(cell);
            }
        };
        let mut written = None;
        access::visit(&self.memory, self.state(), node, |access, visited| {
            if access == Access::Write && cells.contains(visited) {
                written = Some(visited);
            }
        });
        written
    }

    /// If the step from a node moves a value between a cell and a stack or a tape, returns the cell, and the stack
    /// or tape. The flag is true if the step moves the value into the stack or tape.
    fn move_of(&self, node: Node) -> Option<(Cell, (ValueStore, bool))> {
        let instruction = self.program().module().code.get(node.instruction() as usize)?;
        let cell = self.memory.operand(self.state(), instruction.operands.first()?)?;
        Some((cell, moves(self.update(node)?, cell.class)?))
    }

    /// Returns the update that the step from a node executes.
    pub(super) fn update(&self, node: Node) -> Option<Update> {
        let instruction = self.program().module().code.get(node.instruction() as usize)?;
        Some(if node.backward { instruction.update.inverse() } else { instruction.update })
    }
}
