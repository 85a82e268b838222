//! Analysis of borrowed cells. Steps *borrow* a cell if they clear the cell before they use it, and leave it cleared.
//! Examples are loop counters and temporaries of lowering. Clearing requires that the cell is vacant, so the steps
//! don't change its content. This module is independent of specializations and SSA values.

use std::collections::HashMap;
use std::ops::Range;

use reviver_flow::graph::CodeDirection;
use reviver_flow::{Flow, StepLink};

/// Set of possible states of a cell, as a bit mask.
type CellStates = u8;
const UNTOUCHED: CellStates = 1;
const CLEARED: CellStates = 2;
const USED: CellStates = 4;

/// Effect of a step on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellUse {
    Nothing,
    /// Requires that the cell is vacant, and sets it to 0.
    Clears,
    Uses,
}

/// Returns true if steps only borrow a cell: each path, in either direction, leaves the cell untouched, or finds it
/// vacant and leaves it vacant. The caller ensures that no branch leads into the steps or out of them.
pub(super) fn leave_clear(flow: &Flow, steps: Range<u32>, uses: impl Fn(u32) -> CellUse) -> bool {
    [CodeDirection::Forward, CodeDirection::Backward]
        .into_iter()
        .all(|direction| is_left_clear(flow, &steps, direction, &uses))
}

fn is_left_clear(
    flow: &Flow,
    steps: &Range<u32>,
    direction: CodeDirection,
    uses: &impl Fn(u32) -> CellUse,
) -> bool {
    // Possible states of the cell before each step. The key is the step's index.
    let mut known: HashMap<u32, CellStates> = HashMap::new();
    let first = if direction == CodeDirection::Forward { steps.start } else { steps.end.wrapping_sub(1) };
    let mut open = vec![(first, UNTOUCHED)];
    while let Some((at, fates)) = open.pop() {
        if !steps.contains(&at) {
            if fates & USED != 0 {
                return false;
            }
            continue;
        }
        let before = known.entry(at).or_default();
        if *before | fates == *before {
            continue;
        }
        *before |= fates;
        let Some(step) = flow.step(at) else { return false };
        let after = match uses(at) {
            CellUse::Nothing => *before,
            CellUse::Clears => CLEARED,
            CellUse::Uses if *before & UNTOUCHED != 0 => return false,
            CellUse::Uses => USED,
        };
        let behind = |at: u32| if direction == CodeDirection::Forward { at + 1 } else { at.wrapping_sub(1) };
        open.push((behind(at), after));
        if let StepLink::Partner(partner) = step.link {
            open.push((behind(partner), after));
        }
    }
    true
}
