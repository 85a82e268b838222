//! Pending changes of adjoints in a step. A step computes all its changes before it writes any, and writes them
//! at its end, when nothing can fail any more.

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

/// Pending changes of the operands' adjoints, at most one for each operand, in the order in which they are
/// written. Three separate slots instead of a list keep the changes in registers: with a loop over a list, a
/// reverse sweep over particles took 1.5 times as long.
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

    /// Returns these changes, with the change in the first slot of `changes` copied to the slot with the index
    /// `slot`.
    #[inline(always)]
    pub(super) fn with(mut self, slot: usize, changes: Changes<E>) -> Self {
        self.slots[slot] = changes.slots[0];
        self
    }

    #[inline(always)]
    pub(super) fn one(change: Change<E>) -> Self {
        Changes { slots: [Some(change), None, None] }
    }

    /// Returns the pending changes in the order in which they are written.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &Change<E>> {
        self.slots.iter().flatten()
    }

    /// Returns the same changes with other values. A compiling engine calls it if it is known only at run
    /// time whether the changes apply: the new values then select between new and old adjoints.
    pub fn with_values(mut self, mut value: impl FnMut(&Change<E>) -> Real<E>) -> Self {
        for change in self.slots.iter_mut().flatten() {
            change.value = value(change);
        }
        self
    }

    /// Returns the value that a cell's adjoint has after the pending changes; its current value if no change
    /// concerns it. If two changes concern the cell, the later one includes the earlier one.
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

    /// Writes the pending values to the adjoints, slot by slot.
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
