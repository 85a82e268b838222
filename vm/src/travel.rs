//! Directions of travel, why a run stops, and how steps are numbered. Knows no instruction.

use reviver_isa::instruction::Class;

/// The user's direction of travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Travel {
    Forward,
    Backward,
}

impl Travel {
    /// The opposite direction.
    pub fn reversed(self) -> Travel {
        match self {
            Travel::Forward => Travel::Backward,
            Travel::Backward => Travel::Forward,
        }
    }

    /// Whether a step in this direction over an interval leads back toward the start, so that it restores
    /// what was recorded there.
    pub(crate) fn restores(self, interval: Interval) -> bool {
        (self == Travel::Forward) == (interval.number < 0)
    }

    /// How a step changes the step number.
    pub fn sign(self) -> i64 {
        match self {
            Travel::Forward => 1,
            Travel::Backward => -1,
        }
    }
}

/// A stretch that is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Leg {
    pub travel: Travel,
    /// The most steps.
    pub budget: u64,
}

/// Why a run paused without a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The budget of steps is used up, or the next step is at a place to stop at
    /// ([`crate::stops::Stops`]).
    Budget,
    /// Somebody has asked the machine to stop ([`crate::Machine::stop_when`]).
    Interrupted,
    /// There is nothing further in the direction of travel: history end, or history begin.
    Bound,
    /// A `show` was passed for the first time: the instruction's index and the value.
    Shown { at: u32, class: Class, bits: u64 },
}

/// Whose steps are counted. A procedure's rule runs in gradient mode only, so its steps are counted apart:
/// the others have the same numbers with the mode on and off, and find what was recorded about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Track {
    Program,
    Rules,
}

/// What a step crosses: the gap between two numbers of a track. Number n lies between n and n + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub track: Track,
    pub number: i64,
}

/// Where a stretch of a run began: what it takes to number the intervals that it crosses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub travel: Travel,
    /// Steps that might be made.
    pub budget: u64,
    pub track: Track,
    /// The number on the track before the first step.
    pub start: i64,
}

impl Clock {
    /// The interval that the next step crosses.
    pub fn interval(self, left: u64) -> Interval {
        let passed = (self.budget - left) as i64;
        let number = self.start + if self.travel == Travel::Forward { passed } else { -passed - 1 };
        Interval { track: self.track, number }
    }
}
