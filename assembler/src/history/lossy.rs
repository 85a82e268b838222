//! The procedures and macros that discard values.

use std::collections::HashSet;

use compact_str::CompactString;

use crate::keep::is_forgotten;
use crate::tree::{Body, Directive, InstructionNode, KeptStrategy, Operands, ProcedureNode, Statement};
use crate::visit;

/// The procedures and macros that discard values, also by others that they use. Procedures with a strategy keep them.
#[derive(Debug, Default)]
pub(super) struct Lossy {
    names: HashSet<CompactString>,
}

impl Lossy {
    pub fn of(trees: &[Body]) -> Lossy {
        let mut found = Lossy::default();
        loop {
            let before = found.names.len();
            for node in trees.iter().flatten() {
                match &node.statement {
                    Statement::Procedure(tree) if strategy(tree).is_none() && found.discards(&tree.body) => {
                        found.names.insert(tree.name.text.clone());
                    }
                    Statement::Macro(tree) if found.discards(&tree.body) => {
                        found.names.insert(tree.name.text.clone());
                    }
                    _ => {}
                }
            }
            if found.names.len() == before {
                return found;
            }
        }
    }

    /// Returns true for a procedure or a macro that discards values.
    pub fn is_lossy(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns true if statements discard values.
    pub fn discards(&self, body: &Body) -> bool {
        let mut found = false;
        visit::statements(body, &mut |statement| {
            found |= match statement {
                Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => {
                    self.is_lossy(&call.procedure.text)
                }
                Statement::Instruction(instruction) => !instruction.update.is_reversible(),
                Statement::If(tree) => is_forgotten(&tree.exit),
                Statement::Loop(tree) => is_forgotten(&tree.entry),
                Statement::MacroUse { name, .. } => self.is_lossy(&name.text),
                _ => false,
            };
        });
        found
    }
}

/// Returns the strategy of a procedure.
pub(super) fn strategy(procedure: &ProcedureNode) -> Option<KeptStrategy> {
    procedure.body.iter().find_map(|node| match &node.statement {
        Statement::Directive(Directive::Strategy(strategy)) => Some(*strategy),
        _ => None,
    })
}
