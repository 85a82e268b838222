//! Saved values of elided pairs of `compute` and `uncompute`. This module knows no step.

use std::cell::RefCell;
use std::collections::HashMap;

use reviver_flow::Anchor;

use crate::op::{Space, SsaValue};

/// Saved values, by the activation and the position from which steps are skipped.
#[derive(Debug, Default)]
pub(super) struct KeptValues(RefCell<HashMap<(u32, u32), KeptPair>>);

/// Saved values of one pair.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptPair {
    /// Values of cells before `compute`.
    pub cells: Vec<(Space, Anchor, SsaValue)>,
    /// Step counter when the pair was entered; later the number of steps from there to the pair's middle.
    pub clock: Option<SsaValue>,
}

impl KeptValues {
    pub fn put(&self, activation: u32, from: u32, kept: KeptPair) {
        self.0.borrow_mut().insert((activation, from), kept);
    }

    /// Returns the saved values; empty for a pair that wasn't entered.
    pub fn get(&self, activation: u32, from: u32) -> KeptPair {
        self.0.borrow().get(&(activation, from)).cloned().unwrap_or_default()
    }
}
