//! Loops whose few rounds are counted by literals: each round becomes code of its own, so that what indices are is known in it, and small
//! arrays needn't lie in memory. What is counted here is a guess by the text, and nothing relies on it: conditions are looked at in each
//! round all the same, and behind the last one comes the loop as it stands. Knows no value.

use reviver_flow::{Anchor, Flow, Location, Slot, StepLink};

use super::activation::{Activations, AnchorPlace};

/// Rounds of a loop that become code of their own.
const MOST_ROUNDS: u32 = 4;
/// Steps of all rounds of a loop.
const MOST_STEPS: u32 = 32;
/// The same of all loops of a version.
const MOST_STEPS_OF_ALL: u32 = 1 << 11;

/// A round of a loop that has code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LoopRound {
    /// The first instruction of the pair around the loop.
    pub head: u32,
    /// From 0 on, in the order in which rounds are made.
    pub number: u32,
}

/// A loop whose rounds are one block, with the number of its rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedLoop {
    pub head: u32,
    pub rounds: u32,
    /// The steps of one round.
    pub steps: u32,
}

impl CountedLoop {
    /// The loop around a position of an activation.
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

/// The cell that a condition compares with a literal, and the literal.
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

/// The literal that a slot is, or that is passed for the parameter which it is.
fn literal(flow: &Flow, activations: &Activations, activation: u32, slot: &Slot) -> Option<i64> {
    let AnchorPlace::Own(Anchor::Constant(address)) = activations.place(activation, cell(slot)?) else {
        return None;
    };
    let layout = flow.layout();
    let number = address.checked_sub(layout.pool_ints_start)?;
    layout.pool_ints.get(number as usize).copied()
}

/// How many steps may still become code of their own.
#[derive(Debug)]
pub(super) struct RoundBudget(u32);

impl Default for RoundBudget {
    fn default() -> RoundBudget {
        RoundBudget(MOST_STEPS_OF_ALL)
    }
}

impl RoundBudget {
    /// Takes what a loop needs, if it is there.
    pub fn take(&mut self, counted: CountedLoop) -> bool {
        let left = self.0.checked_sub(counted.rounds * counted.steps);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}
