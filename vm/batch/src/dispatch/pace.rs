//! Chooses the number of iterations and dispatches of a submission, so that a device finishes about ten submissions a
//! second. This module is independent of devices.

use std::time::Duration;

use crate::shader::KernelKind;

/// Maximum target for the time of one submission. Longer submissions would delay interrupts, and might trigger the
/// driver's watchdog.
const LONG: Duration = Duration::from_millis(100);
/// Minimum target for the time of one submission. If a submission takes less time, the next submission contains more
/// work.
const SHORT: Duration = Duration::from_millis(20);
/// Maximum number of iterations of a lane in its first dispatch, when the length of the lane's run is unknown.
const ITERATIONS_AT_FIRST: u32 = 256;
/// Maximum factor by which the number of iterations grows from one non-resumable dispatch to the next. The next
/// dispatch repeats the work of the previous one.
const MOST_GROWTH: u32 = 16;
/// Maximum number of dispatches of one submission. More dispatches save no measurable time.
const MOST_DISPATCHES: u32 = 64;

/// The size of the next submission, adapted to the times of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// Maximum number of iterations of each lane in each dispatch of the resumable kernel.
    pub iterations: u32,
    /// Number of dispatches in a submission; the CPU waits for all of them at once.
    pub dispatches: u32,
    /// True if all lanes of the previous block ended in its first submission.
    pub ends_at_once: bool,
    most_iterations: u32,
    /// The number of lanes in the batches from which this pace was learned.
    lanes: usize,
    /// Maximum number of iterations of each lane in a block's first dispatch, by the non-resumable kernel; `None` if
    /// blocks begin with the resumable kernel.
    single: Option<u32>,
    has_non_resumable: bool,
}

impl Pace {
    /// Returns the initial pace. `most_iterations` bounds the iterations of a lane in one dispatch. `has_non_resumable`
    /// is true if the shader has a non-resumable kernel.
    pub fn new(most_iterations: u32, has_non_resumable: bool) -> Self {
        let iterations = ITERATIONS_AT_FIRST.min(most_iterations);
        let single = Self::most_non_resumable(most_iterations)
            .filter(|_| has_non_resumable)
            .map(|most| iterations.min(most));
        Self {
            iterations,
            dispatches: 1,
            ends_at_once: true,
            most_iterations,
            lanes: 0,
            single,
            has_non_resumable,
        }
    }

    /// Returns the maximum number of iterations with the non-resumable kernel; `None` if the maximum is 0. The maximum
    /// is one less than with the resumable kernel, because a lane that exhausts its iterations still executes the code
    /// after its loops.
    fn most_non_resumable(most_iterations: u32) -> Option<u32> {
        most_iterations.checked_sub(1).filter(|&most| most > 0)
    }

    /// Returns the kernel with which a block begins, and the maximum number of iterations of each lane.
    pub fn begin(&self) -> (KernelKind, u32) {
        match self.single {
            Some(iterations) => (KernelKind::NonResumable, iterations),
            None => (KernelKind::Resumable, self.iterations),
        }
    }

    /// Returns the maximum number of iterations for another dispatch of the non-resumable kernel. The previous dispatch
    /// permitted `iterations` iterations, took the time `took`, and left `left` of `lanes` lanes unfinished. Returns
    /// `None` if the remaining lanes should use the resumable kernel, because more iterations aren't possible or would
    /// take too long.
    pub fn begin_again(&mut self, iterations: u32, took: Duration, left: usize, lanes: usize) -> Option<u32> {
        let most = Self::most_non_resumable(self.most_iterations)?;
        let growth = LONG.as_micros() / took.as_micros().max(1);
        let growth = u32::try_from(growth).unwrap_or(MOST_GROWTH).min(MOST_GROWTH);
        if growth >= 2 && iterations < most {
            let more = iterations.saturating_mul(growth).min(most);
            // Another submission in flight may have set an even larger number.
            self.single = self.single.map(|single| single.max(more));
            return Some(more);
        }
        // Repeating the work of short lanes costs little in comparison with the work of long lanes. If most lanes are
        // long, later blocks gain nothing from the non-resumable kernel.
        if left > lanes / 2 {
            self.single = None;
        }
        None
    }

