//! The effects of statements: the cells and stores that they read and write, by name. In one body, different cells have
//! different names, apart from parameters and globals, which a caller may have passed.

use std::collections::HashMap;
use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::module::Passing;
use reviver_isa::update::{Action, Store};

use super::accesses::{operands, reads_hidden_cell};
use super::program::cell_name;
use crate::definitions::ProgramNames;
use crate::tree::{
    Body, CallNode, Directive, Expression, InstructionNode, Operands, ProcedureNode, Statement, StatementNode,
};
use crate::visit;

/// The name of both stacks. No cell has such a name.
const STACKS: &str = "the stacks";
/// The name of the cells that a caller may have passed.
const OUTER: &str = "cells of the caller";

/// The prefix of globals that a called procedure accesses. A variable of the caller can have the name of the global.
const CALLEE: &str = "global ";

/// Upper bound on the depth of calls. A procedure that is called more deeply counts as one that may access all cells.
const DEEPEST: usize = 200;

/// Upper bound on the globals of a procedure. A procedure that accesses more of them counts as one that may access all cells.
const GLOBALS: usize = 256;

/// The effects of a statement, with those of nested statements and of called procedures.
#[derive(Clone, Debug)]
pub(super) struct Effects {
    /// The accessed cells and stores by name. The value is true if the statement may write to the cell.
    pub accesses: HashMap<CompactString, bool>,
    /// True if the statement may access all cells.
    pub accesses_all: bool,
    /// True if the statement changes cells and stacks only: it prints nothing, checks nothing, and loses no value.
    pub is_pure: bool,
}

impl Effects {
    fn none() -> Effects {
        Effects { accesses: HashMap::new(), accesses_all: false, is_pure: true }
    }

    fn all() -> Effects {
        Effects { accesses: HashMap::new(), accesses_all: true, is_pure: false }
    }

    fn access(&mut self, name: &str, is_written: bool) {
        *self.accesses.entry(name.into()).or_default() |= is_written;
    }

    fn read(&mut self, expression: &Expression) {
        visit::in_expression(expression, &mut |part| {
            cell_name(part).into_iter().for_each(|name| self.access(name, false));
        });
    }

    fn include(&mut self, other: &Effects) {
        other.accesses.iter().for_each(|(name, is_written)| self.access(name, *is_written));
        self.accesses_all |= other.accesses_all;
        self.is_pure &= other.is_pure;
    }

    /// Returns true if neither statement accesses a cell that the other one writes to.
    pub fn commutes_with(&self, other: &Effects) -> bool {
        let conflicts = |name: &CompactString, is_written: &bool| {
            other.accesses.get(name).is_some_and(|other| *other || *is_written)
        };
        !self.accesses_all
            && !other.accesses_all
            && !self.accesses.iter().any(|(name, is_written)| conflicts(name, is_written))
    }
}

/// The effects of a program's statements.
pub(super) struct ProgramEffects<'d> {
    definitions: &'d ProgramNames,
    /// The effects of procedures on globals and stores. `None` while they are computed.
    procedures: HashMap<CompactString, Option<Rc<Effects>>>,
    /// The names of each procedure that denote no global.
    own: HashMap<CompactString, Rc<HashMap<CompactString, bool>>>,
    /// The number of procedures whose effects are being computed.
    depth: usize,
}

fn is_of_callee(name: &str) -> bool {
    name.starts_with(CALLEE) || name == STACKS
}

/// Returns the name of a global that a called procedure accesses.
fn called_global((name, is_written): (&CompactString, &bool)) -> Option<(CompactString, bool)> {
    name.strip_prefix(CALLEE).map(|name| (name.into(), *is_written))
}

impl<'d> ProgramEffects<'d> {
    pub fn new(definitions: &'d ProgramNames) -> ProgramEffects<'d> {
        ProgramEffects { definitions, procedures: HashMap::new(), own: HashMap::new(), depth: 0 }
    }

    /// Returns the effects of a statement in a procedure, whose name is empty for main.
    pub fn of(&mut self, owner: &str, statement: &Statement) -> Effects {
        let mut effects = Effects::none();
        self.add(statement, &mut effects);
        // A global that a called procedure accesses may be visible here under its name.
        let called: Vec<(CompactString, bool)> = effects.accesses.iter().filter_map(called_global).collect();
        called.iter().for_each(|(name, is_written)| effects.access(name, *is_written));
        if let Some(procedure) = self.definitions.procedures.get(owner).cloned() {
            let all = self.of_procedure(&procedure);
            if all.accesses_all || !all.accesses.is_empty() {
                // A global that the procedure accesses may have been passed to it, too.
                let own = self.own_names(&procedure);
                let outer = |name: &CompactString| own.get(name).is_none_or(|is_parameter| *is_parameter);
                let written =
                    effects.accesses.iter().filter(|(name, _)| outer(name)).map(|(_, written)| *written);
                if let Some(is_written) = written.reduce(|a, b| a || b) {
                    effects.access(OUTER, is_written);
                }
            }
        }
        effects
    }

    /// Returns the names that denote no global in a procedure. Before a `local`, and after its `delocal`, the name of
    /// the variable denotes the global that the variable hides.
    fn own_names(&mut self, procedure: &ProcedureNode) -> Rc<HashMap<CompactString, bool>> {
        let globals = &self.definitions.names;
        let found = self.own.entry(procedure.name.text.clone()).or_insert_with(|| {
            let mut own = own_names(procedure);
            own.retain(|name, is_parameter| *is_parameter || !globals.declares(name));
            Rc::new(own)
        });
        found.clone()
    }

    /// Returns the effects of a body in a procedure.
    pub fn of_body(&mut self, owner: &str, body: &[StatementNode]) -> Effects {
        let mut effects = Effects::none();
        for node in body {
            effects.include(&self.of(owner, &node.statement));
        }
        effects
    }

    fn add_body(&mut self, body: &Body, effects: &mut Effects) {
        body.iter().for_each(|node| self.add(&node.statement, effects));
    }

    fn add(&mut self, statement: &Statement, effects: &mut Effects) {
        match statement {
            Statement::Empty | Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_) => {}
            Statement::Instruction(instruction) => self.add_instruction(instruction, effects),
            Statement::Local(local) | Statement::Delocal(local) => {
                if reads_hidden_cell(local) {
                    effects.include(&Effects::all());
                }
                effects.access(&local.name.text, true);
                local.sources.iter().chain(&local.shape).for_each(|source| effects.read(source));
            }
            Statement::If(_) | Statement::Loop(_) | Statement::For(_) | Statement::Compute(_) => {
                visit::expressions(statement, &mut |part| {
                    cell_name(part).into_iter().for_each(|name| effects.access(name, false));
                });
                statement.bodies().into_iter().for_each(|body| self.add_body(body, effects));
            }
            Statement::MacroUse { .. } | Statement::Tasks(_) | Statement::CallVia(_) => {
                effects.include(&Effects::all());
            }
        }
    }

