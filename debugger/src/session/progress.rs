//! Progress of a long run, for a thread that waits for the end of the run. The values are approximate: they are
//! updated every few milliseconds.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use super::Session;

/// Progress data that a session publishes while it travels.
#[derive(Debug, Default)]
pub struct Progress {
    step: AtomicI64,
    history_bytes: AtomicUsize,
}

/// Binary logarithm of the length, in steps, of the blocks into which the timeline is divided. Progress is
/// published when a run enters another block.
const SILENCE: u32 = 12;

impl Progress {
    /// Returns the last published step of the timeline.
    pub fn step(&self) -> i64 {
        self.step.load(Ordering::Relaxed)
    }

    /// Returns the memory used by residues, in bytes.
    pub fn history_bytes(&self) -> usize {
        self.history_bytes.load(Ordering::Relaxed)
    }
}

impl Session {
    /// Publishes the step of a run. If the interrupt flag is set, clears the flag and returns false: the run must
    /// stop. Otherwise returns true.
    pub(super) fn may_continue(&self, step: i64) -> bool {
        self.tell(step);
        !self.interrupt.swap(false, Ordering::Relaxed)
    }

    /// Publishes the step of a run and the memory in use, unless the last published step is in the same
    /// block.
    pub(super) fn tell(&self, step: i64) {
        if (step ^ self.progress.step()) >> SILENCE != 0 {
            self.progress.step.store(step, Ordering::Relaxed);
            self.progress.history_bytes.store(self.timeline.history_bytes(), Ordering::Relaxed);
        }
    }
}
