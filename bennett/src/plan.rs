//! Plans: the number of segments in a level, the number of levels, and the costs. Plans don't depend on the program.

use std::fmt;

/// A hierarchy of segments. A level runs the level below `segments` times. On the lowest level, these runs are
/// segments of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentPlan {
    /// The number of segments in each level, at least 2.
    pub segments: u32,
    /// The number of levels, at least 1.
    pub levels: u32,
    /// The number of rounds in a segment. If `None`, the generated program tries 1, 2, 4, … rounds until they
    /// suffice.
    pub rounds: Option<u32>,
}

impl Default for SegmentPlan {
    /// Returns a plan with 64 segments, which saves at most 15 states at a time.
    fn default() -> SegmentPlan {
        SegmentPlan { segments: 8, levels: 2, rounds: None }
    }
}

/// A requested plan, or the space that saved states may take.
#[derive(Clone, Copy, Debug)]
pub enum WantedPlan {
    /// The given plan, without a limit on the space of saved states.
    Exact(SegmentPlan),
    /// The plan with the fewest segment runs among those whose saved states fit into `bytes`. A segment has `rounds`
    /// rounds.
    Space {
        /// The maximum size of all states in bytes, including the initial and the current one.
        bytes: u64,
        /// The number of rounds in a segment, as in [`SegmentPlan::rounds`].
        rounds: Option<u32>,
    },
}

/// The reason why a plan is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unplanned {
    /// Fewer than two segments in a level, no level, or no round.
    TooFew,
    /// A number of segment runs that exceeds 2⁶³ - 1.
    TooMany,
}

impl fmt::Display for Unplanned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Unplanned::TooFew => {
                "a level has at least two segments, a plan at least one level, and a segment at least one round"
            }
            Unplanned::TooMany => "this plan has more than 2⁶³ runs of segments: choose fewer segments or levels",
        })
    }
}

impl std::error::Error for Unplanned {}

/// The plans that `--space` chooses from, as (segments, levels). Each plan has 64 segments in total. Later plans in the
/// list take less space, but more runs.
const SPREAD: [(u32, u32); 4] = [(64, 1), (8, 2), (4, 3), (2, 6)];

impl SegmentPlan {
    /// Returns a valid plan.
    ///
    /// # Errors
    /// Returns an error if there are too few segments, levels or rounds, or if the number of runs can't be
    /// represented.
    pub fn new(segments: u32, levels: u32, rounds: Option<u32>) -> Result<SegmentPlan, Unplanned> {
        if segments < 2 || levels < 1 || rounds == Some(0) {
            return Err(Unplanned::TooFew);
        }
        let runs = u64::from(segments).checked_mul(2).and_then(|twice| (twice - 1).checked_pow(levels));
        match runs.filter(|runs| i64::try_from(*runs).is_ok()) {
            Some(_) => Ok(SegmentPlan { segments, levels, rounds }),
            None => Err(Unplanned::TooMany),
        }
    }

    /// Returns the number of segments that the plan covers: g^n for g segments in each of n levels.
    pub fn reach(self) -> u64 {
        u64::from(self.segments).saturating_pow(self.levels)
    }

    /// Returns the number of segment runs, forward and backward, until only the last of all computed states is left.
    /// With g segments in each of n levels, the number is (2g - 1)^n.
    pub fn runs(self) -> u64 {
        u64::from(self.segments).saturating_mul(2).saturating_sub(1).saturating_pow(self.levels)
    }

    /// Returns the number of states saved at a time, without the initial and the current state. With g segments in each
    /// of n levels, the number is n(g - 1) + 1.
    pub fn states(self) -> u64 {
        u64::from(self.levels) * u64::from(self.segments.saturating_sub(1)) + 1
    }

    /// Returns the plan with 64 segments that has the fewest runs among those whose states fit into `bytes`. `state`
    /// is the size of one state in bytes; the initial and the current state count, too. Returns `None` if no plan
    /// fits.
    pub fn within(bytes: u64, state: u64, rounds: Option<u32>) -> Option<SegmentPlan> {
        let plans = SPREAD.map(|(segments, levels)| SegmentPlan { segments, levels, rounds });
        plans.into_iter().find(|plan| plan.memory(state) <= bytes)
    }

    /// Returns the size in bytes of all states that exist at once, if one state has `state` bytes.
    pub fn memory(self, state: u64) -> u64 {
        (self.states() + 2).saturating_mul(state)
    }

    /// Returns the size in bytes of all states of the smallest plan with 64 segments.
    pub fn least_memory(state: u64) -> u64 {
        SegmentPlan { segments: 2, levels: 6, rounds: None }.memory(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_four_segments_in_one_to_six_levels() {
        let reported = [(64, 1), (8, 2), (4, 3), (2, 6)].map(|(segments, levels)| {
            let plan = SegmentPlan::new(segments, levels, None).unwrap();
            (plan.reach(), plan.runs(), plan.states())
        });
        assert_eq!(reported, [(64, 127, 64), (64, 225, 15), (64, 343, 10), (64, 729, 7)]);
    }

    #[test]
    fn more_memory_allows_more_segments() {
        let chosen = |bytes| SegmentPlan::within(bytes, 8, None).map(|plan| (plan.segments, plan.levels));
        assert_eq!(chosen(66 * 8), Some((64, 1)));
        assert_eq!(chosen(66 * 8 - 1), Some((8, 2)));
        assert_eq!(chosen(12 * 8), Some((4, 3)));
        assert_eq!(chosen(SegmentPlan::least_memory(8)), Some((2, 6)));
        assert_eq!(chosen(SegmentPlan::least_memory(8) - 1), None);
    }

    #[test]
    fn impossible_plans_are_refused() {
        assert_eq!(SegmentPlan::new(1, 1, None), Err(Unplanned::TooFew));
        assert_eq!(SegmentPlan::new(2, 0, None), Err(Unplanned::TooFew));
        assert_eq!(SegmentPlan::new(2, 1, Some(0)), Err(Unplanned::TooFew));
        assert_eq!(SegmentPlan::new(1000, 100, None), Err(Unplanned::TooMany));
    }
}
