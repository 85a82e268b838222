//! Records that a branch inherits from an earlier branch. An edit of adjoints or of the mode leaves all values
//! unchanged. So at the steps before the edit, the new branch has the same values as the earlier branch. Some of
//! these values can't be computed by going back, because the earlier branch lost bits by rounding or erasing. The
//! new branch takes these values from the earlier branch's residues. Branches with a common ancestor share the
//! records.
//!
//! This module only handles the earlier branch and its residues; the module `branch` uses them.

use std::sync::Arc;

use reviver_vm::Travel;
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::history::{Past as Records, Residues};

/// Interface through which later branches use an earlier branch.
pub trait Remembering: std::fmt::Debug + Send + Sync {
    /// Returns the residues of the steps from the origin to the state with number `number`. If these residues
    /// exceed the memory limit, the residues of the first steps are missing. Also returns the distance from the
    /// origin at which the returned residues begin.
    ///
    /// # Errors
    /// There is no memory to compute the residues.
    fn residues_to_origin(&self, number: i64) -> Result<(Residues, u64), OutOfMemory>;
}

/// An earlier branch, from its origin to the state at which it was left. Clones share the branch.
#[derive(Clone, Debug)]
pub struct EarlierBranch {
    branch: Arc<dyn Remembering>,
    /// The number of the state at which a later branch left this one. The number of a state is the number of steps
    /// from the branch's origin, without steps in derivative rules.
    left_at: i64,
    /// The number of a state on the earlier branch, minus its number on the later branch.
    offset: i64,
    window: Option<LossWindow>,
}

/// Residues of an interval of the earlier branch. The interval is given by distances from that branch's origin, in
/// steps.
#[derive(Clone, Debug)]
struct LossWindow {
    from: u64,
    to: u64,
    records: Records,
}

impl EarlierBranch {
    /// Creates the record of `branch` for a new branch that leaves `branch` at the state with number `left_at`.
    pub fn new(branch: Arc<dyn Remembering>, left_at: i64) -> EarlierBranch {
        EarlierBranch { branch, left_at, offset: left_at, window: None }
    }

    /// Returns the record of the same earlier branch for a new branch that leaves the current one at the state with
    /// number `number`. So the new branch can also undo steps of the earlier branch.
    pub fn from(&self, number: i64) -> EarlierBranch {
        let (branch, left_at) = (self.branch.clone(), self.left_at);
        EarlierBranch { branch, left_at, offset: self.offset + number, window: None }
    }

    /// Drops the residues to free memory. They are computed again when they are needed.
    pub fn rest(&mut self) {
        self.window = None;
    }

    /// Returns true if the step from state `number` of the later branch in direction `travel` undoes a step of
    /// the earlier branch.
    pub fn covers(&self, number: i64, travel: Travel) -> bool {
        let number = number + self.offset;
        let toward = match travel {
            Travel::Backward => number > 0,
            Travel::Forward => number < 0,
        };
        toward && self.left_at.signum() == number.signum() && number.abs() <= self.left_at.abs()
    }

    /// Returns the residues for going back from state `number` of the later branch, and the number of steps
    /// that they cover. The state must be covered ([`EarlierBranch::covers`]).
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
                // The old window is freed first, so that there is memory for the new one.
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
