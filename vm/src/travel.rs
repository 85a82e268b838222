//! Directions of travel, reasons why a run stops, and the numbering of steps. The module reads no instructions.

use reviver_isa::instruction::Class;

/// The user's direction of travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Travel {
    /// From the beginning of the program to its end.
    Forward,
    /// From the end of the program to its beginning, by inverse steps.
    Backward,
}

impl Travel {
    /// Returns the opposite direction.
    pub fn reversed(self) -> Travel {
        match self {
            Travel::Forward => Travel::Backward,
            Travel::Backward => Travel::Forward,
        }
    }

    /// Returns true if a step in this direction over an interval leads toward the start, so that the step restores the
    /// values recorded for the interval.
    pub(crate) fn restores(self, interval: Interval) -> bool {
        (self == Travel::Forward) == (interval.number < 0)
    }

    /// Returns the change of the step number in one step: 1 or -1.
    pub fn sign(self) -> i64 {
        match self {
            Travel::Forward => 1,
            Travel::Backward => -1,
        }
    }
}

/// A direction and a number of steps to run.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The direction of all steps.
    pub travel: Travel,
    /// Maximum number of steps.
    pub budget: u64,
}

/// The reason why a run paused without a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The budget of steps is used up, or the next step is at a breakpoint ([`crate::stops::Stops`]).
    Budget,
    /// The interrupt flag was set ([`crate::Machine::stop_when`]).
    Interrupted,
    /// The run reached the end of the program in this direction.
    Bound,
    /// A `show` was executed for the first time.
    Shown {
        /// The index of the `show` instruction.
        at: u32,
        /// The class of the shown value.
        class: Class,
        /// The value as bits; for an integer, its two's complement.
        bits: u64,
    },
}

/// The track that a step is numbered on. Derivative rules run in gradient mode only, so their steps are numbered
/// separately. Therefore all other steps have the same numbers with the mode on and off, and the reverse sweep finds
/// the records of the forward sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Track {
    /// The steps outside of derivative rules, numbered by [`crate::State::own_steps`].
    Program,
    /// The steps of derivative rules, numbered by [`crate::State::rule_steps`].
    Rules,
}

/// The interval that a step crosses, between two step numbers of a track. Interval n is between n and n + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The track whose steps are numbered.
    pub track: Track,
    /// The smaller of the two step numbers; negative before the start.
    pub number: i64,
}

/// The data for numbering the intervals of a run segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub travel: Travel,
    /// Maximum number of steps of the segment.
    pub budget: u64,
    pub track: Track,
    /// The step number on the track before the first step.
    pub start: i64,
}

impl Clock {
    /// Returns the interval of the next step, with `left` steps left in the budget.
    pub fn interval(self, left: u64) -> Interval {
        let passed = (self.budget - left) as i64;
        let number = self.start + if self.travel == Travel::Forward { passed } else { -passed - 1 };
        Interval { track: self.track, number }
    }
}
