//! How many rounds and dispatches are asked for at once, so that a device answers about ten times a second. Knows no device.

use std::time::Duration;

use crate::shader::ShaderPass;

/// Watchdogs of drivers and whoever interrupts wait for one submission.
const LONG: Duration = Duration::from_millis(100);
/// Below this, more can be asked for.
const SHORT: Duration = Duration::from_millis(20);
/// Rounds of a lane in its first dispatch, when nothing is known of it.
const ROUNDS_AT_FIRST: u32 = 256;
/// At most so many times as many rounds are tried next in a single pass: what the last one did is done anew.
const MOST_GROWTH: u32 = 16;
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
    /// Rounds of each lane in a single pass. None where blocks begin with lanes that can be kept.
    single: Option<u32>,
    has_single: bool,
}

impl Pace {
    /// At the beginning; no lane can make more than `most_rounds` in one dispatch, and `has_single` is whether the shader has a text for a single pass.
    pub fn new(most_rounds: u32, has_single: bool) -> Self {
        let rounds = ROUNDS_AT_FIRST.min(most_rounds);
        let single = Self::most_of_single(most_rounds).filter(|_| has_single).map(|most| rounds.min(most));
        Self { rounds, dispatches: 1, ends_at_once: true, most_rounds, lanes: 0, single, has_single }
    }

    /// The most rounds in a single pass, in which a lane that has made them goes through what follows all the same: a round fewer than where it is kept.
    fn most_of_single(most_rounds: u32) -> Option<u32> {
        most_rounds.checked_sub(1).filter(|&most| most > 0)
    }

    /// How a block begins: the rounds of each lane in the first dispatch of a pass.
    pub fn begin(&self) -> (ShaderPass, u32) {
        match self.single {
            Some(rounds) => (ShaderPass::Single, rounds),
            None => (ShaderPass::Resumable, self.rounds),
        }
    }

    /// The rounds of another single pass behind one of so many that took so long and didn't do for `left` of `lanes`. None where lanes had better be kept:
    /// there are no more, or they would take too long.
    pub fn begin_again(&mut self, rounds: u32, took: Duration, left: usize, lanes: usize) -> Option<u32> {
        let most = Self::most_of_single(self.most_rounds)?;
        let growth = LONG.as_micros() / took.as_micros().max(1);
        let growth = u32::try_from(growth).unwrap_or(MOST_GROWTH).min(MOST_GROWTH);
        if growth >= 2 && rounds < most {
            let more = rounds.saturating_mul(growth).min(most);
            // Another block may have come to even more.
            self.single = self.single.map(|single| single.max(more));
            return Some(more);
        }
        // What lanes do in vain is little beside what long ones do. Where most of them are long, nothing is gained for the others.
        if left > lanes / 2 {
            self.single = None;
        }
        None
    }

    /// For a batch of so many lanes. What was found for fewer doesn't hold for many.
    pub fn for_lanes(self, lanes: usize) -> Self {
        if lanes > self.lanes.saturating_mul(2) {
            let new = Self::new(self.most_rounds, self.has_single);
            return Self { lanes, ends_at_once: self.ends_at_once, ..new };
        }
        Self { lanes: lanes.max(self.lanes), dispatches: 1, ..self }
    }

    /// Learns how long a submission took that left lanes behind.
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
        let mut pace = Pace::new(8000, false);
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
        let mut pace = Pace::new(8000, false).for_lanes(100);
        pace.learn(Duration::ZERO);
        assert_eq!(pace.for_lanes(150).rounds, 1024);
        assert_eq!(pace.for_lanes(1000).rounds, ROUNDS_AT_FIRST);
        assert_eq!(Pace::new(7, false).for_lanes(1).rounds, 7);
    }

    #[test]
    fn a_single_pass_is_tried_again_while_that_is_quick() {
        let mut pace = Pace::new(8000, true);
        assert_eq!(pace.begin(), (ShaderPass::Single, ROUNDS_AT_FIRST));
        assert_eq!(pace.begin_again(256, Duration::from_millis(20), 100, 100), Some(1280));
        assert_eq!(pace.begin_again(1280, Duration::ZERO, 100, 100), Some(7999));
        assert_eq!(pace.begin(), (ShaderPass::Single, 7999));
        // One that was begun with fewer goes by what it took itself.
        assert_eq!(pace.begin_again(256, Duration::from_millis(20), 100, 100), Some(1280));
        assert_eq!(pace.begin(), (ShaderPass::Single, 7999));
        // A few lanes that are longer don't keep the others from it.
        assert_eq!(pace.begin_again(7999, Duration::ZERO, 50, 100), None);
        assert_eq!(pace.begin(), (ShaderPass::Single, 7999));
        assert_eq!(pace.begin_again(7999, Duration::ZERO, 51, 100), None);
        assert_eq!(pace.begin(), (ShaderPass::Resumable, ROUNDS_AT_FIRST));
        assert_eq!(pace.for_lanes(1000).begin(), (ShaderPass::Single, ROUNDS_AT_FIRST));
        let mut slow = Pace::new(8000, true);
        assert_eq!(slow.begin_again(256, Duration::from_millis(60), 1, 100), None);
        assert_eq!(Pace::new(8000, false).begin(), (ShaderPass::Resumable, ROUNDS_AT_FIRST));
        assert_eq!(Pace::new(1, true).begin(), (ShaderPass::Resumable, 1));
    }
}
