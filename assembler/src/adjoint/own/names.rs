//! Names of adjoints: those of depth 1 become names of cells, the others lose a depth.

use std::rc::Rc;

use compact_str::CompactString;

use super::involved;
use crate::adjoint::emitter::Emitter;
use crate::adjoint::variants::{MacroArgument, MacroVariant};
use crate::build;
use crate::depths::Depths;
use crate::tree::{Body, Expression, ExpressionKind, Name, Operands, Statement};
use crate::visit;

impl Emitter {
    /// Marks names of parameters as adjoints if the macro gets adjoints for them.
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
