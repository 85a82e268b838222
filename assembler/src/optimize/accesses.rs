//! The cells that a statement accesses, as nodes: a global by its name, or a variable of a procedure with all its elements.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use compact_str::CompactString;

use super::program::cell_name;
use crate::definitions::ProgramNames;
use crate::scopes::Names;
use crate::tree::{Expression, ExpressionKind, InstructionNode, Local, Operands, Statement};
use crate::visit;

/// Returns the targets of an instruction, and its other operands. Returns `None` for calls, conditions and branches.
pub(super) fn operands(instruction: &InstructionNode) -> Option<(&[Expression], &[Expression])> {
    match &instruction.operands {
        Operands::Cells(cells) => cells.split_at_checked(target_count(instruction)),
        _ => None,
    }
}

/// Returns the number of an instruction's operands that are targets.
pub(super) fn target_count(instruction: &InstructionNode) -> usize {
    instruction.update.action().shape().targets()
}

/// Visits the nodes of all cells that an expression mentions.
pub(super) fn mentioned(names: &Names, expression: &Expression, visit: &mut impl FnMut(CompactString)) {
    visit::in_expression(expression, &mut |part| {
        if let Some(name) = cell_name(part) {
            visit(names.node(name));
        }
    });
}

/// Visits the nodes of all cells that a statement mentions, without those of nested statements.
pub(super) fn all_mentioned(names: &Names, statement: &Statement, visit: &mut impl FnMut(CompactString)) {
    visit::expressions(statement, &mut |part| {
        if let Some(name) = cell_name(part) {
            visit(names.node(name));
        }
    });
    if let Statement::Local(local) | Statement::Delocal(local) = statement {
        visit(names.node(&local.name.text));
        if reads_hidden_cell(local) {
            visit(local.name.text.clone());
        }
    }
}

/// Returns true if the value of a variable mentions the name of the variable: it denotes the cell that the variable hides.
pub(super) fn reads_hidden_cell(local: &Local) -> bool {
    let mut found = false;
    local.sources.iter().for_each(|source| {
        visit::in_expression(source, &mut |part| found |= cell_name(part) == Some(&local.name.text));
    });
    found
}

/// Returns true if a statement mentions an adjoint, `x'`.
pub(super) fn names_adjoint(statement: &Statement) -> bool {
    let mut found = false;
    visit::expressions(statement, &mut |part| {
        found |= match &part.kind {
            ExpressionKind::Name { adjoint, .. } => *adjoint,
            ExpressionKind::Element(element) => element.adjoint,
            _ => false,
        };
    });
    found
}

/// The names in the bodies of macros, with those of the macros that they use.
pub(super) struct MacroNames {
    names: HashMap<CompactString, Rc<HashSet<CompactString>>>,
}

impl MacroNames {
    pub fn of(definitions: &ProgramNames) -> MacroNames {
        let mut own: HashMap<CompactString, HashSet<CompactString>> = HashMap::new();
        let mut all = HashSet::new();
        for (name, tree) in &definitions.macros {
            let names = own.entry(name.clone()).or_default();
            let mut uses_macro = false;
            visit::statements(&tree.body, &mut |statement| {
                uses_macro |= matches!(statement, Statement::MacroUse { .. });
                visit::expressions(statement, &mut |part| names.extend(cell_name(part).cloned()));
            });
            all.extend(names.iter().cloned());
            if uses_macro {
                own.remove(name);
            }
        }
        // A macro that uses other macros counts as one that mentions the names of all macros.
        let all = Rc::new(all);
        let names = definitions
            .macros
            .keys()
            .map(|name| (name.clone(), own.remove(name).map_or_else(|| all.clone(), Rc::new)));
        MacroNames { names: names.collect() }
    }

    /// Returns the nodes that a use of a macro may access, without those of its arguments. A name in a macro denotes a
    /// global, even if a variable hides the global at the use.
    pub fn nodes(&self, names: &Names, name: &str) -> Vec<CompactString> {
        let found = self.names.get(name).into_iter().flat_map(|found| found.iter());
        found.flat_map(|it| [names.node(it), it.clone()]).collect()
    }
}