    /// Adapts the pace to a batch of `lanes` lanes. Times that were measured with few lanes don't apply to many lanes.
    pub fn for_lanes(self, lanes: usize) -> Self {
        if lanes > self.lanes.saturating_mul(2) {
            let new = Self::new(self.most_iterations, self.has_non_resumable);
            return Self { lanes, ends_at_once: self.ends_at_once, ..new };
        }
        Self { lanes: lanes.max(self.lanes), dispatches: 1, ..self }
    }

    /// Adapts the pace to a submission that took the time `took` and left lanes unfinished.
    pub fn learn(&mut self, took: Duration) {
        if took < SHORT && self.iterations < self.most_iterations {
            self.iterations = self.iterations.saturating_mul(4).min(self.most_iterations);
        } else if took < SHORT {
            self.dispatches = (self.dispatches * 2).min(MOST_DISPATCHES);
        } else if took > LONG && self.dispatches > 1 {
            self.dispatches /= 2;
        } else if took > LONG {
            self.iterations = (self.iterations / 2).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submissions_grow_if_quick_and_shrink_if_slow() {
        let mut pace = Pace::new(8000, false);
        for _ in 0..20 {
            pace.learn(Duration::from_millis(1));
        }
        assert_eq!((pace.iterations, pace.dispatches), (8000, MOST_DISPATCHES));
        for _ in 0..30 {
            pace.learn(Duration::from_secs(1));
        }
        assert_eq!((pace.iterations, pace.dispatches), (1, 1));
        pace.learn(Duration::from_millis(50));
        assert_eq!((pace.iterations, pace.dispatches), (1, 1));
    }

    #[test]
    fn more_lanes_reset_the_pace() {
        let mut pace = Pace::new(8000, false).for_lanes(100);
        pace.learn(Duration::ZERO);
        assert_eq!(pace.for_lanes(150).iterations, 1024);
        assert_eq!(pace.for_lanes(1000).iterations, ITERATIONS_AT_FIRST);
        assert_eq!(Pace::new(7, false).for_lanes(1).iterations, 7);
    }

    #[test]
    fn the_non_resumable_kernel_is_retried_while_quick() {
        let mut pace = Pace::new(8000, true);
        assert_eq!(pace.begin(), (KernelKind::NonResumable, ITERATIONS_AT_FIRST));
        assert_eq!(pace.begin_again(256, Duration::from_millis(20), 100, 100), Some(1280));
        assert_eq!(pace.begin_again(1280, Duration::ZERO, 100, 100), Some(7999));
        assert_eq!(pace.begin(), (KernelKind::NonResumable, 7999));
        // After a dispatch with fewer iterations, the growth depends on the time that this dispatch took.
        assert_eq!(pace.begin_again(256, Duration::from_millis(20), 100, 100), Some(1280));
        assert_eq!(pace.begin(), (KernelKind::NonResumable, 7999));
        // If at most half of the lanes are longer, later blocks still begin with the non-resumable kernel.
        assert_eq!(pace.begin_again(7999, Duration::ZERO, 50, 100), None);
        assert_eq!(pace.begin(), (KernelKind::NonResumable, 7999));
        assert_eq!(pace.begin_again(7999, Duration::ZERO, 51, 100), None);
        assert_eq!(pace.begin(), (KernelKind::Resumable, ITERATIONS_AT_FIRST));
        assert_eq!(pace.for_lanes(1000).begin(), (KernelKind::NonResumable, ITERATIONS_AT_FIRST));
        let mut slow = Pace::new(8000, true);
        assert_eq!(slow.begin_again(256, Duration::from_millis(60), 1, 100), None);
        assert_eq!(Pace::new(8000, false).begin(), (KernelKind::Resumable, ITERATIONS_AT_FIRST));
        assert_eq!(Pace::new(1, true).begin(), (KernelKind::Resumable, 1));
    }
}
