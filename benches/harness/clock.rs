//! Timing of one piece of work, and of several parts that are measured in rounds. The shortest time of each part
//! counts. This module depends on no machine.

use std::time::{Duration, Instant};

/// Returns the duration of a piece of work.
pub fn time(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Shortest time of each of several parts. Each round measures every part once, so disturbances affect all parts alike.
pub struct Best<const PARTS: usize>([Duration; PARTS]);

impl<const PARTS: usize> Best<PARTS> {
    pub fn none() -> Best<PARTS> {
        Best([Duration::MAX; PARTS])
    }

    /// Records the times of one round.
    pub fn round(&mut self, timings: [Duration; PARTS]) {
        self.0.iter_mut().zip(timings).for_each(|(best, timing)| *best = timing.min(*best));
    }

    pub fn seconds(&self) -> [f64; PARTS] {
        self.0.map(|duration| duration.as_secs_f64())
    }
}
