//! Loop unrolling: a loop with few iterations between literal bounds gets separate code for each iteration. Indices
//! are then constant, so small arrays can become SSA values. The count is a guess from the text, and nothing relies on
//! it: each iteration still tests its conditions, and the general loop follows the last one. This module knows no
//! value.

use reviver_flow::{Anchor, Flow, Location, Slot, StepLink};

use super::activation::{Activations, AnchorPlace};

/// Upper bound on the iterations of an unrolled loop.
const MOST_ROUNDS: u32 = 4;
/// Upper bound on the steps of all iterations of an unrolled loop.
const MOST_STEPS: u32 = 32;
/// Upper bound on the steps of all unrolled loops of a specialization.
const MOST_STEPS_OF_ALL: u32 = 1 << 11;

/// Iteration of an unrolled loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LoopRound {
    /// First instruction of the pair around the loop.
    pub head: u32,
    /// Number of the iteration, from 0 on, in execution order.
    pub number: u32,
}

/// Loop with a body of one block and a known number of iterations.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedLoop {
    pub head: u32,
    pub rounds: u32,
    /// Number of steps in one iteration.
    pub steps: u32,
}

impl CountedLoop {
    /// Returns the counted loop around a position of an activation, if there is one that is small enough.
    pub fn around(
        flow: &Flow,
        activations: &Activations,
        activation: u32,
        position: u32,
    ) -> Option<CountedLoop> {
        let blocks = flow.graph().blocks();
        let number = blocks.partition_point(|block| block.start <= position).checked_sub(1)?;
        let block = blocks.get(number).filter(|block| position <= block.end)?;
        let (head, tail) = (block.start.checked_sub(1)?, block.end);
        if flow.step(head)?.link != StepLink::Partner(tail) {
            return None;
        }
        let bound = |at: u32| bound(flow, activations, activation, at);
        let ((counter, first), (other, last)) = (bound(head)?, bound(tail)?);
        let rounds = u32::try_from(first.abs_diff(last)).ok()?;
        let steps = tail - head;
        let is_small = (1..=MOST_ROUNDS).contains(&rounds) && rounds.saturating_mul(steps) <= MOST_STEPS;
        (counter == other && is_small).then_some(CountedLoop { head, rounds, steps })
    }
}

/// Returns the cell and the literal that a condition compares.
fn bound(flow: &Flow, activations: &Activations, activation: u32, at: u32) -> Option<(Anchor, i64)> {
    let [a, b] = flow.step(at)?.slots.as_slice() else { return None };
    let literal = |slot: &Slot| literal(flow, activations, activation, slot);
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

/// Returns the literal of a slot, which may be passed through a parameter.
fn literal(flow: &Flow, activations: &Activations, activation: u32, slot: &Slot) -> Option<i64> {
    let AnchorPlace::Own(Anchor::Constant(address)) = activations.place(activation, cell(slot)?) else {
        return None;
    };
    let layout = flow.layout();
    let number = address.checked_sub(layout.pool_ints_start)?;
    layout.pool_ints.get(number as usize).copied()
}

/// Remaining number of steps for unrolling.
#[derive(Debug)]
pub(super) struct RoundBudget(u32);

impl Default for RoundBudget {
    fn default() -> RoundBudget {
        RoundBudget(MOST_STEPS_OF_ALL)
    }
}

impl RoundBudget {
    /// Reserves the steps of a loop; returns false if too few remain.
    pub fn take(&mut self, counted: CountedLoop) -> bool {
        let left = self.0.checked_sub(counted.rounds * counted.steps);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}
