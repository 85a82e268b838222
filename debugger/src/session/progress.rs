//! Where a long run is, for those who wait for it on another thread. Approximate: it is told every few
//! milliseconds.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use super::Session;

/// What a session tells while it travels.
#[derive(Debug, Default)]
pub struct Progress {
    step: AtomicI64,
    history_bytes: AtomicUsize,
}

/// So many steps, as a power of two, are passed until the next word.
const SILENCE: u32 = 12;

impl Progress {
    /// The step of the timeline.
    pub fn step(&self) -> i64 {
        self.step.load(Ordering::Relaxed)
    }

    /// Memory that residues take.
    pub fn history_bytes(&self) -> usize {
        self.history_bytes.load(Ordering::Relaxed)
    }
}

impl Session {
    /// Tells that a run is at a step. Whether it may go on: false if somebody has set the interrupt flag,
    /// which this clears.
    pub(super) fn goes_on(&self, step: i64) -> bool {
        self.tell(step);
        !self.interrupt.swap(false, Ordering::Relaxed)
    }

    /// Tells that a run is at a step, if it has been silent for long.
    pub(super) fn tell(&self, step: i64) {
        if (step ^ self.progress.step()) >> SILENCE != 0 {
            self.progress.step.store(step, Ordering::Relaxed);
            self.progress.history_bytes.store(self.timeline.history_bytes(), Ordering::Relaxed);
        }
    }
}
