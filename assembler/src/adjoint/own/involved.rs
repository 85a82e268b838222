//! The parts of a program that its own gradient mode concerns: procedures and macros that switch the mode or name adjoints.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::update::Action;

use crate::depths::Depths;
use crate::tree::{
    Body, Expression, ExpressionKind, InstructionNode, Macro, Operands, ProcedureNode, Statement,
    StatementNode,
};
use crate::visit;

/// The procedures and macros of a program by the use that they make of gradient mode.
#[derive(Debug, Default)]
pub(in crate::adjoint) struct Involved {
    /// Those that switch the mode, also by others that they call.
    switching: HashSet<CompactString>,
    /// Those that switch the mode or name adjoints, also by others that they call.
    involved: HashSet<CompactString>,
    macros: HashMap<CompactString, Rc<Macro>>,
}

impl Involved {
    /// Finds the procedures and macros. Rules are left out: they belong to every depth.
    pub fn of(
        procedures: &HashMap<CompactString, Rc<ProcedureNode>>,
        macros: &HashMap<CompactString, Rc<Macro>>,
    ) -> Involved {
        let rules: HashSet<&str> =
            procedures.values().flat_map(|it| it.rules()).map(|rule| rule.text.as_str()).collect();
        let bodies = procedures.values().map(|it| (&it.name.text, &it.body));
        let bodies: Vec<_> = bodies
            .filter(|(name, _)| !rules.contains(name.as_str()))
            .chain(macros.values().map(|it| (&it.name.text, &it.body)))
            .collect();
        let mut found = Involved { macros: macros.clone(), ..Involved::default() };
        loop {
            let before = found.switching.len() + found.involved.len();
            for (name, body) in &bodies {
                if found.switches(body) {
                    found.switching.insert((*name).clone());
                }
                if found.involves(body) {
                    found.involved.insert((*name).clone());
                }
            }
            if found.switching.len() + found.involved.len() == before {
                return found;
            }
        }
    }

    /// Returns true if a procedure or macro switches the mode or names adjoints.
    pub fn is_involved(&self, name: &str) -> bool {
        self.involved.contains(name)
    }

    /// Returns true if a procedure or macro switches the mode.
    pub fn is_switching(&self, name: &str) -> bool {
        self.switching.contains(name)
    }

    /// Returns true if statements switch the mode.
    pub fn switches(&self, body: &[StatementNode]) -> bool {
        let mut found = false;
        visit::statements(body, &mut |statement| {
            found |= switch(statement).is_some_and(|it| it.depth == 1)
                || named(statement).any(|name| self.switching.contains(name));
        });
        found
    }

    /// Returns true if statements switch the mode or name adjoints of depth 1.
    pub fn involves(&self, body: &[StatementNode]) -> bool {
        let mut found = self.switches(body);
        visit::statements(body, &mut |statement| {
            found |= named(statement).any(|name| self.involved.contains(name));
            visit::expressions(statement, &mut |expression| found |= is_adjoint(expression));
        });
        found
    }

    /// Returns whether the mode is on after statements that begin in a mode.
    pub fn after(&self, body: &[StatementNode], is_on: bool) -> bool {
        body.iter().fold(is_on, |is_on, node| match &node.statement {
            Statement::MacroUse { name, undo, .. } => self.after_macro(&name.text, *undo, is_on),
            Statement::If(tree) => self.after(&tree.then, is_on),
            Statement::Loop(tree) => self.after(&tree.first, is_on),
            other => switch(other).filter(|it| it.depth == 1).map_or(is_on, |it| it.is_on),
        })
    }

    /// Returns whether the mode is on after statements are undone.
    fn before(&self, body: &[StatementNode], is_on: bool) -> bool {
        body.iter().rev().fold(is_on, |is_on, node| match &node.statement {
            Statement::MacroUse { name, undo, .. } => self.after_macro(&name.text, !undo, is_on),
            Statement::If(tree) => self.before(&tree.then, is_on),
            Statement::Loop(tree) => self.before(&tree.first, is_on),
            other => switch(other).filter(|it| it.depth == 1).map_or(is_on, |it| !it.is_on),
        })
    }

    /// Returns whether the mode is on after the use of a macro.
    pub fn after_macro(&self, name: &str, undo: bool, is_on: bool) -> bool {
        let Some(tree) = self.macros.get(name).filter(|_| self.is_switching(name)) else { return is_on };
        match undo {
            true => self.before(&tree.body, is_on),
            false => self.after(&tree.body, is_on),
        }
    }
}

/// An instruction that switches gradient mode.
#[derive(Clone, Copy, Debug)]
pub(in crate::adjoint) struct Switch {
    pub is_on: bool,
    pub depth: u32,
}

/// Returns the switch that a statement is; `None` for other statements.
pub(in crate::adjoint) fn switch(statement: &Statement) -> Option<Switch> {
    let Statement::Instruction(InstructionNode { update, operands: Operands::Cells(cells), .. }) = statement
    else {
        return None;
    };
    let Action::Switch(is_on) = update.action() else { return None };
    let depth = match cells.first().map(|cell| &cell.kind) {
        Some(ExpressionKind::Int { value, .. }) => u32::try_from(*value).unwrap_or(u32::MAX),
        _ => 1,
    };
    Some(Switch { is_on, depth })
}

/// Returns the procedures and macros that a statement names.
pub(in crate::adjoint) fn named(statement: &Statement) -> impl Iterator<Item = &str> {
    let mut names = Vec::new();
    match statement {
        Statement::MacroUse { name, .. } => names.push(name.text.as_str()),
        Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => {
            names.push(call.procedure.text.as_str());
        }
        Statement::Tasks(tasks) => names.extend(tasks.calls().map(|call| call.procedure.text.as_str())),
        _ => {}
    }
    names.into_iter()
}

/// Returns the cell and the depths that an expression names.
pub(in crate::adjoint) fn depths(expression: &Expression) -> Depths {
    match &expression.kind {
        ExpressionKind::Name { name, adjoint } => Depths::of(name, *adjoint).1,
        ExpressionKind::Element(element) => Depths::of(&element.name, element.adjoint).1,
        _ => Depths::default(),
    }
}

/// Returns the name of the cells whose adjoint of depth 1 only an expression names.
pub(in crate::adjoint) fn adjoint_name(expression: &Expression) -> Option<&CompactString> {
    match &expression.kind {
        ExpressionKind::Name { name, adjoint: true } => Some(name),
        ExpressionKind::Element(element) if element.adjoint => Some(&element.name),
        _ => None,
    }
}

/// Returns true if an expression names an adjoint of depth 1.
pub(in crate::adjoint) fn is_adjoint(expression: &Expression) -> bool {
    depths(expression).has_first()
}

/// Returns the greatest depth of gradient mode in a program; 0 if the program doesn't switch the mode.
pub(in crate::adjoint) fn deepest(body: &Body) -> u32 {
    let mut found = 0;
    visit::statements(body, &mut |statement| {
        found = found.max(switch(statement).map_or(0, |it| it.depth));
        visit::expressions(statement, &mut |expression| {
            let depth = depths(expression).deepest();
            found = found.max(if depth > 1 { depth } else { 0 });
        });
    });
    found
}

/// Returns true if gradient mode of depth 1 is switched on only within first bodies of `compute` blocks, which undo all that
/// they do.
pub(in crate::adjoint) fn is_balanced(body: &Body) -> bool {
    body.iter().all(|node| match &node.statement {
        Statement::Compute(tree) => is_balanced(&tree.apply),
        other => switch(other).is_none_or(|it| it.depth > 1) && other.bodies().into_iter().all(is_balanced),
    })
}
