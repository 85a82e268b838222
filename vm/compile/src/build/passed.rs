//! What the calls of a form pass, as values. Knows no step and no cell.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::op::SsaValue;

/// A reference: the first cell, the number of cells, and the distance of neighbours.
pub(super) type ReferenceValues = [SsaValue; 3];

/// What the calls of a form pass, by the number of the activation that they make.
#[derive(Debug, Default)]
pub(super) struct PassedValues(RefCell<HashMap<u32, Vec<ReferenceValues>>>);

impl PassedValues {
    /// Notes it.
    pub fn put(&self, activation: u32, passed: Vec<ReferenceValues>) {
        self.0.borrow_mut().insert(activation, passed);
    }

    /// What an activation is passed; nothing where that isn't the form's call.
    pub fn of(&self, activation: u32) -> Vec<ReferenceValues> {
        self.0.borrow().get(&activation).cloned().unwrap_or_default()
    }

    /// What it is passed for a parameter.
    pub fn parameter(&self, activation: u32, n: u32) -> Option<ReferenceValues> {
        self.0.borrow().get(&activation)?.get(n as usize).copied()
    }
}
