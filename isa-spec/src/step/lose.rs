//! Steps that lose information: overwriting, erasing, and clearing vacant cells. This module depends on no
//! particular row.

use super::accumulate::{TargetValues, carry, evaluated, new_int, shares};
use super::{Change, Changes, Engine, Failed, Operation};
use crate::arith::Arith;
use crate::instruction::Class;
use crate::mutants::{Rule, keeps};
use crate::update::{Action, Erasure};

/// Executes y ← f; the old y is lost.
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
            e.erases(Class::Int, y, Erasure::Cell);
            e.set_int(y, new);
        }
        Class::Real => {
            let (_, new) = evaluated(e, operation, cells)?;
            e.erases(Class::Real, y, Erasure::Cell);
            e.set_real(y, new);
        }
    }
    Ok(())
}

/// Sets y or its lowest bit to 0; the old value is lost.
#[inline(always)]
pub(super) fn erase<E: Engine>(e: &mut E, class: Class, y: E::Cell, erasure: Erasure) -> Result<(), Failed> {
    if E::HISTORY && e.is_kept() {
        e.give_back();
        return Ok(());
    }
    match (erasure, class) {
        (Erasure::Bit, Class::Int) => {
            let s = e.numbers();
            let rest = s.int_and(e.int(y), s.int(-2));
            e.erases(class, y, erasure);
            e.set_int(y, rest);
        }
        // No row erases a single bit of a real.
        (Erasure::Cell, _) | (Erasure::Bit, Class::Real) => {
            e.erases(class, y, Erasure::Cell);
            e.set_zero(class, y);
        }
    }
    Ok(())
}

/// Undoes a replacement or an erasure by its history entry. Fails with [`Failed::Irreversible`] if there is
/// none.
#[inline(always)]
pub(super) fn undo<E: Engine>(e: &mut E, operation: Operation, cells: [E::Cell; 3]) -> Result<(), Failed> {
    if e.is_kept() {
        put_back(e, operation, cells)
    } else if keeps(Rule::ErasuresAreIrreversible) {
        Err(Failed::Irreversible)
    } else {
        Ok(())
    }
}

/// Restores the old value from the history entry. In gradient mode, the adjoint of a replacing value is
/// propagated to the sources of that value. Then the cell's adjoint becomes 0, because the old value had no
/// influence on later values.
#[inline(always)]
fn put_back<E: Engine>(e: &mut E, operation: Operation, cells: [E::Cell; 3]) -> Result<(), Failed> {
    let (y, class) = (cells[0], operation.class());
    let carries = E::GRADIENT && class == Class::Real;
    let is_replaced = matches!(operation.update.action(), Action::Replace);
    let reads_itself = is_replaced && is_own_source(e, operation, cells);
    let changes = if !(carries && is_replaced) || e.keeps_adjoints() {
        Changes::nothing()
    } else if reads_itself {
        shares_of_itself(e, operation, cells)?
    } else {
        let value = e.real(y);
        carry(e, operation, cells, TargetValues { old: value, new: value, f: value })?
    };
    if e.give_back() || !carries {
        return Ok(());
    }
    if reads_itself {
        e.drop_adjoint(y);
    }
    e.keep_adjoints(&changes);
    changes.write(e);
    if !is_replaced {
        e.ends_adjoint(y);
    }
    if !reads_itself {
        e.drop_adjoint(y);
    }
    Ok(())
}

/// Returns true if the target is also one of the sources that receive an adjoint contribution.
#[inline(always)]
fn is_own_source<E: Engine>(e: &E, operation: Operation, [y, a, b]: [E::Cell; 3]) -> bool {
    let is_same = |source, least| operation.receivers() >= least && e.holds(e.is_same(y, source));
    E::IMMEDIATE && (is_same(a, 1) || is_same(b, 2))
}

/// Returns the adjoint contributions to the sources if the target is one of them. Partial derivatives are
/// taken at the target's old value. The target's own adjoint starts from 0, so that the result is the target's
/// contribution as a source.
#[inline(always)]
fn shares_of_itself<E: Engine>(
    e: &mut E,
    operation: Operation,
    cells: [E::Cell; 3],
) -> Result<Changes<E>, Failed> {
    let [y, a, b] = cells;
    let (s, bar, value) = (e.numbers(), e.adjoint(y), e.real(y));
    let is_nonzero = e.is_nonzero(bar);
    let Some(sense) = operation.update.sense().filter(|_| e.holds(is_nonzero)) else {
        return Ok(Changes::nothing());
    };
    let none = s.real(0.0).map_err(Failed::Carried)?;
    let weight = operation.update.weight(&s, bar, (value, value), value).map_err(Failed::Carried)?;
    let emptied = Changes::one(Change { cell: y, value: none, is_exact: true });
    let old = e.kept_real(y);
    e.set_real(y, old);
    let found = shares(e, operation, [a, b], (weight, sense), emptied);
    e.set_real(y, value);
    found
}

/// Checks that y is vacant, otherwise fails with [`Failed::NotVacant`]. Sets a real y to exactly 0, and its
/// adjoint to 0.
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
