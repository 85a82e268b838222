//! What a branch takes over from the one that it left. An edit of adjoints or of the mode leaves
//! all values as they were, so on the way back they are those that the earlier branch had; and what that
//! branch lost in floats, or erased, nobody can compute from the later one's state. Branches that begin one
//! from another share what they remember.
//!
//! Knows an earlier branch and the way along it; refuses to know what the later one does with it.

use std::sync::Arc;

use reviver_vm::Travel;
use reviver_vm::history::{Past as Records, Residues};
use reviver_vm::room::OutOfMemory;

/// An earlier branch, as far as a later one asks.
pub trait Remembering: std::fmt::Debug + Send + Sync {
    /// What steps toward the origin lose from the state of a number on, and the distance up to which that
    /// is told.
    ///
    /// # Errors
    /// There is no memory to find it.
    fn lost_on_the_way(&self, number: i64) -> Result<(Residues, u64), OutOfMemory>;
}

/// An earlier branch, from its origin to the state at which it was left. A clone shares all of it.
#[derive(Clone, Debug)]
pub struct EarlierBranch {
    branch: Arc<dyn Remembering>,
    /// The number of the state at which it was left: its steps without those in rules.
    left_at: i64,
    /// What a state's number is on the earlier branch, less what it is on the later one.
    offset: i64,
    window: Option<LossWindow>,
}

/// What was lost on a stretch of the earlier branch, by distances from its origin.
#[derive(Clone, Debug)]
struct LossWindow {
    from: u64,
    to: u64,
    records: Records,
}

impl EarlierBranch {
    /// What a branch takes over that leaves another at the state of a number.
    pub fn new(branch: Arc<dyn Remembering>, left_at: i64) -> EarlierBranch {
        EarlierBranch { branch, left_at, offset: left_at, window: None }
    }

    /// The same for a branch whose origin has another number on the one that it leaves.
    pub fn from(&self, number: i64) -> EarlierBranch {
        let (branch, left_at) = (self.branch.clone(), self.left_at);
        EarlierBranch { branch, left_at, offset: self.offset + number, window: None }
    }

    /// Gives its records up, until they are asked for again.
    pub fn rest(&mut self) {
        self.window = None;
    }

    /// Whether the step from the state of a number of the later branch leads along the earlier one toward its
    /// origin.
    pub fn covers(&self, number: i64, travel: Travel) -> bool {
        let number = number + self.offset;
        let toward = match travel {
            Travel::Backward => number > 0,
            Travel::Forward => number < 0,
        };
        toward && self.left_at.signum() == number.signum() && number.abs() <= self.left_at.abs()
    }

    /// What was lost on the way from such a state, and over how many steps at least.
    ///
    /// # Errors
    /// There is no memory to find it.
    pub fn records(&mut self, number: i64) -> Result<(Records, u64), OutOfMemory> {
        let number = number + self.offset;
        let distance = number.unsigned_abs();
        match &self.window {
            Some(window) if window.from < distance && distance <= window.to => {
                Ok((window.records.clone(), distance - window.from))
            }
            _ => {
                // What is looked up next takes its place.
                self.window = None;
                let (residues, from) = self.branch.lost_on_the_way(number)?;
                let records = Records::new(residues, self.offset);
                self.window = Some(LossWindow { from, to: distance, records: records.clone() });
                Ok((records, distance - from))
            }
        }
    }

    /// Memory that records take.
    pub fn bytes(&self) -> usize {
        self.window.as_ref().map_or(0, |window| window.records.bytes())
    }
}
