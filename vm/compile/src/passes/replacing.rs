//! Values that stand for others: they are put in everywhere at once. Knows no reason for it.

use crate::form::{Definition, Jump, SsaEnd, SsaForm};
use crate::op::SsaValue;

/// By value what stands for it: itself at first.
pub(crate) struct Replacements(Vec<SsaValue>);

impl Replacements {
    pub fn of(form: &SsaForm) -> Replacements {
        Replacements((0..form.definitions.len() as u32).map(SsaValue).collect())
    }

    /// How many values there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// What stands for a value in the end.
    pub fn find(&mut self, value: SsaValue) -> SsaValue {
        let mut last = value;
        while let Some(&next) = self.0.get(last.0 as usize).filter(|next| **next != last) {
            last = next;
        }
        // The way is short the next time.
        let mut at = value;
        while let Some(next) = self.0.get_mut(at.0 as usize).filter(|next| **next != last) {
            at = std::mem::replace(next, last);
        }
        last
    }

    /// By value what stands for it in the end.
    pub fn all(mut self) -> Vec<SsaValue> {
        (0..self.0.len() as u32).map(|value| self.find(SsaValue(value))).collect()
    }

    /// Has another value stand for one.
    pub fn replace(&mut self, value: SsaValue, by: SsaValue) {
        if let Some(slot) = self.0.get_mut(value.0 as usize) {
            *slot = by;
        }
    }

    /// Puts them in.
    pub fn apply(mut self, form: &mut SsaForm) {
        for definition in &mut form.definitions {
            if let Definition::Op(op) = definition {
                op.operands.iter_mut().chain(&mut op.guard).for_each(|value| *value = self.find(*value));
            }
        }
        for block in &mut form.blocks {
            each_value(&mut block.end, |value| *value = self.find(*value));
        }
    }
}

/// Shows each value that an end names.
pub(super) fn each_value(end: &mut SsaEnd, mut show: impl FnMut(&mut SsaValue)) {
    match end {
        SsaEnd::Branch { condition, .. } => show(condition),
        SsaEnd::Pause { skipped, .. } => skipped.iter_mut().for_each(&mut show),
        SsaEnd::Go(_) | SsaEnd::Exit { .. } => {}
    }
    for Jump { arguments, .. } in end.jumps_mut() {
        arguments.iter_mut().for_each(&mut show);
    }
}
