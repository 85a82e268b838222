//! The graph of a program's basic blocks, to be gone through in either direction. A block is a run of steps that
//! follow each other whatever happens. At each of its ends is a *gate*, a step that leads elsewhere, or is led
//! to from elsewhere. Reversing a program is going through the same blocks from their other ends: there a branch
//! is a join, and a join a branch. Knows no state.

use std::ops::Range;

use reviver_isa::update::Action;

use crate::step::{Step, StepLink};

/// The direction in which code is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// As it stands.
    Along,
    /// From its end to its beginning, each step inverted.
    Against,
}

/// A way into a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The number of the block.
    pub to: u32,
    /// The join that it leads through, if any. Its condition must hold where a branch is taken to it, and must
    /// not where it is fallen into.
    pub join: Option<u32>,
}

/// Where a block leads to, by the gate at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockEnd {
    /// A join that is fallen into.
    Go { next: Edge },
    /// A branch: where its condition holds, and where it doesn't.
    Branch { at: u32, taken: Edge, next: Edge },
    /// A call, and the block behind it.
    Call { at: u32, next: Edge },
    /// The gradient mode is switched.
    Switch { at: u32, next: Edge },
    /// The bound of the procedure.
    Leave { at: u32 },
}

/// The blocks of all procedures.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The steps of each block, in the order of the code. One gate is between each two of a procedure, and one
    /// at either end of the procedure.
    blocks: Vec<Range<u32>>,
}

/// Whether a step ends a block.
fn is_gate(action: Action) -> bool {
    match action {
        Action::Begin | Action::End | Action::Jump | Action::Join | Action::Call(_) | Action::Switch(_) => {
            true
        }
        Action::Accumulate
        | Action::Replace
        | Action::Erase(_)
        | Action::Map
        | Action::Exchange
        | Action::Rotate
        | Action::Clear
        | Action::Put(_)
        | Action::Take(_)
        | Action::Test
        | Action::Tasks(_)
        | Action::Show => false,
    }
}

impl Graph {
    /// Of procedures that follow each other in the steps, by where each begins and ends.
    pub(crate) fn of(steps: &[Step], procedures: impl Iterator<Item = (u32, u32)>) -> Graph {
        let mut blocks = Vec::new();
        for (entry, exit) in procedures {
            let body = steps.get(entry as usize + 1..=exit as usize).unwrap_or_default();
            let mut start = entry + 1;
            for (at, step) in (start..).zip(body) {
                if is_gate(step.operation.update.action()) {
                    blocks.push(start..at);
                    start = at + 1;
                }
            }
        }
        Graph { blocks }
    }

    /// The steps of each block.
    pub fn blocks(&self) -> &[Range<u32>] {
        &self.blocks
    }

    /// The block that begins behind a gate when the code is gone through this way; none behind a bound.
    fn behind(&self, gate: u32, way: Way) -> Option<u32> {
        let next = self.blocks.partition_point(|block| block.start <= gate);
        let number = match way {
            Way::Along => next,
            Way::Against => next.checked_sub(1)?,
        };
        let block = self.blocks.get(number)?;
        let meets = match way {
            Way::Along => block.start == gate + 1,
            Way::Against => block.end == gate,
        };
        meets.then_some(number as u32)
    }

    /// Where a block leads to when the code is gone through this way; none of a block that isn't there.
    pub(crate) fn end(&self, steps: &[Step], block: u32, way: Way) -> Option<BlockEnd> {
        let own = self.blocks.get(block as usize)?;
        let at = match way {
            Way::Along => own.end,
            Way::Against => own.start.checked_sub(1)?,
        };
        let gate = steps.get(at as usize)?;
        let next = |join| self.behind(at, way).map(|to| Edge { to, join });
        let action = match way {
            Way::Along => gate.operation.update,
            Way::Against => gate.operation.update.inverse(),
        };
        Some(match action.action() {
            Action::Jump => {
                let StepLink::Partner(join) = gate.link else { return None };
                let taken = Edge { to: self.behind(join, way)?, join: Some(join) };
                BlockEnd::Branch { at, taken, next: next(None)? }
            }
            Action::Join => BlockEnd::Go { next: next(Some(at))? },
            Action::Call(_) => BlockEnd::Call { at, next: next(None)? },
            Action::Switch(_) => BlockEnd::Switch { at, next: next(None)? },
            Action::Begin | Action::End => BlockEnd::Leave { at },
            // No gates.
            Action::Accumulate
            | Action::Replace
            | Action::Erase(_)
            | Action::Map
            | Action::Exchange
            | Action::Rotate
            | Action::Clear
            | Action::Put(_)
            | Action::Take(_)
            | Action::Test
            | Action::Tasks(_)
            | Action::Show => return None,
        })
    }
}
