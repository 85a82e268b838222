//! Strategies for going back over steps that lose bits: each strategy keeps some data and recomputes the rest. With
//! every strategy, the backward run passes through the same states bit for bit. Strategies differ in memory and in the
//! number of steps.
//!
//! | strategy | kept data | repeated steps |
//! |---|---|---|
//! | [`Strategy::Reverse`] | losses of steps | none |
//! | [`Strategy::Tape`] | all changes of steps | none |
//! | [`Strategy::Checkpoint`] | snapshots, and the losses within one leaf | each a few times |
//! | [`Strategy::Auto`] | losses of steps; if they exceed the memory, snapshots | none, or as `checkpoint` |
//!
//! If no step loses anything, only the tape keeps data. A [`CheckpointedRun`] executes a strategy. A snapshot can be
//! taken at any step, even inside of calls, because a state is a plain value. To add a strategy, extend three places:
//! [`Strategy`] with its name, the kept data in [`checkpointed_run`], and the table above.

mod bounds;
pub mod checkpointed_run;
mod checkpoints;
mod halt;
mod lossless;
mod lossless_segments;
mod online;
pub mod saved;
pub mod schedule;
mod snapshots;
mod spaced;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::state::values::plural;

pub use bounds::{Bounds, MEMORY};
pub use checkpointed_run::CheckpointedRun;
pub use checkpoints::{CheckpointBounds, Checkpoints, state_bytes};
pub use halt::RunHalt;
pub use lossless::{discards_information, has_reals, loses_nothing};
pub use saved::SavedRun;
pub use schedule::Plan;
pub use spaced::Spaced;

/// A strategy for going back over a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// Executes inverse steps, with a history of the bits that inverse steps can't restore.
    Reverse,
    /// Restores the changes of each step from a full tape.
    Tape,
    /// Repeats steps from snapshots.
    Checkpoint {
        /// Maximum number of snapshots, including the initial state; `None` for a default that depends on the memory
        /// bound.
        slots: Option<u32>,
        /// Number of steps that are undone at a time; `None` for a default of a few thousand.
        leaf: Option<u64>,
    },
    /// Uses `Reverse` while its history fits into the memory, and `Checkpoint` after that.
    Auto,
}

impl Strategy {
    /// All strategies, with default parameters.
    pub const ALL: [Strategy; 4] =
        [Strategy::Reverse, Strategy::Tape, Strategy::Checkpoint { slots: None, leaf: None }, Strategy::Auto];

    /// Returns the name of the strategy.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Reverse => "reverse",
            Strategy::Tape => "tape",
            Strategy::Checkpoint { .. } => "checkpoint",
            Strategy::Auto => "auto",
        }
    }

    /// Parses a strategy: a name, or `checkpoint=SLOTS` or `checkpoint=SLOTS:LEAF`, where `LEAF` is a number
    /// of steps.
    ///
    /// # Errors
    /// Returns a message that says what is wrong.
    pub fn parse(text: &str) -> Result<Strategy, String> {
        let (name, bounds) = text.split_once('=').map_or((text, None), |(name, bounds)| (name, Some(bounds)));
        let found = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name.trim());
        match (found, bounds) {
            (Some(Strategy::Checkpoint { .. }), Some(bounds)) => {
                let (slots, leaf) =
                    bounds.split_once(':').map_or((bounds, None), |(slots, leaf)| (slots, Some(leaf)));
                let slots = Some(positive(slots, "a number of slots")?);
                let leaf = leaf.map(|leaf| positive(leaf, "a number of steps")).transpose()?;
                Ok(Strategy::Checkpoint { slots, leaf })
            }
            (Some(strategy), None) => Ok(strategy),
            (Some(strategy), Some(_)) => Err(format!("the strategy `{}` takes no number", strategy.name())),
            (None, _) => {
                Err("the strategies are reverse, tape, checkpoint, checkpoint=SLOTS and auto".into())
            }
        }
    }
}

fn positive<N: std::str::FromStr + PartialOrd + From<u8>>(text: &str, what: &str) -> Result<N, String> {
    let number = text.trim().parse().ok().filter(|number| *number >= N::from(1));
    number.ok_or_else(|| format!("`{text}` is not {what} of at least 1"))
}

