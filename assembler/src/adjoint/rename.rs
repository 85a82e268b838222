//! Names of adjoints (`x'`) in the bodies of rules, which become names of cells; and the search for names of reals.

use std::collections::HashSet;

use compact_str::CompactString;
use reviver_isa::instruction::Class;

use super::emitter::Emitter;
use super::fresh::adjoint_of;
use crate::tree::{
    Body, Condition, ConditionKind, Directive, Expression, ExpressionKind, InstructionNode, Operands,
    Statement, Subscript, TaskKind,
};
use crate::visit;

impl Emitter<'_> {
    /// Replaces names of adjoints in a body by the names of their cells.
    pub(super) fn name_adjoints(&self, body: &mut Body) {
        for node in body {
            match &mut node.statement {
                Statement::Instruction(InstructionNode { operands, .. }) => match operands {
                    Operands::Cells(cells) => cells.iter_mut().for_each(|cell| self.named(cell)),
                    Operands::Condition(condition) | Operands::Branch { condition, .. } => {
                        self.named_in(condition);
                    }
                    Operands::Call(call) => call.arguments.iter_mut().for_each(|cell| self.named(cell)),
                },
                Statement::MacroUse { arguments, .. } => {
                    arguments.iter_mut().for_each(|argument| self.named(argument));
                }
                Statement::If(tree) => {
                    [&mut tree.entry, &mut tree.exit].into_iter().for_each(|it| self.named_in(it))
                }
                Statement::Loop(tree) => {
                    [&mut tree.entry, &mut tree.exit].into_iter().for_each(|it| self.named_in(it))
                }
                Statement::Local(local) | Statement::Delocal(local) => {
                    local.sources.iter_mut().for_each(|source| self.named(source));
                }
                _ => {}
            }
            node.statement.bodies_mut().into_iter().for_each(|body| self.name_adjoints(body));
        }
    }

    fn named_in(&self, condition: &mut Condition) {
        match &mut condition.kind {
            ConditionKind::Always | ConditionKind::Forgotten => {}
            ConditionKind::Compare(_, a, b) => {
                self.named(a);
                self.named(b);
            }
            ConditionKind::Not(inner) => self.named_in(inner),
            ConditionKind::And(a, b) | ConditionKind::Or(a, b) => {
                self.named_in(a);
                self.named_in(b);
            }
        }
    }

    fn named(&self, expression: &mut Expression) {
        match &mut expression.kind {
            ExpressionKind::Name { adjoint: true, .. } => *expression = adjoint_of(&self.fresh, expression),
            ExpressionKind::Element(element) => {
                for subscript in &mut element.subscripts {
                    if let Subscript::At(index) = subscript {
                        self.named(index);
                    }
                }
                if element.adjoint {
                    *expression = adjoint_of(&self.fresh, expression);
                }
            }
            ExpressionKind::Unary(_, operand) => self.named(operand),
            ExpressionKind::Binary(_, sides) => sides.iter_mut().for_each(|side| self.named(side)),
            ExpressionKind::Apply(application) => {
                application.sources.iter_mut().for_each(|source| self.named(source));
            }
            _ => {}
        }
    }

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
