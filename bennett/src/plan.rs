//! How many segments a level has, how many levels there are, and what that takes. Knows no program.

use std::fmt;

/// Segments in levels: a level consists of `segments` runs of the level below, and the lowest one's are segments of the
/// program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentPlan {
    /// Of each level, 2 at least.
    pub segments: u32,
    /// 1 at least.
    pub levels: u32,
    /// Rounds of a segment. Where none are said, the program finds out itself: 1, then 2, then 4 and so on.
    pub rounds: Option<u32>,
}

impl Default for SegmentPlan {
    /// Sixty-four segments, fifteen states.
    fn default() -> SegmentPlan {
        SegmentPlan { segments: 8, levels: 2, rounds: None }
    }
}

/// How states are to be spaced, or how much room kept states may take.
#[derive(Clone, Copy, Debug)]
pub enum WantedPlan {
    Exact(SegmentPlan),
    /// The fewest segment runs whose kept states fit into so many bytes, with so many rounds in a segment.
    Space {
        bytes: u64,
        rounds: Option<u32>,
    },
}

/// A plan that can't be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unplanned {
    /// Less than two segments in a level, no level, or no round.
    TooFew,
    /// More runs of segments than a number can tell.
    TooMany,
}

impl fmt::Display for Unplanned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Unplanned::TooFew => {
                "a level has at least two segments, a plan one level, and a segment one round"
            }
            Unplanned::TooMany => "so many levels take more runs of segments than 2⁶³: ask for fewer",
        })
    }
}

impl std::error::Error for Unplanned {}

/// The largest number of segments that `--space` spreads the program over, and the least.
const SPREAD: [(u32, u32); 4] = [(64, 1), (8, 2), (4, 3), (2, 6)];

impl SegmentPlan {
    /// A plan that can be.
    ///
    /// # Errors
    /// There are too few segments or levels, or too many to be counted.
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

    /// The segments that it reaches over: g^n.
    pub fn reach(self) -> u64 {
        u64::from(self.segments).saturating_pow(self.levels)
    }

    /// How often a segment is run, there or back, until the last state is all that is left: (2g - 1)^n.
    pub fn runs(self) -> u64 {
        u64::from(self.segments).saturating_mul(2).saturating_sub(1).saturating_pow(self.levels)
    }

    /// States that are kept at a time, besides the start and that which is worked on: n(g - 1) + 1.
    pub fn states(self) -> u64 {
        u64::from(self.levels) * u64::from(self.segments.saturating_sub(1)) + 1
    }

    /// Of the plans with 64 segments the one with the fewest runs whose states, with the start and the one that is worked on,
    /// take no more than so many bytes; none if not even the smallest does.
    pub fn within(bytes: u64, state: u64, rounds: Option<u32>) -> Option<SegmentPlan> {
        let plans = SPREAD.map(|(segments, levels)| SegmentPlan { segments, levels, rounds });
        plans.into_iter().find(|plan| plan.room(state) <= bytes)
    }

    /// Bytes of all states, where one takes so many.
    pub fn room(self, state: u64) -> u64 {
        (self.states() + 2).saturating_mul(state)
    }

    /// The least that 64 segments take.
    pub fn least_room(state: u64) -> u64 {
        SegmentPlan { segments: 2, levels: 6, rounds: None }.room(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_four_segments_in_one_to_six_levels() {
        let told = [(64, 1), (8, 2), (4, 3), (2, 6)].map(|(segments, levels)| {
            let plan = SegmentPlan::new(segments, levels, None).unwrap();
            (plan.reach(), plan.runs(), plan.states())
        });
        assert_eq!(told, [(64, 127, 64), (64, 225, 15), (64, 343, 10), (64, 729, 7)]);
    }

    #[test]
    fn room_buys_runs() {
        let chosen = |bytes| SegmentPlan::within(bytes, 8, None).map(|plan| (plan.segments, plan.levels));
        assert_eq!(chosen(66 * 8), Some((64, 1)));
        assert_eq!(chosen(66 * 8 - 1), Some((8, 2)));
        assert_eq!(chosen(12 * 8), Some((4, 3)));
        assert_eq!(chosen(SegmentPlan::least_room(8)), Some((2, 6)));
        assert_eq!(chosen(SegmentPlan::least_room(8) - 1), None);
    }

    #[test]
    fn plans_that_cannot_be() {
        assert_eq!(SegmentPlan::new(1, 1, None), Err(Unplanned::TooFew));
        assert_eq!(SegmentPlan::new(2, 0, None), Err(Unplanned::TooFew));
        assert_eq!(SegmentPlan::new(2, 1, Some(0)), Err(Unplanned::TooFew));
        assert_eq!(SegmentPlan::new(1000, 100, None), Err(Unplanned::TooMany));
    }
}
