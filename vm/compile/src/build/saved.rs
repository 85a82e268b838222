//! Saved values of elided pairs of `compute` and `uncompute`. This module is independent of machine steps.

use std::cell::RefCell;
use std::collections::HashMap;

use reviver_flow::Anchor;

use crate::op::{Space, SsaValue};

/// Saved values, by the inlined frame and the position from which steps are skipped.
#[derive(Debug, Default)]
pub(super) struct SavedValues(RefCell<HashMap<(u32, u32), SavedPair>>);

/// Saved values of one pair.
#[derive(Clone, Debug, Default)]
pub(super) struct SavedPair {
    /// Values of cells before `compute`.
    pub cells: Vec<(Space, Anchor, SsaValue)>,
    /// Holds the step counter at the start of the pair. From the pair's middle on, holds the number of steps from its
    /// start to its middle.
    pub clock: Option<SsaValue>,
}

impl SavedValues {
    pub fn put(&self, inlined_frame: u32, from: u32, kept: SavedPair) {
        self.0.borrow_mut().insert((inlined_frame, from), kept);
    }

    /// Returns the saved values; empty for a pair that wasn't entered.
    pub fn get(&self, inlined_frame: u32, from: u32) -> SavedPair {
        self.0.borrow().get(&(inlined_frame, from)).cloned().unwrap_or_default()
    }
}