    fn add_instruction(&mut self, instruction: &InstructionNode, effects: &mut Effects) {
        if let Operands::Call(call) = &instruction.operands {
            return self.add_call(call, effects);
        }
        let Some((targets, sources)) = operands(instruction) else {
            // Conditions and branches.
            return match &instruction.operands {
                Operands::Condition(_) => {
                    effects.is_pure = false;
                    let statement = Statement::Instruction(instruction.clone());
                    visit::expressions(&statement, &mut |part| {
                        cell_name(part).into_iter().for_each(|name| effects.access(name, false));
                    });
                }
                _ => effects.include(&Effects::all()),
            };
        };
        for target in targets {
            effects.read(target);
            cell_name(target).into_iter().for_each(|name| effects.access(name, true));
        }
        sources.iter().for_each(|source| effects.read(source));
        match instruction.update.action() {
            Action::Accumulate | Action::Map | Action::Exchange | Action::Rotate => {}
            Action::Put(Store::Stack) | Action::Take(Store::Stack) => effects.access(STACKS, true),
            Action::Clear | Action::Replace | Action::Erase(_) | Action::Show => effects.is_pure = false,
            _ => effects.include(&Effects::all()),
        }
    }

    fn add_call(&mut self, call: &CallNode, effects: &mut Effects) {
        let Some(procedure) = self.definitions.procedures.get(&call.procedure.text) else {
            return effects.include(&Effects::all());
        };
        effects.include(&self.of_procedure(procedure));
        for (parameter, argument) in procedure.parameters.iter().zip(&call.arguments) {
            effects.read(argument);
            if parameter.passing == Passing::InOut {
                cell_name(argument).into_iter().for_each(|name| effects.access(name, true));
            }
        }
    }

    /// Returns the effects of a procedure on globals and stores.
    fn of_procedure(&mut self, procedure: &ProcedureNode) -> Rc<Effects> {
        let name = &procedure.name.text;
        match self.procedures.get(name) {
            Some(Some(found)) => return found.clone(),
            // The procedure is recursive.
            Some(None) => return Rc::new(Effects::all()),
            None => {}
        }
        if self.depth >= DEEPEST {
            return Rc::new(Effects::all());
        }
        self.procedures.insert(name.clone(), None);
        self.depth += 1;
        let mut effects = Effects::none();
        self.add_body(&procedure.body, &mut effects);
        self.depth -= 1;
        let own = self.own_names(procedure);
        let accesses = std::mem::take(&mut effects.accesses);
        for (name, is_written) in accesses {
            match own.contains_key(&name) {
                true => {}
                false if is_of_callee(&name) => effects.access(&name, is_written),
                false => effects.access(&format!("{CALLEE}{name}"), is_written),
            }
        }
        if effects.accesses.len() > GLOBALS {
            effects = Effects::all();
        }
        let effects = Rc::new(effects);
        self.procedures.insert(name.clone(), Some(effects.clone()));
        effects
    }
}

/// Returns the names that a procedure declares. The value is true for a parameter.
pub(super) fn own_names(procedure: &ProcedureNode) -> HashMap<CompactString, bool> {
    let mut own = HashMap::new();
    visit_declared(&procedure.body, &mut |name| own.extend([(name.clone(), false)]));
    own.extend(procedure.parameters.iter().map(|it| (it.name.text.clone(), true)));
    own
}

/// Visits the names of the variables that a body declares.
pub(super) fn visit_declared(body: &[StatementNode], visit: &mut impl FnMut(&CompactString)) {
    visit::statements(body, &mut |statement| match statement {
        Statement::Directive(Directive::Ancillas(declarations)) => {
            declarations.iter().for_each(|it| visit(&it.name.text));
        }
        Statement::Local(local) => visit(&local.name.text),
        Statement::For(tree) => visit(&tree.counter.text),
        Statement::Tasks(tasks) => tasks.rounds().iter().for_each(|tree| visit(&tree.counter.text)),
        _ => {}
    });
}
