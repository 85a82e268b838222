//! Steps y ← g(y), and x, y ← y, x. This module is independent of rows.

use super::accumulate::keep_unless;
use super::{Change, Changes, Engine, Failed, Operation, Real};
use crate::instruction::Class;
use crate::mutants::{Rule, keeps};

/// Executes y ← g(y). Over reals, the rows of this action are orthogonal linear maps, such as negation. The
/// transpose of such a map is its inverse, so the step maps the adjoint of y in the same way as y.
#[inline(always)]
pub(super) fn map<E: Engine>(e: &mut E, operation: Operation, y: E::Cell) -> Result<(), Failed> {
    let (s, update) = (e.numbers(), operation.update);
    if operation.class() == Class::Int {
        let old = e.int(y);
        let new = update.int(&s, old, old)?;
        e.set_int(y, new);
        return Ok(());
    }
    let old = e.real(y);
    let new = update.real(&s, old, old).and_then(|new| e.admit(new))?;
    let new = e.becomes(y, new);
    let changes = if E::GRADIENT { mapped(e, operation, y)? } else { Changes::nothing() };
    if E::HISTORY {
        let undone = update.inverse().real(&s, new, new);
        let is_exact = E::EXACT || e.is_undone(old, undone);
        keep_unless(e, is_exact, &[y], &changes);
    }
    e.set_real(y, new);
    changes.write(e);
    Ok(())
}

#[inline(always)]
fn mapped<E: Engine>(e: &mut E, operation: Operation, y: E::Cell) -> Result<Changes<E>, Failed> {
    let bar = e.adjoint(y);
    let is_nonzero = e.is_nonzero(bar);
    Ok(when!(e, is_nonzero, mapped_loud(e, operation, y, bar)))
}

#[inline(always)]
fn mapped_loud<E: Engine>(
    e: &mut E,
    operation: Operation,
    y: E::Cell,
    bar: Real<E>,
) -> Result<Changes<E>, Failed> {
    let (s, update) = (e.numbers(), operation.update);
    let new = update.real(&s, bar, bar).and_then(|new| e.admit(new)).map_err(Failed::Carried)?;
    let is_exact = !E::HISTORY || E::EXACT || e.is_undone(bar, update.inverse().real(&s, new, new));
    Ok(Changes::one(Change { cell: y, value: e.adjoint_becomes(y, new), is_exact }))
}

#[inline(always)]
pub(super) fn exchange<E: Engine>(e: &mut E, class: Class, [x, y]: [E::Cell; 2]) -> Result<(), Failed> {
    if class == Class::Int {
        let (a, b) = (e.int(x), e.int(y));
        e.set_int(x, b);
        e.set_int(y, a);
        return Ok(());
    }
    let (a, b) = (e.real(x), e.real(y));
    e.set_real(x, b);
    e.set_real(y, a);
    if E::GRADIENT && keeps(Rule::SwapsCarryAdjoints) {
        let (a, b) = (e.adjoint(x), e.adjoint(y));
        e.set_adjoint(x, b);
        e.set_adjoint(y, a);
    }
    Ok(())
}
