//! Steps that throw something away: overwriting and erasing on purpose, and clearing what is vacant. Knows
//! no row.

use super::accumulate::{TargetValues, carry, evaluated, new_int};
use super::{Changes, Engine, Failed, Operation};
use crate::instruction::Class;
use crate::mutants::{Rule, keeps};
use crate::update::Action;

/// y ← f, and the old y is lost.
#[inline(always)]
pub(super) fn replace<E: Engine>(e: &mut E, operation: Operation, cells: [E::Cell; 3]) -> Result<(), Failed> {
    let y = cells[0];
    if E::HISTORY && e.is_kept() {
        e.give_back();
        return Ok(());
    }
    match operation.class() {
        Class::Int => {
            let new = new_int(e, operation, cells)?;
            e.erases(Class::Int, y);
            e.set_int(y, new);
        }
        Class::Real => {
            let (_, new) = evaluated(e, operation, cells)?;
            e.erases(Class::Real, y);
            e.set_real(y, new);
        }
    }
    Ok(())
}

/// y ← 0, and the old y is lost.
#[inline(always)]
pub(super) fn erase<E: Engine>(e: &mut E, class: Class, y: E::Cell) -> Result<(), Failed> {
    if E::HISTORY && e.is_kept() {
        e.give_back();
        return Ok(());
    }
    e.erases(class, y);
    e.set_zero(class, y);
    Ok(())
}

/// The way back over either: what was kept gives the old value. What had replaced it passes its adjoint on to
/// the sources that it came of, and keeps none.
#[inline(always)]
pub(super) fn put_back<E: Engine>(
    e: &mut E,
    operation: Operation,
    cells: [E::Cell; 3],
) -> Result<(), Failed> {
    if !e.is_kept() {
        return if keeps(Rule::ErasuresAreIrreversible) { Err(Failed::Irreversible) } else { Ok(()) };
    }
    let (y, class) = (cells[0], operation.class());
    let carries = E::GRADIENT && class == Class::Real;
    let passes_on = matches!(operation.update.action(), Action::Replace) && !e.keeps_adjoints();
    let changes = if carries && passes_on {
        let value = e.real(y);
        carry(e, operation, cells, TargetValues { old: value, new: value, f: value })?
    } else {
        Changes::nothing()
    };
    if !e.give_back() && carries {
        e.keep_adjoints(&changes);
        changes.write(e);
        e.ends_adjoint(y);
        e.drop_adjoint(y);
    }
    Ok(())
}

/// y must be vacant, and becomes 0.
#[inline(always)]
pub(super) fn clear<E: Engine>(e: &mut E, class: Class, y: E::Cell) -> Result<(), Failed> {
    if class == Class::Real && E::HISTORY && e.is_kept() {
        if !e.give_back() {
            e.drop_adjoint(y);
        }
        return Ok(());
    }
    if keeps(Rule::VacancyIsChecked) {
        e.require_vacant(class, y)?;
    }
    if class == Class::Real {
        e.frees(y);
        e.set_zero(class, y);
        if E::GRADIENT {
            e.drop_adjoint(y);
        }
    }
    Ok(())
}
