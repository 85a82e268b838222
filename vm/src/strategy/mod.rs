//! Strategies: what is kept so that a way can be gone back over that loses bits, and what is made again instead. All of
//! them lead back through the same states, to the last bit; they differ in memory and in steps.
//!
//! | strategy | what it keeps | steps made again |
//! |---|---|---|
//! | [`Strategy::Reverse`] | what steps lose | none |
//! | [`Strategy::Tape`] | what steps change | none |
//! | [`Strategy::Checkpoint`] | states at some steps, and what the steps of one leaf lose | a few times each |
//! | [`Strategy::Auto`] | what steps lose, and once that is too much, states | none, or as `checkpoint` |
//!
//! Where no step loses anything none of them keeps anything, but for the tape. A [`Course`] carries a strategy out; a state may be kept at any step, also inside
//! of calls, because it is a plain value. To add a strategy: a row of [`Strategy`] with its name, what it keeps in
//! [`course`], and its line above.

mod bounds;
mod checkpoints;
pub mod course;
mod halt;
mod lossless;
mod online;
mod quiet;
pub mod saved;
pub mod schedule;
mod spaced;
mod stretches;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::state::values::plural;

pub use bounds::{Bounds, MEMORY};
pub use checkpoints::{CheckpointBounds, Checkpoints, state_bytes};
pub use course::Course;
pub use halt::CourseHalt;
pub use lossless::{discards_information, has_reals, loses_nothing};
pub use saved::SavedCourse;
pub use schedule::Plan;
pub use spaced::Spaced;

/// How a way is gone back over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// By inverse steps, and with what those can't find again.
    Reverse,
    /// With what each step has changed.
    Tape,
    /// From kept states, between which steps are made again.
    Checkpoint {
        /// How many states are kept at most, that of the start included. None: as many as serve, or as fit into the memory.
        slots: Option<u32>,
        /// Steps that are gone back over at a time. None: a few thousand.
        leaf: Option<u64>,
    },
    /// By inverse steps as long as the memory lasts, else from kept states.
    Auto,
}

impl Strategy {
    /// Each of them, as its name alone asks for it.
    pub const ALL: [Strategy; 4] =
        [Strategy::Reverse, Strategy::Tape, Strategy::Checkpoint { slots: None, leaf: None }, Strategy::Auto];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Reverse => "reverse",
            Strategy::Tape => "tape",
            Strategy::Checkpoint { .. } => "checkpoint",
            Strategy::Auto => "auto",
        }
    }

    /// What a text asks for: a name, and behind `checkpoint=` the slots and, after a colon, the steps of a leaf.
    ///
    /// # Errors
    /// What is wrong with it.
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
            (Some(strategy), Some(_)) => Err(format!("`{}` takes no number", strategy.name())),
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

/// A strategy and its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    pub strategy: Strategy,
    /// Memory that may be taken to go back, in bytes; [`MEMORY`] of what somebody hasn't bounded but must be.
    pub memory: Option<u64>,
}

impl Retention {
    /// What steps lose, of any size.
    pub const RESIDUES: Retention = Retention { strategy: Strategy::Reverse, memory: None };
}

/// What a way there and back has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CourseCost {
    /// Steps that were made: there, back, and again.
    pub steps: u64,
    /// Those of them that were made again.
    pub again: u64,
    /// States that were kept, whether they served or not.
    pub checkpoints: u64,
    /// The most memory that was taken to go back, in bytes.
    pub peak_bytes: u64,
    /// How often a kept state was gone back to, which replaced what there was.
    pub returns: u64,
    /// Bits that steps have lost once more which were made again.
    pub lost_again: u64,
}

impl CourseCost {
    /// That of another way besides. Memory is that of the greedier one.
    #[must_use]
    pub fn and(self, other: CourseCost) -> CourseCost {
        CourseCost {
            steps: self.steps + other.steps,
            again: self.again + other.again,
            checkpoints: self.checkpoints + other.checkpoints,
            peak_bytes: self.peak_bytes.max(other.peak_bytes),
            returns: self.returns + other.returns,
            lost_again: self.lost_again + other.lost_again,
        }
    }
}

/// Which strategy was taken, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// With the slots and the leaf that it took.
    pub strategy: Strategy,
    pub why: Why,
}

/// Why a strategy was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Somebody has asked for it.
    Asked,
    /// No step of the program loses anything.
    NothingIsLost,
    /// What steps lost took no more than it may.
    Fits { bytes: u64, memory: u64 },
    /// What steps lose takes more than it may, from a step on.
    Exceeds { step: i64, memory: u64 },
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let s = |count: u64| plural(count, "", "s");
        f.write_str(self.strategy.name())?;
        if let Strategy::Checkpoint { slots: Some(slots), leaf: Some(leaf) } = self.strategy {
            write!(f, " with {slots} slot{} and leaves of {leaf} step{}", s(slots.into()), s(leaf))?;
        }
        match self.why {
            Why::Asked => Ok(()),
            Why::NothingIsLost => f.write_str(", which keeps nothing here: no step loses anything"),
            Why::Fits { bytes, memory } => {
                write!(f, ": what it keeps takes {bytes} byte{} at most, of {memory}", s(bytes))
            }
            Why::Exceeds { step, memory } => {
                write!(f, ": a history might take more than {memory} byte{} from step {step} on", s(memory))
            }
        }
    }
}

impl Why {
    /// A short name for machines.
    pub fn name(self) -> &'static str {
        match self {
            Why::Asked => "asked",
            Why::NothingIsLost => "nothing-is-lost",
            Why::Fits { .. } => "fits",
            Why::Exceeds { .. } => "exceeds",
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
