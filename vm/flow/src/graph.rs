//! The graph of a program's basic blocks, which can be traversed in either direction. A block is a sequence of steps
//! without a jump into or out of it. At each end of a block is a *gate*: a step that transfers control, or receives
//! it. The reversed program has the same blocks, entered from their other ends: a branch becomes a join, and a join a
//! branch.

use std::ops::Range;

use reviver_isa::update::Action;

use crate::step::{Step, StepLink};

/// The direction of a traversal of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeDirection {
    /// Forward, in the order of the code.
    Forward,
    /// Backward, from the end of the code to its start, with each step inverted.
    Backward,
}

/// An edge into a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The number of the target block.
    pub to: u32,
    /// The join that the edge passes through, if any. The join's condition must be true on a taken branch,
    /// and false on fall-through.
    pub join: Option<u32>,
}

/// The control transfer at the end of a block, as the gate at this end defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockEnd {
    /// Fall-through into a join.
    Go {
        /// The edge to the block after the join.
        next: Edge,
    },
    /// A conditional branch, with the edges for a true and for a false condition.
    Branch {
        /// The step that tests the condition: a `br`, or in the backward direction a `from`.
        at: u32,
        /// The edge for a true condition, through the partner's join.
        taken: Edge,
        /// The edge for a false condition: fall-through.
        next: Edge,
    },
    /// A call, and the edge to the block after it.
    Call {
        /// The step that is the call.
        at: u32,
        /// The edge to the block after the call.
        next: Edge,
    },
    /// A switch of the gradient mode.
    Switch {
        /// The step that switches the mode.
        at: u32,
        /// The edge to the block after the switch.
        next: Edge,
    },
    /// The end of the procedure in this direction.
    Leave {
        /// The step at the end: the procedure's `exit`, or in the backward direction its `enter`.
        at: u32,
    },
}

/// The basic blocks of all procedures.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The steps of each block, in the order of the code. Between two neighbouring blocks of a procedure there is one
    /// gate. There is also a gate before the first block and one after the last block.
    blocks: Vec<Range<u32>>,
}

/// Returns true if a step with this action ends a block.
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
    /// Builds the graph. `procedures` has the numbers of the first and the last step of each procedure, in the order
    /// of `steps`.
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

    /// Returns the range of steps of each block.
    pub fn blocks(&self) -> &[Range<u32>] {
        &self.blocks
    }

    /// Returns the block that follows a gate in the direction `direction`; `None` after the end of a procedure.
    fn after_gate(&self, gate: u32, direction: CodeDirection) -> Option<u32> {
        let next = self.blocks.partition_point(|block| block.start <= gate);
        let number = match direction {
            CodeDirection::Forward => next,
            CodeDirection::Backward => next.checked_sub(1)?,
        };
        let block = self.blocks.get(number)?;
        let meets = match direction {
            CodeDirection::Forward => block.start == gate + 1,
            CodeDirection::Backward => block.end == gate,
        };
        meets.then_some(number as u32)
    }

    /// Returns the end of a block in the direction `direction`, with the edges to its successors; `None` if the block
    /// doesn't exist.
    pub(crate) fn end(&self, steps: &[Step], block: u32, direction: CodeDirection) -> Option<BlockEnd> {
        let own = self.blocks.get(block as usize)?;
        let at = match direction {
            CodeDirection::Forward => own.end,
            CodeDirection::Backward => own.start.checked_sub(1)?,
        };
        let gate = steps.get(at as usize)?;
        let next = |join| self.after_gate(at, direction).map(|to| Edge { to, join });
        let action = match direction {
            CodeDirection::Forward => gate.operation.update,
            CodeDirection::Backward => gate.operation.update.inverse(),
        };
        Some(match action.action() {
            Action::Jump => {
                let StepLink::Partner(join) = gate.link else { return None };
                let taken = Edge { to: self.after_gate(join, direction)?, join: Some(join) };
                BlockEnd::Branch { at, taken, next: next(None)? }
            }
            Action::Join => BlockEnd::Go { next: next(Some(at))? },
            Action::Call(_) => BlockEnd::Call { at, next: next(None)? },
            Action::Switch(_) => BlockEnd::Switch { at, next: next(None)? },
            Action::Begin | Action::End => BlockEnd::Leave { at },
            // Steps with other actions aren't gates.
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
