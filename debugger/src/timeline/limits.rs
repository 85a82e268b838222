//! Limits on the memory that a timeline uses to go back, derived from a strategy.

use reviver_vm::history::Residues;
use reviver_vm::strategy::{CheckpointBounds, Retention, Strategy};

/// Limits on the cost of going back in programs that lose bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineLimits {
    /// Memory for the residues of a branch's window, in bytes.
    pub history: usize,
    /// Memory for the checkpoints on each side of a branch's origin, in bytes. Regardless of this limit, a
    /// few checkpoints are kept.
    pub checkpoints: usize,
    /// Maximum number of checkpoints on each side.
    pub most: usize,
    /// Initial number of steps between checkpoints.
    pub spacing: u64,
    /// Maximum length, in steps, of a run that keeps the window. A longer run drops the window, because running
    /// without a history is faster.
    pub short: u64,
    /// True if each branch records residues from its origin on, instead of only in windows.
    pub whole: bool,
    /// True if residues record every value that a step changes (a tape). False if residues record only the bits
    /// that a step loses.
    pub taped: bool,
}

impl Default for TimelineLimits {
    fn default() -> Self {
        TimelineLimits {
            history: 64 << 20,
            checkpoints: 256 << 20,
            most: 128,
            spacing: 1 << 18,
            short: 1 << 12,
            whole: false,
            taped: false,
        }
    }
}

/// Number of checkpoints that are kept even if they exceed the memory limit.
const LEAST: usize = 4;

impl TimelineLimits {
    /// Returns the limits for a strategy. Half of the strategy's memory is for checkpoints, on both sides together,
    /// and the other half is for residues.
    pub fn of(retention: Retention) -> TimelineLimits {
        let defaults = TimelineLimits::default();
        let part = |memory: u64, part: u64| usize::try_from(memory / part).unwrap_or(usize::MAX);
        let checkpoints = retention.memory.map_or(defaults.checkpoints, |memory| part(memory, 4));
        let history = retention.memory.map_or(defaults.history, |memory| part(memory, 2));
        match retention.strategy {
            Strategy::Auto => TimelineLimits { history, checkpoints, ..defaults },
            Strategy::Checkpoint { slots, leaf } => {
                // The origin is kept too, so one slot fewer is available for checkpoints.
                let most = slots.map_or(defaults.most, |slots| slots.saturating_sub(1) as usize);
                let spacing = leaf.unwrap_or(defaults.spacing);
                TimelineLimits { history, checkpoints, most, spacing, ..defaults }
            }
            Strategy::Reverse | Strategy::Tape => {
                let history = retention.memory.map_or(usize::MAX, |memory| part(memory, 1));
                let taped = retention.strategy == Strategy::Tape;
                TimelineLimits { history, short: u64::MAX, whole: true, taped, ..defaults }
            }
        }
    }

    /// Returns an empty record of residues, of the kind that `taped` selects.
    pub(super) fn residues(self) -> Residues {
        if self.taped { Residues::taping() } else { Residues::default() }
    }

    pub(super) fn checkpoint_bounds(self) -> CheckpointBounds {
        CheckpointBounds { bytes: self.checkpoints, least: LEAST.min(self.most), most: self.most }
    }
}
