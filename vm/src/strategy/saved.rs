//! Checkpointed runs as plain data, for files from which they can be resumed. The data of a file is validated. As in
//! any state file, wrong but valid numbers may cause wrong results, and nothing worse.

use serde::{Deserialize, Serialize};

use crate::state::State;

use super::lossless_segments::LosslessSegments;
use super::{Retention, RunCost, Strategy};

/// The data of a checkpointed run, except for the state and the history of its machine.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedRun {
    pub(crate) retention: Retention,
    pub(crate) cost: RunCost,
    pub(crate) snapshots: Option<SavedSnapshots>,
}

/// The data of a checkpointed run with snapshots.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSnapshots {
    /// The current number of steps between evenly spaced snapshots, at least 1.
    pub spacing: u64,
    /// The snapshots, by their distances from the start. The initial state isn't included.
    pub states: Vec<(u64, State)>,
    /// The distance at which the machine's history starts, in steps from the start.
    pub base: u64,
    /// The distance of the last leaf end that was passed.
    pub passed: u64,
    /// The memory use of the history at that leaf end, in bytes.
    pub history: u64,
    /// True if a history has been discarded since that leaf end.
    pub has_lost: bool,
    /// True while the history covers the whole run, so that no step is repeated. The strategy `auto` begins in
    /// this way; it discards the history when it would exceed the memory bound.
    pub is_whole: bool,
    /// The step at which the full history was dropped; `None` if it wasn't dropped.
    pub exceeded: Option<i64>,
    /// The lossless segments, which are undone without a history.
    pub lossless: LosslessSegments,
    /// True if the forward sweep has ended. The snapshots then need not be evenly spaced.
    pub has_turned: bool,
}

impl SavedRun {
    /// Returns the strategy and its memory bound.
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// Iterates over the snapshots.
    pub fn states(&self) -> impl Iterator<Item = &State> {
        self.snapshots.iter().flat_map(|snapshots| &snapshots.states).map(|(_, state)| state)
    }

    /// Returns true if the data is consistent with a checkpointed run in the given state.
    pub fn fits(&self, state: &State, has_history: bool) -> bool {
        let Some(snapshots) = &self.snapshots else {
            return !matches!(self.retention.strategy, Strategy::Checkpoint { .. }) || !has_history;
        };
        let slots = self.retention.most_slots();
        has_history && (snapshots.states.len() as u64) < slots && snapshots.fit(state, slots)
    }
}

impl SavedSnapshots {
    /// Checks the snapshots and distances. A checkpointed run that can be saved starts at step 0.
    fn fit(&self, here: &State, slots: u64) -> bool {
        let Ok(distance) = u64::try_from(here.own_steps()) else { return false };
        let is_there =
            |(at, state): &(u64, State)| Ok(*at) == u64::try_from(state.own_steps()) && !state.mode();
        let is_spaced = |(at, _): &(u64, State)| at.is_multiple_of(self.spacing) && at / self.spacing < slots;
        let most = if self.has_turned { u64::MAX } else { distance };
        self.spacing > 0
            && self.states.iter().all(is_there)
            && self.states.is_sorted_by(|(a, _), (b, _)| a < b)
            && (self.has_turned || self.states.iter().all(is_spaced))
            && self.states.iter().all(|(at, _)| *at > 0 && *at <= most)
            && self.base <= distance
            && self.passed <= most
            && self.lossless.are_within(self.passed)
    }
}
