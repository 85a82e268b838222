//! Names of adjoints (`x'`) in the bodies of rules, which become names of cells.

use super::emitter::Emitter;
use crate::fresh::adjoint_of;
use crate::tree::{Body, Expression, ExpressionKind};
use crate::visit;

impl Emitter {
    /// Replaces names of adjoints in a body by the names of their cells.
    pub(super) fn name_adjoints(&self, body: &mut Body) {
        for node in body {
            visit::expressions_mut(&mut node.statement, &mut |expression| self.named(expression));
            node.statement.bodies_mut().into_iter().for_each(|body| self.name_adjoints(body));
        }
    }

    fn named(&self, expression: &mut Expression) {
        let is_adjoint = match &expression.kind {
            ExpressionKind::Name { adjoint, .. } => *adjoint,
            ExpressionKind::Element(element) => element.adjoint,
            _ => false,
        };
        if is_adjoint {
            *expression = adjoint_of(&self.fresh, expression);
        }
    }
}
