//! Statements outside of gradient mode, in a program that switches the mode. They are preserved, but procedures and macros
//! that switch the mode or name adjoints get the adjoints of their arguments, and locals have adjoints where the mode may
//! be switched on while they are open.

use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use super::involved;
use crate::adjoint::emitter::Emitter;
use crate::adjoint::variants::{MacroArgument, MacroVariant, Variant};
use crate::build;
use crate::depths::Depths;
use crate::scopes::{Bound, CellShape};
use crate::tree::{
    Body, CallNode, Directive, Expression, ExpressionKind, InstructionNode, Local, Name, Operands, Statement,
    StatementNode,
};
use crate::visit;

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

    /// Returns the name of a parameter as the name of its adjoint: the macro gets an adjoint for it.
    pub(in crate::adjoint) fn adjoint_parameters(
        &self,
        variant: &MacroVariant,
        parameters: &[Name],
        body: &mut Body,
    ) {
        let adjoints: Vec<&CompactString> = parameters
            .iter()
            .zip(&variant.arguments)
            .filter(|(_, argument)| **argument == MacroArgument::Adjoint)
            .map(|(parameter, _)| &parameter.text)
            .collect();
        if adjoints.is_empty() {
            return;
        }
        visit::each_expression_mut(body, &mut |expression| {
            if let ExpressionKind::Name { name, adjoint } = &mut expression.kind
                && adjoints.contains(&&**name)
            {
                *adjoint = true;
            }
        });
    }

    /// Replaces adjoints of depth 1 by cells, and lowers the other depths, in a body that is complete.
    pub(in crate::adjoint) fn lower_depths(&self, body: &mut Body) {
        for node in body {
            visit::expressions_mut(&mut node.statement, &mut |expression| self.lower_depth(expression));
            if let Some(switch) = involved::switch(&node.statement)
                && let Statement::Instruction(instruction) = &mut node.statement
            {
                let operand = (switch.depth > 2).then(|| build::int(u64::from(switch.depth) - 1));
                instruction.operands = Operands::Cells(operand.into_iter().collect());
            }
            node.statement.bodies_mut().into_iter().for_each(|body| self.lower_depths(body));
        }
    }

    fn lower_depth(&self, expression: &mut Expression) {
        let (name, is_adjoint) = match &mut expression.kind {
            ExpressionKind::Name { name, adjoint } => (name, adjoint),
            ExpressionKind::Element(element) => (&mut element.name, &mut element.adjoint),
            _ => return,
        };
        let (cell, depths) = Depths::of(name, *is_adjoint);
        if depths.deepest() == 0 {
            return;
        }
        let cell = if depths.has_first() { self.fresh.adjoint(cell) } else { cell.into() };
        let lowered = depths.lowered();
        let (named, marked) = match lowered.is_first_or_none() {
            Some(is_first) => (cell, is_first),
            None => (lowered.name(&cell), false),
        };
        (*name, *is_adjoint) = (Rc::new(named), marked);
    }
}
