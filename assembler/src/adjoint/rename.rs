//! Names of adjoints (`x'`) in the bodies of rules, which become names of cells.

use super::emitter::Emitter;
use super::fresh::adjoint_of;
use crate::tree::{
    Body, Condition, ConditionKind, Expression, ExpressionKind, InstructionNode, Operands, Statement,
    Subscript,
};

impl Emitter<'_> {
    /// Replaces names of adjoints in a body by the names of their cells.
    pub(super) fn name_adjoints(&self, body: &mut Body) {
        for node in body {
            match &mut node.statement {
                Statement::Instruction(InstructionNode { operands, .. }) => match operands {
                    Operands::Cells(cells) => cells.iter_mut().for_each(|cell| self.named(cell)),
                    Operands::Condition(condition) | Operands::Branch { condition, .. } => {
                        self.named_in(condition);
                    }
                    Operands::Call(call) => call.arguments.iter_mut().for_each(|cell| self.named(cell)),
                },
                Statement::MacroUse { arguments, .. } => {
                    arguments.iter_mut().for_each(|argument| self.named(argument));
                }
                Statement::If(tree) => {
                    [&mut tree.entry, &mut tree.exit].into_iter().for_each(|it| self.named_in(it))
                }
                Statement::Loop(tree) => {
                    [&mut tree.entry, &mut tree.exit].into_iter().for_each(|it| self.named_in(it))
                }
                Statement::Local(local) | Statement::Delocal(local) => {
                    local.sources.iter_mut().for_each(|source| self.named(source));
                }
                _ => {}
            }
            node.statement.bodies_mut().into_iter().for_each(|body| self.name_adjoints(body));
        }
    }

    fn named_in(&self, condition: &mut Condition) {
        match &mut condition.kind {
            ConditionKind::Always | ConditionKind::Forgotten => {}
            ConditionKind::Compare(_, a, b) => {
                self.named(a);
                self.named(b);
            }
            ConditionKind::Not(inner) => self.named_in(inner),
            ConditionKind::And(a, b) | ConditionKind::Or(a, b) => {
                self.named_in(a);
                self.named_in(b);
            }
        }
    }

    fn named(&self, expression: &mut Expression) {
        match &mut expression.kind {
            ExpressionKind::Name { adjoint: true, .. } => *expression = adjoint_of(&self.fresh, expression),
            ExpressionKind::Element(element) => {
                for subscript in &mut element.subscripts {
                    if let Subscript::At(index) = subscript {
                        self.named(index);
                    }
                }
                if element.adjoint {
                    *expression = adjoint_of(&self.fresh, expression);
                }
            }
            ExpressionKind::Unary(_, operand) => self.named(operand),
            ExpressionKind::Binary(_, sides) => sides.iter_mut().for_each(|side| self.named(side)),
            ExpressionKind::Apply(application) => {
                application.sources.iter_mut().for_each(|source| self.named(source));
            }
            _ => {}
        }
    }
}
