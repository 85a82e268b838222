//! How many rounds and dispatches are asked for at once, so that a device answers about ten times a second. Knows no device.

use std::time::Duration;

/// Watchdogs of drivers and whoever interrupts wait for one submission.
const LONG: Duration = Duration::from_millis(100);
/// Below this, more can be asked for.
const SHORT: Duration = Duration::from_millis(20);
/// Rounds of a lane in its first dispatch, when nothing is known of it.
const ROUNDS_AT_FIRST: u32 = 256;
/// Dispatches of one submission. More wouldn't save any time that can be measured.
const MOST_DISPATCHES: u32 = 64;

/// What is asked for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// Rounds of each lane in each dispatch.
    pub rounds: u32,
    /// Dispatches before the device is waited for.
    pub dispatches: u32,
    /// Whether all lanes ended in the first submission, last time.
    pub ends_at_once: bool,
    most_rounds: u32,
    /// The lanes that this was found for.
    lanes: usize,
}

impl Pace {
    /// At the beginning; no lane can make more than `most_rounds` in one dispatch.
    pub fn new(most_rounds: u32) -> Self {
        let rounds = ROUNDS_AT_FIRST.min(most_rounds);
        Self { rounds, dispatches: 1, ends_at_once: true, most_rounds, lanes: 0 }
    }

    /// For a batch of so many lanes. What was found for fewer doesn't hold for many.
    pub fn for_lanes(self, lanes: usize) -> Self {
        if lanes > self.lanes.saturating_mul(2) {
            return Self { lanes, ends_at_once: self.ends_at_once, ..Self::new(self.most_rounds) };
        }
        Self { lanes: lanes.max(self.lanes), dispatches: 1, ..self }
    }

    /// Learns how long a submission took behind which lanes were under way still.
    pub fn learn(&mut self, took: Duration) {
        if took < SHORT && self.rounds < self.most_rounds {
            self.rounds = self.rounds.saturating_mul(4).min(self.most_rounds);
        } else if took < SHORT {
            self.dispatches = (self.dispatches * 2).min(MOST_DISPATCHES);
        } else if took > LONG && self.dispatches > 1 {
            self.dispatches /= 2;
        } else if took > LONG {
            self.rounds = (self.rounds / 2).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_submissions_grow_and_slow_ones_shrink() {
        let mut pace = Pace::new(8000);
        for _ in 0..20 {
            pace.learn(Duration::from_millis(1));
        }
        assert_eq!((pace.rounds, pace.dispatches), (8000, MOST_DISPATCHES));
        for _ in 0..30 {
            pace.learn(Duration::from_secs(1));
        }
        assert_eq!((pace.rounds, pace.dispatches), (1, 1));
        pace.learn(Duration::from_millis(50));
        assert_eq!((pace.rounds, pace.dispatches), (1, 1));
    }

    #[test]
    fn more_lanes_begin_anew() {
        let mut pace = Pace::new(8000).for_lanes(100);
        pace.learn(Duration::ZERO);
        assert_eq!(pace.for_lanes(150).rounds, 1024);
        assert_eq!(pace.for_lanes(1000).rounds, ROUNDS_AT_FIRST);
        assert_eq!(Pace::new(7).for_lanes(1).rounds, 7);
    }
}
