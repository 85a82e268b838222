//! Cells that steps clear before anything else is done with them, and leave cleared: counters of loops, and what lowering borrows. Whoever comes
//! by finds such a cell as it was, because it had to be vacant. Knows no version and no value.

use std::collections::HashMap;
use std::ops::Range;

use reviver_flow::graph::Way;
use reviver_flow::{Flow, StepLink};

/// What may have become of a cell, as a set.
type Fates = u8;
const UNTOUCHED: Fates = 1;
const CLEARED: Fates = 2;
const USED: Fates = 4;

/// What a step does with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellUse {
    Nothing,
    /// It must be vacant, and is 0 then.
    Clears,
    Uses,
}

/// Whether steps find a cell vacant and leave it so, or don't touch it, on every way through them and in either direction. No branch leads
/// into the steps or out of them.
pub(super) fn leave_clear(flow: &Flow, steps: Range<u32>, uses: impl Fn(u32) -> CellUse) -> bool {
    [Way::Along, Way::Against].into_iter().all(|way| is_left_clear(flow, &steps, way, &uses))
}

fn is_left_clear(flow: &Flow, steps: &Range<u32>, way: Way, uses: &impl Fn(u32) -> CellUse) -> bool {
    // By the step that comes next what may have become of the cell before it.
    let mut known: HashMap<u32, Fates> = HashMap::new();
    let first = if way == Way::Along { steps.start } else { steps.end.wrapping_sub(1) };
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
        let behind = |at: u32| if way == Way::Along { at + 1 } else { at.wrapping_sub(1) };
        open.push((behind(at), after));
        if let StepLink::Partner(partner) = step.link {
            open.push((behind(partner), after));
        }
    }
    true
}
