//! Save and restore instead of `uncompute`: code saves the cells of an elided pair before `compute`. It restores them
//! at the position where it skips `uncompute`. This module is independent of machine steps.

use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use super::elision::{ClearedCells, SkippedPair};
use super::saved::SavedPair;
use super::writer::{OperandHome, StepWriter};
use crate::op::{OpKind, Space, SsaValue};

fn space(class: Class) -> Space {
    match class {
        Class::Int => Space::Ints,
        Class::Real => Space::Reals,
    }
}

impl StepWriter<'_> {
    /// Saves the cells of the pairs that begin at a position. For the pairs whose first part ends at this position,
    /// computes the number of steps in their first part.
    pub fn keep(self, pairs: &[SkippedPair], position: u32) {
        for pair in pairs.iter().filter(|pair| pair.enter == position) {
            self.kept.put(self.inlined_frame, pair.from, self.kept_of(pair));
        }
        for pair in pairs.iter().filter(|pair| pair.middle == position && pair.steps.is_none()) {
            let now = self.draft.op(OpKind::Clock { here: 0 }, []);
            let kept = self.kept.get(self.inlined_frame, pair.from);
            let clock = kept.clock.map(|then| self.draft.place(now, then, self.draft.int(-1)));
            self.kept.put(self.inlined_frame, pair.from, SavedPair { clock, ..kept });
        }
    }

    fn kept_of(self, pair: &SkippedPair) -> SavedPair {
        let mut cells = Vec::new();
        for restored in &pair.cells {
            let space = space(restored.class);
            for anchor in restored.anchors() {
                let home = self.own_cell(space, anchor);
                // A cell in memory that held 0 is cleared instead of saved.
                if !(restored.begin_with_zeros && matches!(home, OperandHome::Memory(_))) {
                    cells.push((space, anchor, self.value(space, &home)));
                }
            }
        }
        let clock = pair.steps.is_none().then(|| self.draft.op(OpKind::Clock { here: 0 }, []));
        SavedPair { cells, clock }
    }

    /// Returns the number of skipped steps as a value, if this number is known only at run time; otherwise `None`.
    pub fn steps_skipped(self, pair: &SkippedPair) -> Option<SsaValue> {
        self.kept.get(self.inlined_frame, pair.from).clock
    }

    /// Restores the cells of a pair. `loops` has two blocks for each loop over cells: the repeated block, and the block
    /// after it.
    pub fn restore(self, pair: &SkippedPair, loops: &[(u32, u32)]) {
        for (space, anchor, value) in self.kept.get(self.inlined_frame, pair.from).cells {
            self.set(space, &self.own_cell(space, anchor), value);
        }
        for (class, anchor) in pair.single(self.storage()) {
            self.set(space(class), &self.own_cell(space(class), anchor), self.zero(class));
        }
        for (cleared, &(repeated, after)) in pair.loops(self.storage()).into_iter().zip(loops) {
            self.clear(cleared, repeated, after);
        }
    }

    fn clear(self, ClearedCells { class, first, count }: ClearedCells, repeated: u32, after: u32) {
        let first = self.draft.address(first);
        let (one, number) = (self.draft.int(1), self.draft.begin_loop(repeated, self.draft.int(0)));
        let cell = OperandHome::Memory(self.draft.place(first, number, one));
        self.set(space(class), &cell, self.zero(class));
        let next = self.draft.place(number, one, one);
        let continues = self.draft.op(OpKind::IntTest(Order::Lt), [next, self.draft.int(count.into())]);
        self.draft.end_loop(repeated, next, continues);
        self.draft.enter(after);
    }

    fn zero(self, class: Class) -> SsaValue {
        match class {
            Class::Int => self.draft.int(0),
            Class::Real => self.draft.real(0),
        }
    }
}