/// A strategy with its memory bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// The requested strategy, which may leave the number of slots open.
    pub strategy: Strategy,
    /// Maximum memory for going back, in bytes. If it is `None` and the strategy needs a bound, [`MEMORY`] applies.
    pub memory: Option<u64>,
}

impl Retention {
    /// A history of all losses, without a memory bound.
    pub const RESIDUES: Retention = Retention { strategy: Strategy::Reverse, memory: None };
}

/// The cost of a run forward and backward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCost {
    /// Number of executed steps: forward, backward and repeated.
    pub steps: u64,
    /// Number of repeated steps, which `steps` includes.
    pub again: u64,
    /// Number of snapshots that were taken, including unused ones.
    pub checkpoints: u64,
    /// Peak memory for going back, in bytes.
    pub peak_bytes: u64,
    /// Number of returns to a snapshot. Each return replaces the state, so the bits of the replaced state are lost.
    pub returns: u64,
    /// Number of bits that repeated steps have lost again.
    pub lost_again: u64,
}

impl RunCost {
    /// Adds the cost of another run. The peak memory is the larger of the two.
    #[must_use]
    pub fn and(self, other: RunCost) -> RunCost {
        RunCost {
            steps: self.steps + other.steps,
            again: self.again + other.again,
            checkpoints: self.checkpoints + other.checkpoints,
            peak_bytes: self.peak_bytes.max(other.peak_bytes),
            returns: self.returns + other.returns,
            lost_again: self.lost_again + other.lost_again,
        }
    }
}

/// The strategy that was used, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedStrategy {
    /// The strategy, with the slots and the leaf length that were used.
    pub strategy: Strategy,
    /// The reason for the choice.
    pub why: StrategyReason,
}

/// The reason why a strategy was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyReason {
    /// The strategy was requested.
    Asked,
    /// No step of the program loses anything.
    NothingIsLost,
    /// The history of lost values fits into the memory bound.
    Fits {
        /// The peak memory for going back, in bytes.
        bytes: u64,
        /// The memory bound, in bytes.
        memory: u64,
    },
    /// The history of lost values may exceed the memory bound.
    Exceeds {
        /// The step at which the full history was dropped.
        step: i64,
        /// The memory bound, in bytes.
        memory: u64,
    },
}

impl fmt::Display for UsedStrategy {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let s = |count: u64| plural(count, "", "s");
        f.write_str(self.strategy.name())?;
        if let Strategy::Checkpoint { slots: Some(slots), leaf: Some(leaf) } = self.strategy {
            write!(f, " with {slots} slot{} and leaves of {leaf} step{}", s(slots.into()), s(leaf))?;
        }
        match self.why {
            StrategyReason::Asked => Ok(()),
            StrategyReason::NothingIsLost => {
                f.write_str(", which keeps nothing in this run: no step loses anything")
            }
            StrategyReason::Fits { bytes, memory } => {
                write!(f, ": its history takes at most {bytes} byte{}, and {memory} are allowed", s(bytes))
            }
            StrategyReason::Exceeds { step, memory } => {
                write!(f, ": from step {step} on, a history might take more than {memory} byte{}", s(memory))
            }
        }
    }
}

impl StrategyReason {
    /// Returns a short name of the reason for machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            StrategyReason::Asked => "asked",
            StrategyReason::NothingIsLost => "nothing-is-lost",
            StrategyReason::Fits { .. } => "fits",
            StrategyReason::Exceeds { .. } => "exceeds",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        for strategy in Strategy::ALL {
            assert_eq!(Strategy::parse(strategy.name()), Ok(strategy));
        }
        let checkpoint = |slots, leaf| Ok(Strategy::Checkpoint { slots, leaf });
        assert_eq!(Strategy::parse("checkpoint=30"), checkpoint(Some(30), None));
        assert_eq!(Strategy::parse("checkpoint=3:1"), checkpoint(Some(3), Some(1)));
        for wrong in
            ["", "checkpoint=", "checkpoint=0", "checkpoint=3:0", "checkpoint=-1", "tape=3", "bennett"]
        {
            assert!(Strategy::parse(wrong).is_err(), "{wrong}");
        }
    }
}
