//! Replacement of values by other values, applied to a whole function at once. This module is independent of the
//! reasons for replacements.

use crate::function::{Definition, Jump, SsaEnd, SsaFunction};
use crate::op::SsaValue;

/// Replacement of each value, as a union-find structure with path compression. Initially, each value is its own
/// replacement.
pub(crate) struct Replacements(Vec<SsaValue>);

impl Replacements {
    pub fn of(function: &SsaFunction) -> Replacements {
        Replacements((0..function.definitions.len() as u32).map(SsaValue).collect())
    }

    /// Returns the number of values.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the final replacement of a value.
    pub fn find(&mut self, value: SsaValue) -> SsaValue {
        let mut last = value;
        while let Some(&next) = self.0.get(last.0 as usize).filter(|next| **next != last) {
            last = next;
        }
        // Path compression: shortens the next search.
        let mut at = value;
        while let Some(next) = self.0.get_mut(at.0 as usize).filter(|next| **next != last) {
            at = std::mem::replace(next, last);
        }
        last
    }

    /// Returns the final replacement of each value.
    pub fn all(mut self) -> Vec<SsaValue> {
        (0..self.0.len() as u32).map(|value| self.find(SsaValue(value))).collect()
    }

    /// Replaces a value by another one.
    pub fn replace(&mut self, value: SsaValue, by: SsaValue) {
        if let Some(slot) = self.0.get_mut(value.0 as usize) {
            *slot = by;
        }
    }

    /// Applies all replacements to a function.
    pub fn apply(mut self, function: &mut SsaFunction) {
        for definition in &mut function.definitions {
            if let Definition::Op(op) = definition {
                op.operands.iter_mut().chain(&mut op.guard).for_each(|value| *value = self.find(*value));
            }
        }
        for block in &mut function.blocks {
            each_value(&mut block.end, |value| *value = self.find(*value));
        }
    }
}

/// Calls a function for each value that a terminator names.
pub(super) fn each_value(end: &mut SsaEnd, mut show: impl FnMut(&mut SsaValue)) {
    match end {
        SsaEnd::Branch { condition, .. } => show(condition),
        SsaEnd::Safepoint { skipped, .. } => skipped.iter_mut().for_each(&mut show),
        SsaEnd::Jump(_) | SsaEnd::Exit { .. } => {}
    }
    for Jump { arguments, .. } in end.jumps_mut() {
        arguments.iter_mut().for_each(&mut show);
    }
}
