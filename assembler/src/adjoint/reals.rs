//! Procedures that have or name reals. A call of another procedure is the same in gradient mode.

use std::collections::HashSet;

use compact_str::CompactString;
use reviver_isa::instruction::Class;

use super::emitter::Emitter;
use crate::tree::{
    Body, Directive, Expression, ExpressionKind, InstructionNode, Operands, Statement, TaskKind,
};
use crate::visit;

impl Emitter {
    /// Returns true if a procedure, or a procedure that it calls, has or names reals.
    pub(super) fn has_reals(&self, procedure: &CompactString) -> bool {
        self.reaches_reals(procedure, &mut HashSet::new())
    }

    /// Returns true if a procedure, or one that it calls, has or names reals. `seen` has the procedures whose bodies
    /// were searched.
    fn reaches_reals(&self, procedure: &CompactString, seen: &mut HashSet<CompactString>) -> bool {
        let Some(tree) = self.procedures.get(procedure).filter(|_| seen.insert(procedure.clone())) else {
            return false;
        };
        tree.parameters.iter().any(|parameter| parameter.class == Some(Class::Real))
            || self.body_reaches_reals(&tree.body, seen)
    }

    fn body_reaches_reals(&self, body: &Body, seen: &mut HashSet<CompactString>) -> bool {
        let mut found = false;
        visit::statements(body, &mut |statement| {
            if found {
                return;
            }
            visit::expressions(statement, &mut |expression| found |= self.names_global_real(expression));
            found |= match statement {
                Statement::Directive(Directive::Ancillas(declarations)) => {
                    declarations.iter().any(|declaration| declaration.class == Some(Class::Real))
                }
                Statement::Local(local) => self.names.class_of_local(local) == Class::Real,
                Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => {
                    self.reaches_reals(&call.procedure.text, seen)
                }
                Statement::Tasks(tasks) => match &tasks.kind {
                    TaskKind::Calls(calls) => {
                        calls.iter().any(|call| self.reaches_reals(&call.procedure.text, seen))
                    }
                    TaskKind::Rounds(_) => false,
                },
                Statement::MacroUse { name, .. } => {
                    let is_new = seen.insert(name.text.clone());
                    let tree = self.macros.get(&name.text).filter(|_| is_new);
                    tree.is_some_and(|tree| self.body_reaches_reals(&tree.body, seen))
                }
                Statement::CallVia(_) => true,
                _ => false,
            };
        });
        found
    }

    fn names_global_real(&self, expression: &Expression) -> bool {
        let name = match &expression.kind {
            ExpressionKind::Name { name, .. } => name,
            ExpressionKind::Element(element) => &element.name,
            _ => return false,
        };
        self.names.is_global_real(name)
    }
}
