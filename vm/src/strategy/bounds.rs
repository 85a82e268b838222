//! Memory bounds of a strategy, and the division of its memory between snapshots and the history of a leaf. A leaf is a
//! segment of the run whose steps are undone together. The module only computes with numbers, and uses no state and no
//! machine.

use super::lossless_segments::LosslessSegments;
use super::{Plan, Retention, Strategy};

/// Default bound on the memory for going back, in bytes.
pub const MEMORY: u64 = 1 << 30;
/// Default bound on the number of snapshots. With this number of snapshots, no leaf of a run of a million leaves is
/// repeated more than seven times.
pub(super) const SLOTS: u64 = 30;
/// Default bound on the number of snapshots if the caller bounds the memory. More snapshots than that hardly reduce the
/// number of repeated steps.
pub(super) const MOST_SLOTS: u64 = 128;
/// Default length of a leaf, in steps.
pub(super) const LEAF: u64 = 5_000;
/// Estimated size of the history of one step of a leaf, in bytes.
const BYTES_OF_A_STEP: u64 = 80;
/// Upper bound on the size of the history of one step, in bytes. A step that frees a frame may exceed the bound if many
/// reals of the frame aren't 0.
pub(super) const MOST_BYTES_OF_A_STEP: u64 = 8 * 48;
/// The list of lossless segments may take at most the memory bound divided by this number.
const LOSSLESS_PART: u64 = 16;
/// Assumed length of a run in steps, used for dividing the memory. The actual length isn't known in advance.
const USUAL_STEPS: u64 = 1_000_000;
/// Largest number of slots that [`shared_out`] tries.
const MOST_TRIED: u64 = 4_096;

/// The limits on snapshots, and on the history between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of snapshots, including the initial state.
    pub slots: u64,
    /// Length of a leaf: the number of steps that are undone at a time.
    pub leaf: u64,
    /// Memory for snapshots and history together, in bytes; `None` if it is unbounded.
    pub memory: Option<u64>,
    /// Memory for all snapshots, in bytes.
    pub states: u64,
    /// Maximum number of remembered lossless segments.
    pub lossless: usize,
}

impl Retention {
    /// Returns the bounds for a run with an initial state of `state` bytes. With more memory, fewer steps are
    /// repeated, except for the effect of incomplete leaves.
    pub fn bounds(self, state: u64) -> Bounds {
        let (slots, leaf) = self.asked();
        let Some(memory) = self.bounded_memory() else {
            let (slots, leaf) = (slots.unwrap_or(SLOTS), leaf.unwrap_or(LEAF));
            return Bounds { slots, leaf, memory: None, states: u64::MAX, lossless: LosslessSegments::MOST };
        };
        let lossless = LosslessSegments::count(memory / LOSSLESS_PART);
        // The memory that a step takes isn't known before the step, so memory for one step is kept in reserve.
        let shared = memory.saturating_sub(LosslessSegments::bytes_of(lossless) + MOST_BYTES_OF_A_STEP);
        let Plan { slots, leaf, .. } =
            shared_out(shared, state, slots.unwrap_or(MOST_SLOTS), leaf.unwrap_or(LEAF));
        let states = shared.saturating_sub(leaf.saturating_mul(BYTES_OF_A_STEP)).max(state);
        Bounds { slots, leaf, memory: Some(memory), states, lossless }
    }

    /// Returns the maximum number of snapshots, regardless of their size.
    pub fn most_slots(self) -> u64 {
        let usual = if self.bounded_memory().is_some() { MOST_SLOTS } else { SLOTS };
        self.asked().0.unwrap_or(usual)
    }

    /// Returns the plan for a run of `steps` steps that all lose something, with an initial state of `state`
    /// bytes.
    pub fn plan(self, steps: u64, state: u64) -> Plan {
        match self.strategy {
            // One snapshot, that of the initial state, and one leaf with its complete history.
            Strategy::Reverse | Strategy::Tape => Plan { steps, slots: 1, leaf: steps.max(1) },
            Strategy::Checkpoint { .. } | Strategy::Auto => {
                let Bounds { slots, leaf, .. } = self.bounds(state);
                Plan { steps, slots, leaf }
            }
        }
    }

