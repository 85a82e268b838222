//! Accesses of steps: the slots that a step writes, the slots that it reads, and the cells from which its indices are
//! computed. The lists are known before a run. An adjoint is listed only if it is an operand; adjoints that a reverse
//! sweep changes implicitly aren't.

use reviver_isa::update::{Action, Erasure};

use crate::call::Passed;
use crate::slot::{ArrayIndex, Location, Slot};
use crate::{Flow, Step, StepLink};

/// The kind of access of a step to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The slot is a source, or the cell of an index.
    Read,
    /// The slot is a target; most targets are read too.
    Write,
}

/// The operands from which the new value of a target is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// No cell: the new value is a constant, or comes from a stack or a tape.
    Elsewhere,
    /// Only the old value of the target.
    OfItself,
    /// Only the old value of the other target.
    OfOther,
    /// Only the sources, not the target.
    OfSources,
    /// All operands of the step.
    OfAll,
}

impl Step {
    /// Returns the operands from which the new values of the targets are computed.
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
    /// Calls `visit` with every slot that the step of the instruction at `at` accesses. The list holds for forward
    /// and for backward execution. Targets count as written even if their content doesn't change. A slot may be
    /// visited more than once.
    pub fn visit_accesses(&self, at: u32, mut visit: impl FnMut(Access, &Slot)) {
        let Some(step) = self.step(at) else { return };
        let targets = step.operation.update.shape().targets();
        for (n, slot) in step.slots.iter().enumerate() {
            visit(if n < targets { Access::Write } else { Access::Read }, slot);
            self.visit_indices(slot, &mut |index| visit(Access::Read, index));
        }
    }

    /// Calls `visit` with the index cells that a call reads to locate its arguments. The cells of the arguments
    /// aren't visited, because only the callee accesses them.
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
