//! Loop unrolling: a loop with few iterations between literal bounds gets separate code for each iteration. Indices are
//! constant in this code, so small arrays can become SSA values. The number of iterations is only estimated, and no
//! code relies on it: each iteration still tests its conditions, and the general loop follows the last unrolled
//! iteration. This module is independent of SSA values.

use reviver_flow::{Anchor, Flow, Location, Slot, StepLink};

use super::inlining::{AnchorPlace, InlinedFrames};

/// Upper bound on the iterations of an unrolled loop.
const MOST_ITERATIONS: u32 = 4;
/// Upper bound on the steps of all iterations of an unrolled loop.
const MOST_STEPS: u32 = 32;
/// Upper bound on the steps of all unrolled loops of a specialization.
const MOST_STEPS_OF_ALL: u32 = 1 << 11;

/// Iteration of an unrolled loop, as part of a place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LoopIteration {
    /// Index of the first instruction of the branch pair around the loop's body.
    pub head: u32,
    /// Number of the iteration in execution order, counted from 0.
    pub number: u32,
}

/// Loop with a body of one block, and an expected number of iterations.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedLoop {
    pub head: u32,
    pub iterations: u32,
    /// Number of steps in one iteration.
    pub steps: u32,
}

impl CountedLoop {
    /// Returns the counted loop around a position of an inlined frame. Returns `None` if the position is in no counted
    /// loop, or if the loop is too large to unroll.
    pub fn around(
        flow: &Flow,
        inlined_frames: &InlinedFrames,
        inlined_frame: u32,
        position: u32,
    ) -> Option<CountedLoop> {
        let blocks = flow.graph().blocks();
        let number = blocks.partition_point(|block| block.start <= position).checked_sub(1)?;
        let block = blocks.get(number).filter(|block| position <= block.end)?;
        let (head, tail) = (block.start.checked_sub(1)?, block.end);
        if flow.step(head)?.link != StepLink::Partner(tail) {
            return None;
        }
        let bound = |at: u32| bound(flow, inlined_frames, inlined_frame, at);
        let ((counter, first), (other, last)) = (bound(head)?, bound(tail)?);
        let iterations = u32::try_from(first.abs_diff(last)).ok()?;
        let steps = tail - head;
        let is_small =
            (1..=MOST_ITERATIONS).contains(&iterations) && iterations.saturating_mul(steps) <= MOST_STEPS;
        (counter == other && is_small).then_some(CountedLoop { head, iterations, steps })
    }
}

/// Returns the cell and the literal that a condition compares.
fn bound(flow: &Flow, inlined_frames: &InlinedFrames, inlined_frame: u32, at: u32) -> Option<(Anchor, i64)> {
    let [a, b] = flow.step(at)?.slots.as_slice() else { return None };
    let literal = |slot: &Slot| literal(flow, inlined_frames, inlined_frame, slot);
    match (literal(a), literal(b)) {
        (None, Some(value)) => Some((cell(a)?, value)),
        (Some(value), None) => Some((cell(b)?, value)),
        _ => None,
    }
}

fn cell(slot: &Slot) -> Option<Anchor> {
    match slot.location {
        Location::Cell(anchor) => Some(anchor),
        Location::Element(_) => None,
    }
}

/// Returns the integer literal in a slot. If the slot is a parameter, the literal is the argument of the call.
fn literal(flow: &Flow, inlined_frames: &InlinedFrames, inlined_frame: u32, slot: &Slot) -> Option<i64> {
    let AnchorPlace::Own(Anchor::Constant(address)) = inlined_frames.place(inlined_frame, cell(slot)?) else {
        return None;
    };
    let layout = flow.layout();
    let number = address.checked_sub(layout.pool_ints_start)?;
    layout.pool_ints.get(number as usize).copied()
}

/// Remaining number of steps that unrolled loops of the specialization may have.
#[derive(Debug)]
pub(super) struct UnrollBudget(u32);

impl Default for UnrollBudget {
    fn default() -> UnrollBudget {
        UnrollBudget(MOST_STEPS_OF_ALL)
    }
}

impl UnrollBudget {
    /// Reserves the steps of a loop; returns false if too few remain.
    pub fn take(&mut self, counted: CountedLoop) -> bool {
        let left = self.0.checked_sub(counted.iterations * counted.steps);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}
