//! Rules about custom adjoints. A rule is a procedure that is the custom adjoint of another procedure. A rule
//! may read the state, but must change only adjoints and its own frame. While a rule or the procedure that has
//! the rule runs, gradient mode is off and stays off.

use crate::codes::ProblemCode;
use std::collections::HashSet;

use super::{Checker, Site};
use crate::instruction::{Argument, Base, Call, Instruction, Link, Operand};
use crate::module::{Passing, Procedure};
use crate::update::OperandShape;

impl<'a> Checker<'a> {
    pub(super) fn rules(&mut self) {
        let ruled = self.module.procedures.iter().filter_map(|p| p.rule.map(|rule| (p, rule)));
        for (procedure, rule) in ruled {
            let Some(rule) = self.module.procedures.get(rule as usize) else { continue };
            for reached in self.reached_from(procedure).into_iter().chain(self.reached_from(rule)) {
                self.switches_nothing(procedure, reached);
            }
            for reached in self.reached_from(rule) {
                self.changes_adjoints_only(rule, reached);
            }
        }
    }

    /// Returns a procedure and all procedures that it calls, directly or indirectly.
    fn reached_from(&self, procedure: &'a Procedure) -> Vec<&'a Procedure> {
        let mut reached = vec![procedure];
        let mut seen = HashSet::from([procedure.entry]);
        let mut next = 0;
        while let Some(&procedure) = reached.get(next) {
            let calls = self.body(procedure).filter_map(|(_, instruction)| match &instruction.link {
                Link::Calls(calls) => Some(calls.iter()),
                _ => None,
            });
            let callees = calls.flatten().filter_map(|call| self.callee(call));
            let new: Vec<_> = callees.filter(|callee| seen.insert(callee.entry)).collect();
            reached.extend(new);
            next += 1;
        }
        reached
    }

    fn callee(&self, call: &Call) -> Option<&'a Procedure> {
        self.module.procedures.get(call.procedure as usize)
    }

    fn body(&self, procedure: &'a Procedure) -> impl Iterator<Item = (u32, &'a Instruction)> + use<'a> {
        let code = &self.module.code;
        (procedure.entry + 1..procedure.exit).filter_map(move |at| Some((at, code.get(at as usize)?)))
    }

    fn switches_nothing(&mut self, ruled: &'a Procedure, reached: &'a Procedure) {
        let switches = self.body(reached).filter(|(_, i)| i.update.shape() == OperandShape::Switch);
        for (at, _) in switches.collect::<Vec<_>>() {
            let message = format!("`{}` has a rule, so gradient mode can't be switched inside", ruled.name);
            self.report(ProblemCode::NoRule, Site::Instruction(at), message).help =
                Some("delete `grad.on` and `grad.off`: the body of a procedure with a rule runs on values only, and the rule propagates the adjoints".into());
        }
    }

    /// Reports instructions by which a custom adjoint changes something other than adjoints and its own
    /// frame. `reached` is the custom adjoint `rule` itself, or a procedure that `rule` calls. A called
    /// procedure may change its `inout` arguments, which are in the rule's frame.
    fn changes_adjoints_only(&mut self, rule: &'a Procedure, reached: &'a Procedure) {
        let is_rule = rule.entry == reached.entry;
        for (at, instruction) in self.body(reached).collect::<Vec<_>>() {
            if !self.stays_in_the_frame(instruction, is_rule) {
                let message =
                    format!("`{}` is a rule: it may change only its own frame and adjoints", rule.name);
                let violation = self.report(ProblemCode::NoRule, Site::Instruction(at), message);
                violation.help = Some(
                    "change an adjoint instead, or copy the cell into a `local` and change the copy".into(),
                );
            }
        }
    }

    fn stays_in_the_frame(&self, instruction: &Instruction, is_rule: bool) -> bool {
        let own = |base: Base| match base {
            Base::Frame(_) => true,
            Base::Parameter(_) => !is_rule,
            Base::Global(_) => false,
        };
        if let Link::Calls(calls) = &instruction.link {
            return calls.iter().all(|call| self.passes_its_own(call, own));
        }
        let moves = instruction.update.moves_values();
        let targets = instruction.operands.iter().take(instruction.update.shape().targets());
        !moves
            && targets.into_iter().all(|operand| match operand {
                Operand::Place(place) => place.adjoint || own(place.base),
                _ => true,
            })
    }

    fn passes_its_own(&self, call: &Call, own: impl Fn(Base) -> bool) -> bool {
        let Some(callee) = self.callee(call) else { return true };
        call.arguments.iter().zip(&callee.parameters).all(|(argument, parameter)| {
            parameter.passing == Passing::In
                || match argument {
                    Argument::Scalar(Operand::Place(place)) => own(place.base),
                    Argument::Scalar(_) => true,
                    Argument::Slice(slice) => own(slice.base),
                }
        })
    }
}
