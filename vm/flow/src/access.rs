//! Who reads and who writes: the slots of a step that it changes, those that it looks at, and the cells that its
//! indices are computed from. Knows no state, and no adjoint that is carried beside.

use reviver_isa::update::{Action, Erasure};

use crate::call::Passed;
use crate::slot::{ArrayIndex, Location, Slot};
use crate::{Flow, Step, StepLink};

/// What a step does with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// What the new value of a target is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Nothing that a cell held: a constant, or what came from a stack or a tape.
    Elsewhere,
    /// What it was itself.
    OfItself,
    /// What the other target was.
    OfOther,
    /// The sources alone.
    OfSources,
    /// All operands of the step.
    OfAll,
}

impl Step {
    /// What the new values of the targets are made of.
    pub fn made(&self) -> Made {
        match self.operation.update.action() {
            Action::Accumulate | Action::Rotate => Made::OfAll,
            Action::Replace => Made::OfSources,
            Action::Map | Action::Erase(Erasure::Bit) => Made::OfItself,
            Action::Exchange => Made::OfOther,
            Action::Erase(Erasure::Cell) | Action::Clear | Action::Put(_) | Action::Take(_) => {
                Made::Elsewhere
            }
            Action::Test
            | Action::Jump
            | Action::Join
            | Action::Begin
            | Action::End
            | Action::Call(_)
            | Action::Tasks(_)
            | Action::Show
            | Action::Switch(_) => Made::OfAll,
        }
    }
}

impl Flow {
    /// Calls `visit` with every slot that the step over an instruction reads or writes, in either direction. Targets
    /// are written, whether or not their content changes. A slot may come more than once.
    pub fn visit_accesses(&self, at: u32, mut visit: impl FnMut(Access, &Slot)) {
        let Some(step) = self.step(at) else { return };
        let targets = step.operation.update.shape().targets();
        for (n, slot) in step.slots.iter().enumerate() {
            visit(if n < targets { Access::Write } else { Access::Read }, slot);
            self.visit_indices(slot, &mut |index| visit(Access::Read, index));
        }
    }

    /// Calls `visit` with the slots that a call reads to find what it passes. What it passes is the callee's
    /// business.
    pub fn visit_passed(&self, at: u32, mut visit: impl FnMut(&Slot)) {
        let Some(StepLink::Call(number)) = self.step(at).map(|step| step.link) else { return };
        let arguments = self.call(number).map_or(&[][..], |call| &call.arguments);
        for argument in arguments {
            if let Passed::Cell(slot) = argument {
                self.visit_indices(slot, &mut visit);
            }
            argument.subscripts().for_each(|subscript| index_cell(subscript, &mut visit));
        }
    }

    fn visit_indices(&self, slot: &Slot, visit: &mut impl FnMut(&Slot)) {
        let Location::Element(number) = slot.location else { return };
        let subscripts = self.element(number).into_iter().flat_map(|element| element.subscripts());
        subscripts.for_each(|subscript| index_cell(subscript, visit));
    }
}

fn index_cell(subscript: ArrayIndex, visit: &mut impl FnMut(&Slot)) {
    if let Some(anchor) = subscript.cell {
        visit(&Slot::int(anchor));
    }
}
