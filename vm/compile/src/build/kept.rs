//! What is kept of pairs of `compute` and `uncompute` that aren't undone, as values. Knows no step.

use std::cell::RefCell;
use std::collections::HashMap;

use reviver_flow::Anchor;

use crate::op::{Space, SsaValue};

/// What is kept, by the activation and the position from which a pair's steps are skipped.
#[derive(Debug, Default)]
pub(super) struct KeptValues(RefCell<HashMap<(u32, u32), KeptPair>>);

/// What is kept of one pair.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptPair {
    /// What cells held before.
    pub cells: Vec<(Space, Anchor, SsaValue)>,
    /// The number of the step at which it was entered; and then how many there are to its middle.
    pub clock: Option<SsaValue>,
}

impl KeptValues {
    pub fn put(&self, activation: u32, from: u32, kept: KeptPair) {
        self.0.borrow_mut().insert((activation, from), kept);
    }

    /// Nothing of a pair that wasn't entered.
    pub fn get(&self, activation: u32, from: u32) -> KeptPair {
        self.0.borrow().get(&(activation, from)).cloned().unwrap_or_default()
    }
}
