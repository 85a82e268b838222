//! The use of the stacks by a program.

use std::collections::HashSet;

use compact_str::CompactString;
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_isa::update::{Action, Store, Update};

use super::program::ProgramInPasses;
use crate::definitions::ProgramNames;
use crate::scopes::Names;
use crate::tree::{CallNode, Directive, InstructionNode, Operands, ShapeNode, Statement, StatementNode};
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
                    let stack = found.class_mut(class);
                    stack.is_used = true;
                    stack.is_read |= takes(instruction);
                }
            }
            Statement::Directive(Directive::Globals { role, declarations }) => {
                for declaration in declarations.iter().filter(|it| matches!(it.shape, ShapeNode::Stack)) {
                    let class = declaration.class.unwrap_or(Class::Int);
                    found.class_mut(class).is_garbage = *role == Role::Garbage && !program.is_inverse();
                }
            }
            _ => {}
        });
        if moves_backward(program, definitions) {
            (found.ints.is_read, found.reals.is_read) = (true, true);
        }
        // The class of a macro's operand depends on the use, and so does its direction.
        for tree in definitions.macros.values() {
            visit::statements(&tree.body, &mut |statement| {
                if matches!(statement, Statement::Instruction(instruction) if is_move(instruction)) {
                    (found.ints, found.reals) = (found.ints.read(), found.reals.read());
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
    fn read(self) -> StackUse {
        StackUse { is_used: true, is_read: true, ..self }
    }
}

fn takes(instruction: &InstructionNode) -> bool {
    instruction.update.action() == Action::Take(Store::Stack)
}

/// Returns true if a move on a stack may be executed backward, so that a `push` takes a value: in the first body of a
/// `compute` block, or in a procedure that such a body calls or that is uncalled.
fn moves_backward(program: &ProgramInPasses, definitions: &ProgramNames) -> bool {
    let mut search = BackwardMoves { definitions, seen: HashSet::new(), pending: Vec::new(), found: false };
    for body in std::iter::once(program.body()).chain(program.included()) {
        search.body(body, false);
    }
    for tree in definitions.macros.values() {
        search.body(&tree.body, true);
    }
    while let Some(name) = search.pending.pop() {
        if let Some(tree) = definitions.procedures.get(&name).cloned() {
            search.body(&tree.body, true);
        }
    }
    search.found
}

struct BackwardMoves<'d> {
    definitions: &'d ProgramNames,
    seen: HashSet<CompactString>,
    /// Procedures that may run backward, and weren't searched yet.
    pending: Vec<CompactString>,
    found: bool,
}

impl BackwardMoves<'_> {
    /// Searches a body, which is executed backward if `backward` is true.
    fn body(&mut self, body: &[StatementNode], backward: bool) {
        for node in body {
            match &node.statement {
                Statement::Instruction(instruction) => {
                    self.found |= backward && is_move(instruction);
                    if let Operands::Call(call) = &instruction.operands {
                        self.call(call, backward || instruction.update == Update::Uncall);
                    }
                }
                Statement::Tasks(tasks) => {
                    tasks
                        .calls()
                        .for_each(|call| self.call(call, backward || tasks.undo || tasks.rounds().is_some()));
                }
                Statement::CallVia(_) => {
                    let all = self.definitions.procedures.keys().cloned();
                    all.collect::<Vec<_>>().into_iter().for_each(|name| self.mark(name));
                }
                Statement::Compute(tree) => {
                    self.body(&tree.body, true);
                    self.body(&tree.apply, backward);
                }
                other => other.bodies().into_iter().for_each(|inner| self.body(inner, backward)),
            }
        }
    }

    fn call(&mut self, call: &CallNode, backward: bool) {
        if backward {
            self.mark(call.procedure.text.clone());
        }
    }

    fn mark(&mut self, name: CompactString) {
        if self.seen.insert(name.clone()) {
            self.pending.push(name);
        }
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
