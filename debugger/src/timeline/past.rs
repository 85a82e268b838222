//! What a branch takes over from the one that it left. An edit of adjoints or of the mode leaves
//! all values as they were, so on the way back they are those that the earlier branch had; and what that
//! branch lost in floats, or erased, nobody can compute from the later one's state. Branches that begin one
//! from another share what they remember.
//!
//! Knows an earlier branch and the way along it; refuses to know what the later one does with it.

use std::sync::Arc;

use reviver_vm::Travel;
use reviver_vm::history::Past as Records;
use reviver_vm::room::OutOfMemory;

use super::branch::Branch;

/// An earlier branch, from its origin to the state at which it was left. A clone shares all of it.
#[derive(Clone, Debug)]
pub struct Past {
    branch: Arc<Branch>,
    /// The number of the state at which it was left: its steps without those in rules.
    left_at: i64,
    /// What a state's number is on the earlier branch, less what it is on the later one.
    offset: i64,
    window: Option<Window>,
}

/// What was lost on a stretch of the earlier branch, by distances from its origin.
#[derive(Clone, Debug)]
struct Window {
    from: u64,
    to: u64,
    records: Records,
}

impl Past {
    /// What a branch that leaves `branch` at its current state takes over; nothing where there is nothing to
    /// take. In gradient mode steps in rules stand between those of the program, so that they have no
    /// place in a branch without them: such a branch is none to take from.
    ///
    /// # Errors
    /// There is no memory for the state that it begins with.
    pub fn of(branch: &Branch) -> Result<Option<Past>, OutOfMemory> {
        let number = branch.state().own_steps();
        let usable = !branch.is_lossless() && number != 0 && branch.state().rule_steps == 0;
        if !usable {
            return Ok(None);
        }
        let branch = Arc::new(branch.remembered()?);
        Ok(Some(Past { branch, left_at: number, offset: number, window: None }))
    }

    /// The same for a branch whose origin has another number on the one that it leaves.
    pub fn from(&self, number: i64) -> Past {
        let (branch, left_at) = (self.branch.clone(), self.left_at);
        Past { branch, left_at, offset: self.offset + number, window: None }
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
                let (residues, from) = self.branch.try_clone()?.lost_before(number)?;
                let records = Records::new(residues, self.offset);
                self.window = Some(Window { from, to: distance, records: records.clone() });
                Ok((records, distance - from))
            }
        }
    }

    /// Memory that records take.
    pub fn bytes(&self) -> usize {
        self.window.as_ref().map_or(0, |window| window.records.bytes())
    }
}
