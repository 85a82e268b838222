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

    /// Whether a step in this direction over an interval between two steps leads back toward step 0,
    /// so that it restores what was recorded there.
    pub(crate) fn restores(self, interval: i64) -> bool {
        (self == Travel::Forward) == (interval < 0)
    }

    /// How a step changes the step number.
    pub fn sign(self) -> i64 {
        match self {
            Travel::Forward => 1,
            Travel::Backward => -1,
        }
    }
}

/// Why a run paused without a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The budget of steps is used up.
    Budget,
    /// There is nothing further in the direction of travel: history end, or history begin.
    Bound,
    /// A `show` was passed for the first time: the instruction's index and the value.
    Shown { at: u32, class: Class, bits: u64 },
}

/// Where a run began: what it takes to number the intervals that it crosses.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    pub travel: Travel,
    /// Steps that might be made.
    pub budget: u64,
    /// The number of the step before the first.
    pub step: i64,
}

impl Clock {
    /// The number of the interval between two steps that the next step crosses.
    pub fn interval(self, left: u64) -> i64 {
        let passed = (self.budget - left) as i64;
        self.step + if self.travel == Travel::Forward { passed } else { -passed - 1 }
    }
}
