//! Propagation of adjoints in gradient mode. Functions return the new adjoints of an instruction's operands without
//! storing them, so that an instruction that traps changes nothing.

use reviver_isa::function::Function;

use crate::outcome::{Step, unsupported};
use crate::partial::{of_power, partial};
use crate::real::Real;
use crate::store::{Cell, Store};
use crate::value::Value;

/// Source of an instruction: its value, and its cell unless the source is a constant.
pub(crate) struct Source {
    pub(crate) cell: Option<Cell>,
    pub(crate) value: Value,
}

/// Cells with their new adjoints. If a cell occurs several times, its last entry counts.
pub(crate) type Changes = Vec<(Cell, Real)>;

impl Store {
    fn adjoint(&self, cell: Cell) -> Step<&Real> {
        self.get(crate::store::adjoint_of(cell))?.real()
    }

    /// Stores new adjoints in their cells.
    pub(crate) fn carry(&mut self, changes: Changes) {
        for (cell, adjoint) in changes {
            self.set(crate::store::adjoint_of(cell), Value::Real(adjoint));
        }
    }

    /// Returns the new adjoints of the sources after a step y += f (`adds`) or y -= f. For y += f: a' -= y'·∂f/∂a.
    /// For y -= f: a' += y'·∂f/∂a. Sources are handled in order.
    pub(crate) fn shares(
        &self,
        function: Function,
        target: Cell,
        sources: &[Source],
        adds: bool,
    ) -> Step<Changes> {
        let mut changes = Changes::new();
        let cotangent = self.adjoint(target)?;
        if cotangent.is_zero() || function == Function::ToReal {
            return Ok(changes);
        }
        for (by, source) in sources.iter().enumerate() {
            let (Some(cell), Value::Real(_)) = (source.cell, &source.value) else { continue };
            if self.is_constant(cell) {
                continue;
            }
            let share = Real::function(Function::Mul, cotangent, &derivative(function, by, sources)?)?;
            let new = self.given(&changes, cell, &share, adds)?;
            changes.push((cell, new));
        }
        Ok(changes)
    }

    /// Returns a cell's adjoint minus a contribution if `gives` is true, otherwise plus the contribution. If `changes`
    /// has a new adjoint of the cell, that one is used.
    fn given(&self, changes: &Changes, cell: Cell, share: &Real, gives: bool) -> Step<Real> {
        let pending = changes.iter().rev().find(|(changed, _)| *changed == cell);
        let old = pending.map_or_else(|| self.adjoint(cell), |(_, adjoint)| Ok(adjoint))?;
        let function = if gives { Function::Diff } else { Function::Sum };
        Real::function(function, old, share)?.admit()
    }

    /// Returns the new adjoint of y after the step y := -y.
    pub(crate) fn negated_adjoint(&self, y: Cell) -> Step<Changes> {
        let adjoint = self.adjoint(y)?;
        Ok(if adjoint.is_zero() { Vec::new() } else { vec![(y, adjoint.negated()?)] })
    }

    /// Returns the new adjoints of a rotation of the point (x, y). The point's adjoint is rotated by the same angle.
    /// The angle's adjoint changes by the cross product of the point and its adjoint, both taken before a forward step,
    /// or after a backward step.
    pub(crate) fn rotated_adjoints(
        &self,
        [x, y]: [Cell; 2],
        after: (&Real, &Real),
        angle: &Source,
        back: bool,
    ) -> Step<Changes> {
        let before = (self.adjoint(x)?, self.adjoint(y)?);
        if before.0.is_zero() && before.1.is_zero() {
            return Ok(Vec::new());
        }
        let (new_x, new_y) = Real::rotated(before.0, before.1, angle.value.real()?, back)?;
        let mut changes = vec![(x, new_x.clone()), (y, new_y.clone())];
        if let Some(cell) = angle.cell.filter(|&cell| !self.is_constant(cell)) {
            let old = (self.get(x)?.real()?, self.get(y)?.real()?);
            let (point, adjoint) = if back { (after, (&new_x, &new_y)) } else { (old, before) };
            let cross = Real::function(
                Function::Diff,
                &Real::function(Function::Mul, point.0, adjoint.1)?,
                &Real::function(Function::Mul, point.1, adjoint.0)?,
            )?;
            let new = self.given(&changes, cell, &cross, !back)?;
            changes.push((cell, new));
        }
        Ok(changes)
    }
}

fn derivative(function: Function, by: usize, sources: &[Source]) -> Step<Real> {
    match sources {
        [Source { value: Value::Real(base), .. }, Source { value: Value::Int(exponent), .. }] => {
            of_power(base, exponent)
        }
        [a] => partial(function, by, a.value.real()?, a.value.real()?),
        [a, b] => partial(function, by, a.value.real()?, b.value.real()?),
        _ => unsupported("a derivative of this many sources"),
    }
}
