//! Bound expressions. When an expression is bound, each name is resolved to cells. Later the name refers to the same
//! cells, even if the expression is evaluated in another frame. A watchpoint on an expression watches a bound
//! expression.

use super::bound_name::BoundName;
use super::evaluate::is_mode;
use super::{Computed, ConsoleExpression, ExpressionError, Scene, Special};
use crate::cell_set::CellSet;
use crate::memory::{MODE_BIT, Storage, Target};

/// An expression together with the cells that its names refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundExpression {
    expression: ConsoleExpression,
    names: Vec<BoundName>,
    /// True if the expression reads the gradient mode bit.
    reads_mode: bool,
}

impl BoundName {
    /// Returns the cells that the name is bound to, at their addresses in the scene's state.
    pub fn storage(&self, scene: &Scene<'_>) -> Result<Storage, ExpressionError> {
        let Some(first) = self.first else { return Ok(self.storage) };
        let cell = scene.memory.resolve(scene.state, first);
        cell.map(|cell| self.storage.moved(cell)).ok_or_else(|| ExpressionError::NoCell(self.name.clone()))
    }
}

impl BoundExpression {
    /// Binds the names of an expression to the cells that they refer to in a scene.
    ///
    /// # Errors
    /// - A name is unknown in the scene.
    /// - The expression has no names, so its value never changes.
    /// - The expression contains `$step`, `$depth` or `$position`, which change at nearly every step.
    /// - The expression has no value in the scene, for a reason that doesn't depend on the values of cells.
    pub fn bind(expression: ConsoleExpression, scene: Scene<'_>) -> Result<BoundExpression, ExpressionError> {
        if let Some(name) = expression.root.special(Special::is_restless) {
            return Err(ExpressionError::Restless(name.name()));
        }
        let mut names: Vec<BoundName> = Vec::new();
        let mut reads_mode = false;
        for (name, adjoint) in expression.places() {
            if is_mode(name, adjoint) {
                reads_mode = true;
            } else if let Some(known) = names.iter_mut().find(|bound| bound.name == name) {
                known.reads_value |= !adjoint;
                known.reads_adjoint |= adjoint;
            } else {
                let storage = scene.named(name)?;
                let first = storage.cell(0).map(|cell| scene.memory.target(scene.state, cell));
                let (reads_value, reads_adjoint) = (!adjoint, adjoint);
                names.push(BoundName { name: name.to_owned(), storage, first, reads_value, reads_adjoint });
            }
        }
        if names.is_empty() && !reads_mode {
            return Err(ExpressionError::NoNames(expression.text().to_owned()));
        }
        let bound = BoundExpression { expression, names, reads_mode };
        match bound.expression.evaluate(scene) {
            // Other values of the cells may avoid these errors.
            Ok(_) | Err(ExpressionError::DivisionByZero | ExpressionError::Index { .. }) => Ok(bound),
            Err(error) => Err(error),
        }
    }

    /// Returns the expression as it was written.
    pub fn text(&self) -> &str {
        self.expression.text()
    }

    /// Returns all cells on which the value depends. For an array, these are all its elements.
    pub fn cells(&self) -> Vec<CellSet> {
        let own = self.names.iter().flat_map(|bound| {
            let first = bound.first.into_iter();
            let value = first.clone().filter(|_| bound.reads_value);
            let adjoint = first.filter(|_| bound.reads_adjoint).filter_map(Target::adjoint);
            value.chain(adjoint).map(|first| CellSet::whole(&bound.storage, first))
        });
        own.chain(self.reads_mode.then(|| Target::Static(MODE_BIT).into())).collect()
    }

    /// Evaluates the expression in the state of a scene. Returns `None` if a name is bound to a cell of a
    /// frame that isn't open.
    pub fn evaluate(&self, scene: Scene<'_>) -> Option<Result<Computed, ExpressionError>> {
        let mut targets = self.names.iter().filter_map(|bound| bound.first);
        let is_open = |target| scene.memory.resolve(scene.state, target).is_some();
        targets.all(is_open).then(|| {
            let bound = &self.names;
            self.expression.evaluate(Scene { bound, before: None, written: None, ..scene })
        })
    }
}
