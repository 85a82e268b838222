//! Rules about control flow. The procedures cover the code without gaps or overlaps, branches are paired, and
//! every instruction can be reached.

use super::{Checker, Site};
use crate::codes::ProblemCode;
use crate::function::Function;
use crate::instruction::{Instruction, Link};
use crate::module::Procedure;
use crate::update::{OperandShape, Update};

impl<'a> Checker<'a> {
    /// Checks that the procedures cover the code in order and without gaps, each from its `enter` to its
    /// `exit`. Otherwise reports a violation and returns false.
    pub(super) fn layout(&mut self) -> bool {
        let module = self.module;
        let mut next = 0u64;
        for (n, procedure) in module.procedures.iter().enumerate() {
            let bounds = u64::from(procedure.entry) == next && procedure.entry < procedure.exit;
            if !bounds || !self.is_bounded(procedure) {
                let message =
                    format!("the procedure `{}` is not laid out from `enter` to `exit`", procedure.name);
                self.report(ProblemCode::MalformedImage, Site::Procedure(n as u32), message);
                return false;
            }
            next = u64::from(procedure.exit) + 1;
        }
        if next != module.code.len() as u64 {
            self.report(
                ProblemCode::MalformedImage,
                Site::Module,
                "there are instructions outside of every procedure",
            );
        }
        next == module.code.len() as u64
    }

    fn is_bounded(&self, procedure: &Procedure) -> bool {
        let is = |at: u32, update: Update| {
            self.module.code.get(at as usize).is_some_and(|i| {
                i.update == update
                    && i.function == Function::Copy
                    && i.operands.is_empty()
                    && i.link == Link::None
            })
        };
        is(procedure.entry, Update::Enter) && is(procedure.exit, Update::Exit)
    }

    /// Reports a branch half unless its partner refers back to it and is in the same procedure.
    pub(super) fn pair(&mut self, procedure: &'a Procedure, at: u32, instruction: &'a Instruction) {
        let Link::Partner(partner) = instruction.link else { return };
        if instruction.update.shape() != OperandShape::Branch {
            return; // reported by `form`
        }
        let inside = procedure.entry < partner && partner < procedure.exit;
        let other = self.module.code.get(partner as usize).filter(|_| inside);
        let paired = other.is_some_and(|other| {
            other.update == instruction.update.inverse() && other.link == Link::Partner(at)
        });
        if !paired {
            let message =
                format!("this `{}` and its partner don't name each other", instruction.update.name());
            let violation = self.report(ProblemCode::NoPair, Site::Instruction(at), message);
            violation.help = Some("a `br` and a `from` of the same procedure must name each other".into());
            if inside {
                violation.other = Some((Site::Instruction(partner), "named as the partner".into()));
            }
        }
    }

    /// Reports misplaced unconditional branches. The instruction after a `br …, always` can't be reached from
    /// the `br`, so it must be a `from …, always`. Conversely, the instruction before a `from …, always` must
    /// not continue into the `from`.
    pub(super) fn one_way(&mut self, at: u32, instruction: &'a Instruction) {
        let code = &self.module.code;
        if is_always(instruction, Update::Br)
            && !code.get(at as usize + 1).is_some_and(|next| is_always(next, Update::From))
        {
            let violation = self.report(
                ProblemCode::WayCutOff,
                Site::Instruction(at),
                "the statement after this `br …, always` can't be reached",
            );
            violation.other =
                Some((Site::Instruction(at + 1), "only a backward run would reach this".into()));
            violation.help = Some("write a `from …, always` directly after the `br …, always`".into());
        }
        if is_always(instruction, Update::From)
            && !code.get((at as usize).wrapping_sub(1)).is_some_and(|before| is_always(before, Update::Br))
        {
            let violation = self.report(
                ProblemCode::WayCutOff,
                Site::Instruction(at),
                "reaching this `from …, always` from above always traps",
            );
            violation.other =
                Some((Site::Instruction(at - 1), "execution reaches the `from` from here".into()));
            violation.help = Some("write a `br …, always` directly before the `from`".into());
        }
    }
}

fn is_always(instruction: &Instruction, update: Update) -> bool {
    instruction.update == update && instruction.function == Function::Always
}
