//! Adjoints that a step is about to change. Knows no rule.

use super::{Engine, Real};

/// What an adjoint is going to be.
pub struct Change<E: Engine> {
    pub cell: E::Cell,
    pub value: Real<E>,
    /// Whether undoing the change gives the old bits back. True where nobody keeps a history.
    pub is_exact: bool,
}

impl<E: Engine> Clone for Change<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Engine> Copy for Change<E> {}

/// Changes of the operands' adjoints, at most one an operand, in the order in which they come about. Slots
/// instead of a list, each named where it is asked, so that a compiler keeps them in registers: a loop over them made
/// a way back over particles take half as long again.
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
    #[inline(always)]
    pub fn nothing() -> Self {
        Changes { slots: [None; 3] }
    }

    /// With the first of other changes in a slot.
    #[inline(always)]
    pub(super) fn with(mut self, slot: usize, changes: Changes<E>) -> Self {
        self.slots[slot] = changes.slots[0];
        self
    }

    #[inline(always)]
    pub(super) fn one(change: Change<E>) -> Self {
        Changes { slots: [Some(change), None, None] }
    }

    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &Change<E>> {
        self.slots.iter().flatten()
    }

    /// The same changes to other values, for an engine that doesn't know whether they are made.
    pub fn with_values(mut self, mut value: impl FnMut(&Change<E>) -> Real<E>) -> Self {
        for change in self.slots.iter_mut().flatten() {
            change.value = value(change);
        }
        self
    }

    /// What a cell's adjoint is going to be. Of two changes the later has the earlier in it.
    #[inline(always)]
    pub(super) fn pending(&self, e: &E, cell: E::Cell) -> Real<E> {
        let after = |change: &Option<Change<E>>, value| match change {
            Some(change) => e.choose(e.is_same(change.cell, cell), change.value, value),
            None => value,
        };
        let [first, second, third] = &self.slots;
        after(third, after(second, after(first, e.adjoint(cell))))
    }

    /// Whether undoing the step gives every adjoint its old bits back.
    #[inline(always)]
    pub(super) fn is_exact(&self) -> bool {
        self.iter().all(|change| change.is_exact)
    }

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
