//! Reals on the stack. The adjoint of a real is pushed after the real, so the primal part pushes a 0 after each real,
//! and pops it again. This module also finds out which stores a program uses, because dropped adjoints need another one.

use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::{Action, Store, Update};

use reviver_isa::verify::MAX_STACK;

use super::request::DroppedAdjoints;
use crate::build;
use crate::scopes::{Bound, Names, parameters};
use crate::tree::{
    Body, Directive, ExpressionKind, InstructionNode, Limit, Operands, ShapeNode, Statement, StatementNode,
};

/// The stores that a program uses, so that they can't keep dropped adjoints.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UsedStores {
    /// The stack of reals.
    pub stack: bool,
    /// The output tape, with values of both classes.
    pub output: bool,
    /// The input tape, if reals are read from it.
    pub input: bool,
}

impl UsedStores {
    /// Finds the stores in all bodies of a program.
    pub fn of(names: &Names, bodies: &[Body]) -> UsedStores {
        let mut found = UsedStores::default();
        for body in bodies {
            // A program declares at most one stack of reals.
            found.stack |= body.iter().any(declares_stack);
            names.clone().visit(body, &mut |names, statement| {
                let Statement::Instruction(InstructionNode { update, operands, .. }) = statement else {
                    return;
                };
                let Operands::Cells(cells) = operands else { return };
                let class = cells.first().map_or(Class::Int, |cell| names.kind(cell).class);
                match update.action() {
                    Action::Put(Store::Stack) | Action::Take(Store::Stack) => {
                        found.stack |= class == Class::Real;
                    }
                    Action::Put(Store::Input) | Action::Take(Store::Input) => {
                        found.input |= class == Class::Real;
                    }
                    // The output tape has values of both classes.
                    Action::Put(Store::Output) | Action::Take(Store::Output) => found.output = true,
                    _ => {}
                }
            });
        }
        found
    }
}

fn declares_stack(node: &StatementNode) -> bool {
    let Statement::Directive(Directive::Globals { declarations, .. }) = &node.statement else { return false };
    declarations.iter().any(|it| it.class == Some(Class::Real) && matches!(it.shape, ShapeNode::Stack))
}

/// The store that receives dropped adjoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DropPlace {
    Stack,
    /// The output tape, because the program has reals on the stack.
    Output,
    Erased,
    /// An array of the program, in a program that switches gradient mode itself.
    Array,
    /// Both stores hold reals of the program.
    None,
}

impl DropPlace {
    pub fn of(dropped: DroppedAdjoints, stores: UsedStores) -> DropPlace {
        match (dropped, stores) {
            (DroppedAdjoints::Erased, _) => DropPlace::Erased,
            (DroppedAdjoints::Pushed, UsedStores { stack: false, .. }) => DropPlace::Stack,
            (DroppedAdjoints::Pushed, UsedStores { output: false, .. }) => DropPlace::Output,
            (DroppedAdjoints::Pushed, _) => DropPlace::None,
        }
    }

    /// Returns the update that keeps the derivatives by values of the input tape: they are written to the output tape
    /// unless it is used for something else, and are dropped otherwise.
    pub fn tape_derivatives(self, stores: UsedStores) -> Option<Update> {
        let writes = stores.input && !stores.output && self != DropPlace::Output;
        writes.then_some(Update::Write)
    }

    /// Returns the update that drops an adjoint.
    pub fn update(self) -> Option<Update> {
        match self {
            DropPlace::Stack => Some(Update::Push),
            DropPlace::Output => Some(Update::Write),
            DropPlace::Erased => Some(Update::Erase),
            DropPlace::Array | DropPlace::None => None,
        }
    }
}

/// Changes a body so that each real on the stack is followed by a 0. `zero` is the name of a private cell that is 0.
pub(super) fn pair(names: &Names, body: &mut Body, zero: &str) {
    let mut names = names.clone();
    each_move(&mut names, body, &mut |(update, class), node| {
        let zero = build::update(update, Function::Copy, vec![build::cell(zero)]);
        match update {
            _ if class == Class::Int => None,
            Update::Push => Some(vec![node.clone(), zero]),
            Update::Pop => {
                let plain = StatementNode { label: None, ..node.clone() };
                Some(vec![StatementNode { label: node.label.clone(), ..zero }, plain])
            }
            _ => None,
        }
    });
}

/// Visits the statements that move a value to a store or back. If `each` returns statements, they replace the visited
/// one.
fn each_move(
    names: &mut Names,
    body: &mut Body,
    each: &mut impl FnMut((Update, Class), &StatementNode) -> Option<Vec<StatementNode>>,
) {
    let mut made = Body::with_capacity(body.len());
    for mut node in std::mem::take(body) {
        match &mut node.statement {
            Statement::Instruction(InstructionNode { update, operands: Operands::Cells(cells), .. })
                if update.moves_values() =>
            {
                let class = cells.first().map_or(Class::Int, |cell| names.kind(cell).class);
                let update = *update;
                match each((update, class), &node) {
                    Some(statements) => made.extend(statements),
                    None => made.push(node),
                }
                continue;
            }
            Statement::Directive(Directive::Ancillas(declarations)) => names.bind_ancillas(declarations),
            Statement::Local(local) => {
                names.bind_local(local);
            }
            Statement::For(tree) => {
                names.enter();
                names.bind(&tree.counter.text, Bound::cell(Class::Int, true));
                each_move(names, &mut tree.body, each);
                names.leave();
            }
            // The locals of the first body stay open up to the end of the block.
            Statement::Compute(tree) => {
                names.enter();
                each_move(names, &mut tree.body, each);
                each_move(names, &mut tree.apply, each);
                names.leave();
            }
            Statement::Procedure(tree) => {
                let main = names.exchange(&tree.name.text, parameters(&tree.parameters));
                each_move(names, &mut tree.body, each);
                names.restore(main);
            }
            other => {
                for inner in other.bodies_mut() {
                    names.enter();
                    each_move(names, inner, each);
                    names.leave();
                }
            }
        }
        made.push(node);
    }
    *body = made;
}

/// Doubles the limits on the stacks, because each real is followed by its adjoint or tangent.
pub(super) fn double_limits(body: &mut Body) {
    for node in body {
        if let Statement::Directive(Directive::Limit { what: Limit::Stack | Limit::History, value }) =
            &mut node.statement
        {
            **value = match &value.kind {
                // A literal isn't computed in the program's word, which may be too narrow.
                ExpressionKind::Int { value, .. } => {
                    build::int(value.saturating_mul(2).min(MAX_STACK.into()))
                }
                _ => build::binary(BinaryOperator::Multiply, (**value).clone(), build::int(2)),
            };
        }
    }
}
