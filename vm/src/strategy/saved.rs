//! A course as plain data, for a file from which it can be gone on with. What a file says is looked at before it is believed:
//! wrong numbers make wrong results, as in any state, and nothing worse.

use serde::{Deserialize, Serialize};

use crate::state::State;

use super::quiet::QuietStretches;
use super::{CourseCost, Retention, Strategy};

/// What is kept of a course beside the state and the history of its machine.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedCourse {
    pub(crate) retention: Retention,
    pub(crate) cost: CourseCost,
    pub(crate) stretches: Option<SavedStretches>,
}

/// What is kept of a course that goes back stretch by stretch.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedStretches {
    pub spacing: u64,
    /// By their distances from the start, which isn't among them.
    pub states: Vec<(u64, State)>,
    pub base: u64,
    pub passed: u64,
    pub history: u64,
    pub has_lost: bool,
    pub is_whole: bool,
    pub exceeded: Option<i64>,
    pub quiet: QuietStretches,
    pub has_turned: bool,
}

impl SavedCourse {
    /// The strategy that it follows.
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// The kept states.
    pub fn states(&self) -> impl Iterator<Item = &State> {
        self.stretches.iter().flat_map(|stretches| &stretches.states).map(|(_, state)| state)
    }

    /// Whether its numbers can be those of a course whose machine has come to a state.
    pub fn fits(&self, state: &State, has_history: bool) -> bool {
        let Some(stretches) = &self.stretches else {
            return !matches!(self.retention.strategy, Strategy::Checkpoint { .. }) || !has_history;
        };
        let slots = self.retention.most_slots();
        has_history && (stretches.states.len() as u64) < slots && stretches.fit(state, slots)
    }
}

impl SavedStretches {
    /// A course that can be saved begins at step 0.
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
            && self.quiet.are_within(self.passed)
    }
}
