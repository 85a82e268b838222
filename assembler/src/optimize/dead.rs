//! Dead statements: those that change only cells that nothing reads. Results are read by the user, so they stay; garbage
//! that nothing reads is removed.
//!
//! Reversibility doesn't keep a statement alive. If no statement reads a cell, then no statement reads it in a backward
//! run, either.
//!
//! The analysis ignores the order of statements. A cell is *live* if it is a result, or if a statement that can't be
//! removed mentions it. The cells that a statement mentions are live if one of its targets is live.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_isa::update::{Action, Store};

use super::accesses::{MacroNames, all_mentioned, names_adjoint, operands};
use super::program::{ProgramInPasses, cell_name};
use super::stack_use::StacksUse;
use crate::scopes::{Names, local_node};
use crate::tree::{Body, DeclarationNode, Directive, InstructionNode, ShapeNode, Statement, StatementNode};

/// Removes statements whose results nothing reads. Returns true if the program has changed.
pub(super) fn run(program: &mut ProgramInPasses) -> bool {
    let definitions = program.definitions();
    let stacks = StacksUse::of(program, &definitions);
    let macros = MacroNames::of(&definitions);
    let is_inverse = program.is_inverse();
    let mut liveness = Liveness { is_inverse, ..Liveness::default() };
    for (name, tree) in &definitions.procedures {
        // A parameter denotes a cell of the caller.
        liveness.roots.extend(tree.parameters.iter().map(|it| local_node(name, &it.name.text)));
    }
    definitions.names.clone().visit(program.body(), &mut |names, statement| {
        liveness.statement(names, statement, (&stacks, &macros));
    });
    for body in program.included() {
        definitions.names.clone().visit(body, &mut |names, statement| {
            all_mentioned(names, statement, &mut |node| liveness.roots.push(node));
        });
    }
    let dead = DeadCells { live: liveness.solve(), stacks };
    let mut changed = false;
    program.rewrite(&definitions.names, &mut |names: &Names, mut node: StatementNode, made: &mut Body| {
        if node.label.is_some() {
            return made.push(node);
        }
        match &mut node.statement {
            Statement::Directive(Directive::Globals { role, declarations }) => {
                let is_removable = is_removable(*role, is_inverse);
                let count = declarations.len();
                declarations.retain(|it| !is_removable || dead.keeps(names, it));
                changed |= declarations.len() < count;
                if !declarations.is_empty() {
                    made.push(node);
                }
            }
            Statement::Directive(Directive::Ancillas(declarations)) => {
                let count = declarations.len();
                declarations.retain(|it| dead.keeps(names, it));
                changed |= declarations.len() < count;
                if !declarations.is_empty() {
                    made.push(node);
                }
            }
            Statement::Compute(tree) if is_empty(&tree.body) && !opens_variable(&tree.apply) => {
                changed = true;
                made.append(&mut tree.apply);
            }
            other if is_empty_block(other) || dead.is_dead(names, other) => changed = true,
            _ => made.push(node),
        }
    });
    changed
}

/// The cells that nothing reads.
struct DeadCells {
    live: HashSet<CompactString>,
    stacks: StacksUse,
}

impl DeadCells {
    fn is_dead(&self, names: &Names, statement: &Statement) -> bool {
        let targets = removable_targets(names, statement, &self.stacks);
        targets.is_some_and(|targets| !targets.iter().any(|target| self.live.contains(target)))
    }

    fn keeps(&self, names: &Names, declaration: &DeclarationNode) -> bool {
        match declaration.shape {
            ShapeNode::Stack => self.stacks.class(declaration.class.unwrap_or(Class::Int)).is_used,
            ShapeNode::Lengths(_) => self.live.contains(&names.node(&declaration.name.text)),
        }
    }
}

/// The dependencies between the cells of a program.
#[derive(Default)]
struct Liveness {
    /// The cells that are live, whatever the others are.
    roots: Vec<CompactString>,
    /// For each cell, the cells that its statements mention.
    mentions: HashMap<CompactString, HashSet<CompactString>>,
    /// True if the program is an inverse, so that its garbage is given.
    is_inverse: bool,
}

/// Returns true if the user neither gives nor needs the cells of a role.
fn is_removable(role: Role, is_inverse: bool) -> bool {
    role == Role::Private || role == Role::Garbage && !is_inverse
}

impl Liveness {
    fn statement(
        &mut self,
        names: &Names,
        statement: &Statement,
        (stacks, macros): (&StacksUse, &MacroNames),
    ) {
        match statement {
            // A declaration mentions only constants, apart from its own cells.
            Statement::Directive(Directive::Globals { role, declarations }) => {
                let stays = !is_removable(*role, self.is_inverse);
                let results = declarations.iter().filter(|_| stays);
                self.roots.extend(results.map(|it| names.node(&it.name.text)));
            }
            Statement::Directive(_) => {}
            Statement::MacroUse { name, .. } => {
                all_mentioned(names, statement, &mut |node| self.roots.push(node));
                self.roots.extend(macros.nodes(names, &name.text));
            }
            _ => match removable_targets(names, statement, stacks) {
                None => all_mentioned(names, statement, &mut |node| self.roots.push(node)),
                Some(targets) => {
                    for target in targets {
                        let mentions = self.mentions.entry(target).or_default();
                        all_mentioned(names, statement, &mut |node| {
                            mentions.insert(node);
                        });
                    }
                }
            },
        }
    }

    /// Returns the live cells.
    fn solve(mut self) -> HashSet<CompactString> {
        let mut live = HashSet::new();
        while let Some(node) = self.roots.pop() {
            self.roots.extend(self.mentions.remove(&node).into_iter().flatten());
            live.insert(node);
        }
        live
    }
}

/// Returns the cells that a statement changes, if it has no other effect; otherwise `None`.
fn removable_targets(names: &Names, statement: &Statement, stacks: &StacksUse) -> Option<Vec<CompactString>> {
    if names_adjoint(statement) {
        return None;
    }
    let nodes = match statement {
        Statement::Local(local) | Statement::Delocal(local) => vec![names.node(&local.name.text)],
        Statement::Instruction(instruction) if changes_only_targets(names, instruction, stacks) => {
            let (targets, _) = operands(instruction)?;
            targets
                .iter()
                .map(|target| cell_name(target).map(|name| names.node(name)))
                .collect::<Option<_>>()?
        }
        _ => return None,
    };
    Some(nodes)
}

fn changes_only_targets(names: &Names, instruction: &InstructionNode, stacks: &StacksUse) -> bool {
    match instruction.update.action() {
        Action::Accumulate
        | Action::Replace
        | Action::Erase(_)
        | Action::Map
        | Action::Exchange
        | Action::Rotate
        | Action::Clear => true,
        Action::Put(Store::Stack) => stacks.is_unread_push(names, instruction),
        _ => false,
    }
}

/// Returns true for a block without statements that always ends.
fn is_empty_block(statement: &Statement) -> bool {
    match statement {
        Statement::If(tree) => is_empty(&tree.then) && tree.otherwise.as_ref().is_none_or(is_empty),
        Statement::For(tree) => is_empty(&tree.body),
        _ => false,
    }
}

fn is_empty(body: &Body) -> bool {
    body.iter().all(|node| matches!(node.statement, Statement::Empty) && node.label.is_none())
}

fn opens_variable(body: &Body) -> bool {
    body.iter().any(|node| matches!(node.statement, Statement::Local(_)))
}
