//! How much a strategy may keep, and how its memory is shared out between states and what the steps of a leaf lose. Pure numbers: knows no
//! state and no machine.

use super::quiet::QuietStretches;
use super::{Plan, Retention, Strategy};

/// The most memory that is taken where nobody says how much may be.
pub const MEMORY: u64 = 1 << 30;
/// States that are kept at most where nobody says how many, and with which a way of a million leaves is run over seven times.
pub(super) const SLOTS: u64 = 30;
/// The same where the memory is bounded instead: more serve little.
pub(super) const MOST_SLOTS: u64 = 128;
/// Steps of a leaf.
pub(super) const LEAF: u64 = 5_000;
/// Memory that a step of a leaf is expected to take.
const BYTES_OF_A_STEP: u64 = 80;
/// Memory that the history of a step takes at most, frames with many reals aside that end with something in each.
pub(super) const MOST_BYTES_OF_A_STEP: u64 = 8 * 48;
/// This part of the memory is for remembering where nothing is lost.
const QUIET_PART: u64 = 16;
/// Nobody knows how long a way becomes: memory is shared out as it is best for so many steps.
const USUAL_STEPS: u64 = 1_000_000;
/// So many numbers of slots are tried at most.
const MOST_TRIED: u64 = 4_096;

/// What may be kept of states, and between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// States, that of the start included.
    pub slots: u64,
    /// Steps that are gone back over at a time.
    pub leaf: u64,
    /// Bytes of everything.
    pub memory: Option<u64>,
    /// Bytes of all states.
    pub states: u64,
    /// Stretches that are remembered because nothing is lost on them.
    pub quiet: usize,
}

impl Retention {
    /// The bounds of a way whose first state takes so many bytes. The more memory there is, the fewer steps are made again, but for what whole leaves leave over.
    pub fn bounds(self, state: u64) -> Bounds {
        let (slots, leaf) = self.asked();
        let Some(memory) = self.bounded_memory() else {
            let (slots, leaf) = (slots.unwrap_or(SLOTS), leaf.unwrap_or(LEAF));
            return Bounds { slots, leaf, memory: None, states: u64::MAX, quiet: QuietStretches::MOST };
        };
        let quiet = QuietStretches::count(memory / QUIET_PART);
        // Before a step it isn't known what it takes.
        let shared = memory.saturating_sub(QuietStretches::bytes_of(quiet) + MOST_BYTES_OF_A_STEP);
        let Plan { slots, leaf, .. } =
            shared_out(shared, state, slots.unwrap_or(MOST_SLOTS), leaf.unwrap_or(LEAF));
        let states = shared.saturating_sub(leaf.saturating_mul(BYTES_OF_A_STEP)).max(state);
        Bounds { slots, leaf, memory: Some(memory), states, quiet }
    }

    /// How many states may be kept at most, whatever they take.
    pub fn most_slots(self) -> u64 {
        let usual = if self.bounded_memory().is_some() { MOST_SLOTS } else { SLOTS };
        self.asked().0.unwrap_or(usual)
    }

    /// What it does where a way has so many steps, each of which loses something, and its first state takes so many bytes.
    pub fn plan(self, steps: u64, state: u64) -> Plan {
        match self.strategy {
            // One state, that of the start, and one leaf: everything is kept of it.
            Strategy::Reverse | Strategy::Tape => Plan { steps, slots: 1, leaf: steps.max(1) },
            Strategy::Checkpoint { .. } | Strategy::Auto => {
                let Bounds { slots, leaf, .. } = self.bounds(state);
                Plan { steps, slots, leaf }
            }
        }
    }

    /// The slots and the leaf that somebody wants.
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

/// So many slots and so long a leaf, if they fit; else fewer and shorter ones, with which the fewest steps are made again.
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
    fn what_is_asked_for_is_taken_where_it_fits() {
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
    fn what_is_shared_out_fits() {
        for state in [0, 1, 300, 9_000, 1 << 20] {
            for memory in [0, 700, 3 << 10, 5 << 10, 64 << 10, 1 << 30] {
                for (slots, leaf) in [(None, None), (Some(2), Some(1_000_000)), (Some(u32::MAX), None)] {
                    let Bounds { slots, leaf, states, quiet, .. } = bounds(slots, leaf, Some(memory), state);
                    assert!(slots >= 1 && leaf >= 1);
                    // Less than one state and one step is found out on the way.
                    let least = slots * state + leaf * BYTES_OF_A_STEP + QuietStretches::bytes_of(quiet);
                    let is_least = (slots, leaf) == (1, 1);
                    assert!(is_least || slots * state <= states && least <= memory, "{state} of {memory}");
                }
            }
        }
    }

    #[test]
    fn more_memory_costs_hardly_more_steps() {
        let checkpoint = Strategy::Checkpoint { slots: None, leaf: None };
        for state in [300, 2_000, 9_000, 100_000] {
            let mut least = u64::MAX / 2;
            for memory in (0..200).map(|n| state + 1_000 + n * (state / 10 + 50)) {
                let retention = Retention { strategy: checkpoint, memory: Some(memory) };
                let cost = retention.plan(USUAL_STEPS, state).forward_steps();
                // Leaves are whole, so that a longer one may leave more of the last one over.
                assert!(cost <= least + least / 1_000, "{state} of {memory}: {cost}, and {least} with less");
                least = least.min(cost);
            }
        }
    }
}