    /// Returns the requested slots and the requested leaf length.
    fn asked(self) -> (Option<u64>, Option<u64>) {
        match self.strategy {
            Strategy::Checkpoint { slots, leaf } => (slots.map(u64::from), leaf),
            Strategy::Reverse | Strategy::Tape | Strategy::Auto => (None, None),
        }
    }

    fn bounded_memory(self) -> Option<u64> {
        match self.strategy {
            Strategy::Auto => Some(self.memory.unwrap_or(MEMORY)),
            Strategy::Reverse | Strategy::Tape | Strategy::Checkpoint { .. } => self.memory,
        }
    }
}

/// Returns the requested slots and leaf length if they fit into the memory. Otherwise returns smaller numbers that fit,
/// and with which the fewest steps are repeated.
fn shared_out(bytes: u64, state: u64, slots: u64, leaf: u64) -> Plan {
    let with = |slots: u64| {
        let left = bytes.saturating_sub(slots.saturating_mul(state));
        Plan { steps: USUAL_STEPS, slots, leaf: leaf.min(left / BYTES_OF_A_STEP).max(1) }
    };
    let most = with(slots);
    if most.leaf == leaf && slots.saturating_mul(state) <= bytes {
        return most;
    }
    let fitting = bytes.saturating_sub(BYTES_OF_A_STEP) / state.max(1);
    let fitting = slots.min(fitting).clamp(1, MOST_TRIED);
    (1..=fitting).map(with).min_by_key(|plan| plan.forward_steps()).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(slots: Option<u32>, leaf: Option<u64>, memory: Option<u64>, state: u64) -> Bounds {
        Retention { strategy: Strategy::Checkpoint { slots, leaf }, memory }.bounds(state)
    }

    #[test]
    fn requested_bounds_are_used_if_they_fit() {
        for (slots, leaf, memory, found) in [
            (None, None, None, (SLOTS, LEAF)),
            (Some(3), Some(7), None, (3, 7)),
            (None, None, Some(1 << 20), (MOST_SLOTS, LEAF)),
            (Some(3), Some(7), Some(8_000), (3, 7)),
        ] {
            let Bounds { slots, leaf, .. } = bounds(slots, leaf, memory, 400);
            assert_eq!((slots, leaf), found);
        }
        let auto = Retention { strategy: Strategy::Auto, memory: None };
        assert_eq!(auto.bounds(400).memory, Some(MEMORY));
        assert_eq!(Retention::RESIDUES.plan(100, 400).forward_steps(), 100);
    }

    #[test]
    fn divided_memory_is_within_the_limit() {
        for state in [0, 1, 300, 9_000, 1 << 20] {
            for memory in [0, 700, 3 << 10, 5 << 10, 64 << 10, 1 << 30] {
                for (slots, leaf) in [(None, None), (Some(2), Some(1_000_000)), (Some(u32::MAX), None)] {
                    let Bounds { slots, leaf, states, lossless, .. } =
                        bounds(slots, leaf, Some(memory), state);
                    assert!(slots >= 1 && leaf >= 1);
                    // If the memory is too small for one snapshot and one step, the run itself reports it.
                    let least = slots * state + leaf * BYTES_OF_A_STEP + LosslessSegments::bytes_of(lossless);
                    let is_least = (slots, leaf) == (1, 1);
                    assert!(is_least || slots * state <= states && least <= memory, "{state} of {memory}");
                }
            }
        }
    }

    #[test]
    fn more_memory_never_costs_many_more_steps() {
        let checkpoint = Strategy::Checkpoint { slots: None, leaf: None };
        for state in [300, 2_000, 9_000, 100_000] {
            let mut least = u64::MAX / 2;
            for memory in (0..200).map(|n| state + 1_000 + n * (state / 10 + 50)) {
                let retention = Retention { strategy: checkpoint, memory: Some(memory) };
                let cost = retention.plan(USUAL_STEPS, state).forward_steps();
                // Leaves have a fixed length. So with longer leaves, a larger part of the last leaf may be unused.
                assert!(cost <= least + least / 1_000, "{state} of {memory}: {cost}, and {least} with less");
                least = least.min(cost);
            }
        }
    }
}
