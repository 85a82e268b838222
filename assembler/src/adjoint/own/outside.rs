//! Statements outside of gradient mode, in a program that switches the mode. They are preserved, but procedures and macros
//! that switch the mode or name adjoints get the adjoints of their arguments, and locals have adjoints where the mode may
//! be switched on while they are open.

use std::rc::Rc;

use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use crate::adjoint::emitter::Emitter;
use crate::adjoint::variants::{MacroVariant, Variant};
use crate::build;
use crate::scopes::{Bound, CellShape};
use crate::tree::{
    Body, CallNode, Directive, Expression, InstructionNode, Local, Name, Operands, Statement, StatementNode,
};

impl Emitter {
    /// Appends a statement that is executed outside of gradient mode.
    pub(in crate::adjoint) fn outside(&mut self, node: &StatementNode, made: &mut Body) {
        match &node.statement {
            Statement::Instruction(InstructionNode { operands: Operands::Call(_), .. })
                if self.special(node, made) => {}
            Statement::Instruction(InstructionNode { update, operands: Operands::Call(call), .. }) => {
                self.call_outside(node, (*update, call), made);
            }
            Statement::Instruction(InstructionNode { operands: Operands::Branch { .. }, .. }) => {
                self.branch(node, made);
            }
            Statement::Instruction(_) if self.special(node, made) => {}
            Statement::MacroUse { name, arguments, undo } if self.is_involved(&name.text) => {
                self.macro_outside((name, *undo), arguments, made);
            }
            Statement::Local(local) => self.open_outside(node, local, made),
            Statement::Delocal(local) => self.close_outside(node, local, made),
            Statement::Directive(Directive::Ancillas(_))
            | Statement::If(_)
            | Statement::Loop(_)
            | Statement::For(_)
            | Statement::Compute(_) => self.in_mode(node, made),
            Statement::Tasks(tasks) if tasks.calls().any(|call| self.is_involved(&call.procedure.text)) => {
                made.extend(self.statements(&tasks.in_order()));
            }
            Statement::Empty | Statement::Procedure(_) | Statement::Macro(_) => {}
            Statement::Instruction(_) => self.stays(node, made),
            _ => made.push(self.own_statement(node)),
        }
    }

    pub(in crate::adjoint) fn is_involved(&self, name: &str) -> bool {
        self.own.as_ref().is_some_and(|own| own.involved.is_involved(name))
    }

    pub(in crate::adjoint) fn is_switching(&self, name: &str) -> bool {
        self.own.as_ref().is_some_and(|own| own.involved.is_switching(name))
    }

    /// Appends a call. A procedure that concerns gradient mode gets the adjoints of its arguments.
    fn call_outside(&mut self, node: &StatementNode, (update, call): (Update, &CallNode), made: &mut Body) {
        if !self.is_involved(&call.procedure.text) {
            return made.push(self.own_statement(node));
        }
        let Some(procedure) = self.procedures.get(&call.procedure.text).map(Rc::clone) else { return };
        let passed = self.passed(&procedure.parameters, &call.arguments);
        let name = call.procedure.text.clone();
        let variant = Variant { name, is_forward: true, is_on: false, adjoints: passed.adjoints.clone() };
        let name = self.variant(variant);
        let call = build::call(update, &name, passed.arguments.clone());
        made.extend(passed.around(call));
    }

    /// Appends the use of a macro whose body keeps its order, also if the use is undone.
    pub(in crate::adjoint) fn macro_outside(
        &mut self,
        (name, undo): (&Name, bool),
        arguments: &[Expression],
        made: &mut Body,
    ) {
        let Some(own) = &self.own else { return };
        let (before, after) = (own.is_on, own.involved.after_macro(&name.text, undo, own.is_on));
        let is_on = if undo { after } else { before };
        let passed = self.macro_arguments(arguments);
        let variant =
            MacroVariant { name: name.text.clone(), undo: false, is_on, arguments: passed.kinds.clone() };
        let name = Box::new(build::name(&self.macro_variant(variant)));
        let arguments = passed.passed.clone().into();
        let used = build::node(Statement::MacroUse { name, arguments, undo });
        made.extend(passed.around(used));
        self.set_on(after);
    }

    fn open_outside(&mut self, node: &StatementNode, local: &Local, made: &mut Body) {
        made.push(self.own_statement(node));
        let class = self.names.class_of_local(local);
        if self.has_adjoint(class) {
            made.extend(self.open_adjoint(local));
        } else {
            self.names.bind_local(local);
        }
    }

    /// Closes a local. Its adjoint must be 0, because only gradient mode drops adjoints.
    fn close_outside(&mut self, node: &StatementNode, local: &Local, made: &mut Body) {
        let bound = self.names.find(&local.name.text);
        if let Some(Bound::Cells { class: Class::Real, shape: CellShape::Lengths(lengths) }) = bound
            && self.has_adjoint(Class::Real)
        {
            let adjoint = self.fresh.adjoint(&local.name.text);
            made.push(build::node(Statement::Delocal(Box::new(build::local(&adjoint, lengths, None)))));
        }
        made.push(self.own_statement(node));
    }
}
