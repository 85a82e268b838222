//! The use of the stacks by a program.

use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_isa::update::{Action, Store};

use super::program::ProgramInPasses;
use crate::definitions::ProgramNames;
use crate::scopes::Names;
use crate::tree::{Directive, InstructionNode, Operands, ShapeNode, Statement};
use crate::visit;

/// The use of one stack.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StackUse {
    /// True if the stack is declared as garbage.
    pub is_garbage: bool,
    /// True if an instruction moves a value to the stack or from it.
    pub is_used: bool,
    /// True if an instruction takes a value from the stack.
    pub is_read: bool,
}

impl StackUse {
    /// Returns true if nothing depends on the values of the stack.
    pub fn is_unread_garbage(self) -> bool {
        self.is_garbage && !self.is_read
    }
}

/// The use of both stacks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StacksUse {
    ints: StackUse,
    reals: StackUse,
}

impl StacksUse {
    pub fn of(program: &ProgramInPasses, definitions: &ProgramNames) -> StacksUse {
        let mut found = StacksUse::default();
        program.visit(&definitions.names, &mut |names, statement| match statement {
            Statement::Instruction(instruction) => {
                if let Some(class) = class_on_stack(names, instruction) {
                    found.class_mut(class).count(instruction);
                }
            }
            Statement::Directive(Directive::Globals { role, declarations }) => {
                for declaration in declarations.iter().filter(|it| matches!(it.shape, ShapeNode::Stack)) {
                    let class = declaration.class.unwrap_or(Class::Int);
                    found.class_mut(class).is_garbage = *role == Role::Garbage;
                }
            }
            _ => {}
        });
        // The class of a macro's operand depends on the use.
        for tree in definitions.macros.values() {
            visit::statements(&tree.body, &mut |statement| {
                if let Statement::Instruction(instruction) = statement
                    && is_move(instruction)
                {
                    found.ints.count(instruction);
                    found.reals.count(instruction);
                }
            });
        }
        found
    }

    pub fn class(&self, class: Class) -> StackUse {
        if class == Class::Int { self.ints } else { self.reals }
    }

    fn class_mut(&mut self, class: Class) -> &mut StackUse {
        if class == Class::Int { &mut self.ints } else { &mut self.reals }
    }

    /// Returns true if an instruction pushes a value on a stack whose values nothing depends on.
    pub fn is_unread_push(&self, names: &Names, instruction: &InstructionNode) -> bool {
        instruction.update.action() == Action::Put(Store::Stack)
            && class_on_stack(names, instruction).is_some_and(|class| self.class(class).is_unread_garbage())
    }
}

impl StackUse {
    fn count(&mut self, instruction: &InstructionNode) {
        self.is_used = true;
        self.is_read |= instruction.update.action() == Action::Take(Store::Stack);
    }
}

fn is_move(instruction: &InstructionNode) -> bool {
    matches!(instruction.update.action(), Action::Put(Store::Stack) | Action::Take(Store::Stack))
}

/// Returns the class of the value that an instruction moves to or from a stack.
fn class_on_stack(names: &Names, instruction: &InstructionNode) -> Option<Class> {
    match &instruction.operands {
        Operands::Cells(cells) if is_move(instruction) => cells.first().map(|cell| names.kind(cell).class),
        _ => None,
    }
}
