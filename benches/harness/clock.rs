//! Times: of one piece of work, and the best of many rounds. Knows no machine.

use std::time::{Duration, Instant};

/// How long a piece of work takes.
pub fn time(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The shortest time of each of several parts. They are timed in turns, so that a noisy moment hits
/// all alike.
pub struct Best<const PARTS: usize>([Duration; PARTS]);

impl<const PARTS: usize> Best<PARTS> {
    pub fn none() -> Best<PARTS> {
        Best([Duration::MAX; PARTS])
    }

    /// Takes the times of one round into account.
    pub fn round(&mut self, timings: [Duration; PARTS]) {
        self.0.iter_mut().zip(timings).for_each(|(best, timing)| *best = timing.min(*best));
    }

    pub fn seconds(&self) -> [f64; PARTS] {
        self.0.map(|duration| duration.as_secs_f64())
    }
}
