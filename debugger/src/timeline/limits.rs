//! What a timeline may keep to go back, as a strategy asks for it. Keeps nothing itself.

use reviver_vm::history::Residues;
use reviver_vm::strategy::{CheckpointBounds, Retention, Strategy};

/// What going back may cost in programs that lose bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineLimits {
    /// Memory that the residues of a branch's window may take, in bytes.
    pub history: usize,
    /// Memory that the checkpoints on each side of a branch's origin may take, in bytes; there are always
    /// a few.
    pub checkpoints: usize,
    /// How many checkpoints there are on each side at most.
    pub most: usize,
    /// Steps between checkpoints at first.
    pub spacing: u64,
    /// A run of at most so many steps keeps its window; a longer one gives it up, because running without
    /// a history is faster.
    pub short: u64,
    /// Whether residues are kept from the origin on.
    pub whole: bool,
    /// Whether they are of all that steps change, and not only of what steps lose.
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

/// Checkpoints that are kept at least, whatever their size.
const LEAST: usize = 4;

impl TimelineLimits {
    /// What a strategy asks for. Half of the memory is for checkpoints, on both sides together.
    pub fn of(retention: Retention) -> TimelineLimits {
        let defaults = TimelineLimits::default();
        let part = |memory: u64, part: u64| usize::try_from(memory / part).unwrap_or(usize::MAX);
        let checkpoints = retention.memory.map_or(defaults.checkpoints, |memory| part(memory, 4));
        let history = retention.memory.map_or(defaults.history, |memory| part(memory, 2));
        match retention.strategy {
            Strategy::Auto => TimelineLimits { history, checkpoints, ..defaults },
            Strategy::Checkpoint { slots, leaf } => {
                // The origin is kept besides.
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

    /// Where nothing is recorded yet.
    pub(super) fn residues(self) -> Residues {
        if self.taped { Residues::taping() } else { Residues::default() }
    }

    pub(super) fn checkpoint_bounds(self) -> CheckpointBounds {
        CheckpointBounds { bytes: self.checkpoints, least: LEAST.min(self.most), most: self.most }
    }
}
