//! Records that a branch takes over from the branch that it left. An edit of adjoints or of the mode leaves
//! all values unchanged, so going back, the later branch retraces the values of the earlier one. Values
//! that the earlier branch lost by float rounding or erasing can't be computed from the later branch's
//! state. Branches with a common ancestor share these records.
//!
//! Only the earlier branch and its residues are handled here; the module `branch` uses them.

use std::sync::Arc;

use reviver_vm::Travel;
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::history::{Past as Records, Residues};

/// Interface of an earlier branch to later ones.
pub trait Remembering: std::fmt::Debug + Send + Sync {
    /// Returns the residues of the steps toward the origin from the state with a number, and the distance
    /// at which these residues begin.
    ///
    /// # Errors
    /// There is no memory to compute the residues.
    fn residues_to_origin(&self, number: i64) -> Result<(Residues, u64), OutOfMemory>;
}

/// An earlier branch, from its origin to the state at which it was left. Clones share the branch.
#[derive(Clone, Debug)]
pub struct EarlierBranch {
    branch: Arc<dyn Remembering>,
    /// The number of the state at which the branch was left: its steps without those in derivative rules.
    left_at: i64,
    /// A state's number on the earlier branch minus its number on the later one.
    offset: i64,
    window: Option<LossWindow>,
}

/// Residues of an interval of the earlier branch, by distances from its origin.
#[derive(Clone, Debug)]
struct LossWindow {
    from: u64,
    to: u64,
    records: Records,
}

impl EarlierBranch {
    /// Creates the record for a branch that leaves `branch` at the state with number `left_at`.
    pub fn new(branch: Arc<dyn Remembering>, left_at: i64) -> EarlierBranch {
        EarlierBranch { branch, left_at, offset: left_at, window: None }
    }

    /// Returns the record for a branch that leaves the later branch at the state with this number.
    pub fn from(&self, number: i64) -> EarlierBranch {
        let (branch, left_at) = (self.branch.clone(), self.left_at);
        EarlierBranch { branch, left_at, offset: self.offset + number, window: None }
    }

    /// Drops the residues; they are computed again when needed.
    pub fn rest(&mut self) {
        self.window = None;
    }

    /// Returns true if a step of the later branch, from its state with this number, retraces the earlier
    /// branch toward its origin.
    pub fn covers(&self, number: i64, travel: Travel) -> bool {
        let number = number + self.offset;
        let toward = match travel {
            Travel::Backward => number > 0,
            Travel::Forward => number < 0,
        };
        toward && self.left_at.signum() == number.signum() && number.abs() <= self.left_at.abs()
    }

    /// Returns the residues for going back from a covered state, and the number of steps that they cover.
    ///
    /// # Errors
    /// There is no memory to compute the residues.
    pub fn records(&mut self, number: i64) -> Result<(Records, u64), OutOfMemory> {
        let number = number + self.offset;
        let distance = number.unsigned_abs();
        match &self.window {
            Some(window) if window.from < distance && distance <= window.to => {
                Ok((window.records.clone(), distance - window.from))
            }
            _ => {
                // Freed first, to make room for the new window.
                self.window = None;
                let (residues, from) = self.branch.residues_to_origin(number)?;
                let records = Records::new(residues, self.offset);
                self.window = Some(LossWindow { from, to: distance, records: records.clone() });
                Ok((records, distance - from))
            }
        }
    }

    /// Returns the memory used by residues, in bytes.
    pub fn bytes(&self) -> usize {
        self.window.as_ref().map_or(0, |window| window.records.bytes())
    }
}
