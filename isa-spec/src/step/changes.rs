//! Pending changes of adjoints in a step. Knows no adjoint rule.

use super::{Engine, Real};

/// The pending new value of an adjoint.
pub struct Change<E: Engine> {
    /// The real cell whose adjoint changes.
    pub cell: E::Cell,
    /// The new value of the adjoint, not its increment.
    pub value: Real<E>,
    /// True if undoing the change restores the old bits; always true if no history is kept.
    pub is_exact: bool,
}

impl<E: Engine> Clone for Change<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Engine> Copy for Change<E> {}

/// Pending changes of the operands' adjoints, at most one for each operand, in order of execution. Three
/// separate slots instead of a list keep the changes in registers: with a loop over them, a reverse sweep
/// over particles took 1.5 times as long.
pub struct Changes<E: Engine> {
    slots: [Option<Change<E>>; 3],
}

impl<E: Engine> Clone for Changes<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Engine> Copy for Changes<E> {}

impl<E: Engine> Changes<E> {
    /// Returns no changes: every slot is empty.
    #[inline(always)]
    pub fn nothing() -> Self {
        Changes { slots: [None; 3] }
    }

    /// Puts the first of other changes into a slot.
    #[inline(always)]
    pub(super) fn with(mut self, slot: usize, changes: Changes<E>) -> Self {
        self.slots[slot] = changes.slots[0];
        self
    }

    #[inline(always)]
    pub(super) fn one(change: Change<E>) -> Self {
        Changes { slots: [Some(change), None, None] }
    }

    /// Returns the pending changes, in order of execution.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &Change<E>> {
        self.slots.iter().flatten()
    }

    /// Returns the same changes with other values, for an engine that doesn't know whether they are applied.
    pub fn with_values(mut self, mut value: impl FnMut(&Change<E>) -> Real<E>) -> Self {
        for change in self.slots.iter_mut().flatten() {
            change.value = value(change);
        }
        self
    }

    /// Returns the pending value of a cell's adjoint. If two changes concern the same cell, the later one
    /// includes the earlier one.
    #[inline(always)]
    pub(super) fn pending(&self, e: &E, cell: E::Cell) -> Real<E> {
        let after = |change: &Option<Change<E>>, value| match change {
            Some(change) => e.choose(e.is_same(change.cell, cell), change.value, value),
            None => value,
        };
        let [first, second, third] = &self.slots;
        after(third, after(second, after(first, e.adjoint(cell))))
    }

    /// Returns true if undoing the step restores the old bits of every adjoint.
    #[inline(always)]
    pub(super) fn is_exact(&self) -> bool {
        self.iter().all(|change| change.is_exact)
    }

    /// Sets the adjoints to their pending values, in order of execution.
    #[inline(always)]
    pub fn write(&self, e: &mut E) {
        let mut write = |change: &Option<Change<E>>| {
            if let Some(change) = change {
                e.set_adjoint(change.cell, change.value);
            }
        };
        let [first, second, third] = &self.slots;
        write(first);
        write(second);
        write(third);
    }
}
