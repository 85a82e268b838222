//! Steps y ← y ∘ f(a, b), and the contributions of the cotangent y' to the sources' adjoints. This module
//! depends on no particular row.

use super::{Change, Changes, Engine, Failed, Int, Operation, Real};
use crate::arith::Arith;
use crate::fault::Eval;
use crate::instruction::Class;
use crate::mutants::{Rule, keeps};
use crate::update::Sense;

/// Executes a step of [`crate::update::Action::Accumulate`].
///
/// # Errors
/// Returns the reason of the failure; then nothing has changed.
#[inline(always)]
pub fn accumulate<E: Engine>(e: &mut E, operation: Operation, cells: [E::Cell; 3]) -> Result<(), Failed> {
    match operation.class() {
        Class::Int => {
            let new = new_int(e, operation, cells)?;
            e.set_int(cells[0], new);
            Ok(())
        }
        Class::Real => accumulate_reals(e, operation, cells),
    }
}

/// Returns the new value of an integer target, which the caller stores.
#[inline(always)]
pub(super) fn new_int<E: Engine>(
    e: &mut E,
    operation: Operation,
    [y, a, b]: [E::Cell; 3],
) -> Result<Int<E>, Failed> {
    let f = e.int_value(operation, [a, b])?;
    let new = operation.update.int(&e.numbers(), e.int(y), f)?;
    e.observe_sources(operation, [a, b]);
    // Converting a real to an integer loses its derivative, which the engine reports. A comparison isn't such
    // a conversion: its 0 or 1 is a choice like that of a branch.
    if operation.signature.source(0) == Class::Real && !operation.function.is_condition() {
        [a, b].into_iter().take(operation.function.arity()).for_each(|source| e.converts(source));
    }
    Ok(new)
}

#[inline(always)]
fn accumulate_reals<E: Engine>(e: &mut E, operation: Operation, cells: [E::Cell; 3]) -> Result<(), Failed> {
    let (s, update, y) = (e.numbers(), operation.update, cells[0]);
    if E::HISTORY && e.is_kept() {
        return give_back(e, operation, cells);
    }
    let old = e.real(y);
    let (f, new) = evaluated(e, operation, cells)?;
    let changes = carry(e, operation, cells, TargetValues { old, new, f })?;
    if E::HISTORY {
        let undone = update.inverse().real(&s, new, f);
        let is_exact = E::EXACT || e.is_undone(old, undone);
        keep_unless(e, is_exact, &[y], &changes);
    }
    e.set_real(y, new);
    changes.write(e);
    Ok(())
}

/// Returns the function's value and the new value of a real target.
#[inline(always)]
pub(super) fn evaluated<E: Engine>(
    e: &mut E,
    operation: Operation,
    cells: [E::Cell; 3],
) -> Result<(Real<E>, Real<E>), Failed> {
    match evaluate(e, operation, cells) {
        Ok((f, new)) => {
            e.observe_sources(operation, [cells[1], cells[2]]);
            Ok((f, e.becomes(cells[0], new)))
        }
        Err(fault) => Err(e.blame(operation, cells, fault)),
    }
}

#[inline(always)]
fn evaluate<E: Engine>(e: &E, operation: Operation, [y, a, b]: [E::Cell; 3]) -> Eval<(Real<E>, Real<E>)> {
    let f = e.real_value(operation, [a, b])?;
    let new = operation.update.real(&e.numbers(), e.real(y), f)?;
    Ok((f, e.admit(new)?))
}

/// Executes a step by restoring the values in its history entry. Adjoints are computed only if the entry has
/// none.
#[inline(always)]
fn give_back<E: Engine>(e: &mut E, operation: Operation, cells: [E::Cell; 3]) -> Result<(), Failed> {
    let changes = if E::GRADIENT && !e.keeps_adjoints() {
        let [y, a, b] = cells;
        let old = e.real(y);
        let f = e.real_value(operation, [a, b])?;
        let new = operation.update.real(&e.numbers(), old, f)?;
        carry(e, operation, cells, TargetValues { old, new, f })?
    } else {
        Changes::nothing()
    };
    if !e.give_back() {
        e.keep_adjoints(&changes);
        changes.write(e);
    }
    Ok(())
}

/// Records the old values of targets and adjoints in the history before a step changes them. Records nothing if
/// undoing the step restores every bit.
#[inline(always)]
pub(super) fn keep_unless<E: Engine>(e: &mut E, is_exact: bool, targets: &[E::Cell], changes: &Changes<E>) {
    if !(is_exact && changes.is_exact()) && keeps(Rule::ResiduesAreKept) {
        e.keep(targets);
        e.keep_adjoints(changes);
    }
}

/// The target's value before and after the step, and the function's value.
pub(super) struct TargetValues<E: Engine> {
    pub old: Real<E>,
    pub new: Real<E>,
    pub f: Real<E>,
}

/// Returns the changes of adjoints by an accumulation; none outside of gradient mode.
#[inline(always)]
pub(super) fn carry<E: Engine>(
    e: &mut E,
    operation: Operation,
    [y, a, b]: [E::Cell; 3],
    values: TargetValues<E>,
) -> Result<Changes<E>, Failed> {
    // The condition contains nothing but the constant, because the compiler then removes the branch before
    // optimization.
    if E::GRADIENT { carry_any(e, operation, [y, a, b], values) } else { Ok(Changes::nothing()) }
}

/// Returns the changes of adjoints by an accumulation in gradient mode; none if the target's cotangent is 0.
#[inline(always)]
fn carry_any<E: Engine>(
    e: &mut E,
    operation: Operation,
    [y, a, b]: [E::Cell; 3],
    values: TargetValues<E>,
) -> Result<Changes<E>, Failed> {
    let (update, count) = (operation.update, operation.receivers());
    let Some(sense) = update.sense().filter(|_| count > 0 || update.moves_cotangent()) else {
        return Ok(Changes::nothing());
    };
    let bar = e.adjoint(y);
    let is_nonzero = e.is_nonzero(bar);
    e.observe_target_adjoint(operation, [a, b], is_nonzero);
    Ok(when!(e, is_nonzero, carry_loud(e, operation, [y, a, b], values, (bar, sense))))
}

/// Returns the changes of adjoints by an accumulation if the target's cotangent isn't 0.
#[inline(always)]
fn carry_loud<E: Engine>(
    e: &mut E,
    operation: Operation,
    [y, a, b]: [E::Cell; 3],
    values: TargetValues<E>,
    (mut bar, sense): (Real<E>, Sense),
) -> Result<Changes<E>, Failed> {
    let (s, update) = (e.numbers(), operation.update);
    let mut changes = Changes::nothing();
    if update.moves_cotangent() {
        let change = moved(e, operation, y, bar, values.f).map_err(Failed::Carried)?;
        bar = change.value;
        changes = changes.with(0, Changes::one(change));
    }
    let weight = update.weight(&s, bar, (values.old, values.new), values.f).map_err(Failed::Carried)?;
    shares(e, operation, [a, b], (weight, sense), changes)
}

/// Returns `changes` with the new adjoints of the sources in slots 1 and 2. Slot 0 contains the change of the
/// target's adjoint, if there is one.
#[inline(always)]
pub(super) fn shares<E: Engine>(
    e: &mut E,
    operation: Operation,
    [a, b]: [E::Cell; 2],
    (weight, sense): (Real<E>, Sense),
    mut changes: Changes<E>,
) -> Result<Changes<E>, Failed> {
    let count = operation.receivers();
    if count > 0 {
        let receives = e.receives(1, a);
        let first = when!(e, receives, given_share(e, operation, 0, [a, b], (weight, sense), &changes));
        changes = changes.with(1, first);
    }
    if count > 1 {
        let receives = e.receives(2, b);
        let second = when!(e, receives, given_share(e, operation, 1, [a, b], (weight, sense), &changes));
        changes = changes.with(2, second);
    }
    Ok(changes)
}

/// Returns the new adjoint of a source (0 or 1), after its contribution is added or subtracted.
#[inline(always)]
fn given_share<E: Engine>(
    e: &mut E,
    operation: Operation,
    source: u8,
    sources: [E::Cell; 2],
    (weight, sense): (Real<E>, Sense),
    changes: &Changes<E>,
) -> Result<Changes<E>, Failed> {
    let share = share(e, operation, source, sources, weight)?;
    let cell = sources[usize::from(source)];
    let mut change = given(e, cell, share, sense, changes).map_err(Failed::Carried)?;
    // If both sources are the same cell, the history of its adjoint is always kept. Undoing subtracts the two
    // contributions in the order in which they were added, so floats may lose bits although undoing each
    // contribution alone is exact.
    if source == 1 && E::HISTORY && !E::EXACT {
        change.is_exact &= !e.holds(e.is_same(sources[0], sources[1]));
    }
    Ok(Changes::one(change))
}

/// Returns the change of the target's own adjoint, for updates that scale the target.
#[inline(always)]
fn moved<E: Engine>(
    e: &mut E,
    operation: Operation,
    y: E::Cell,
    bar: Real<E>,
    f: Real<E>,
) -> Eval<Change<E>> {
    let s = e.numbers();
    let new = e.admit(operation.update.cotangent(&s, bar, f)?)?;
    let is_exact = !E::HISTORY || E::EXACT || {
        let undone = operation.update.inverse().cotangent(&s, new, f);
        e.is_undone(bar, undone)
    };
    Ok(Change { cell: y, value: e.adjoint_becomes(y, new), is_exact })
}

/// Returns a source's adjoint contribution, before the sign of the row is applied: `weight` times the partial
/// derivative of f. Fails if the partial derivative isn't a number that a cell can hold.
#[inline(always)]
fn share<E: Engine>(
    e: &E,
    operation: Operation,
    source: u8,
    sources: [E::Cell; 2],
    weight: Real<E>,
) -> Result<Real<E>, Failed> {
    let partial = e.partial(operation, source, sources).and_then(|partial| e.admit(partial));
    let partial = partial.map_err(|fault| Failed::Partial { source, fault })?;
    e.numbers().mul(weight, partial).map_err(Failed::Carried)
}

/// Returns the new value of a cell's adjoint: the pending value plus or minus (by `sense`) the contribution
/// `share`.
#[inline(always)]
pub(super) fn given<E: Engine>(
    e: &mut E,
    cell: E::Cell,
    share: Real<E>,
    sense: Sense,
    changes: &Changes<E>,
) -> Eval<Change<E>> {
    let s = e.numbers();
    let old = changes.pending(e, cell);
    let sense = if keeps(Rule::SharesHaveOppositeSigns) { sense } else { sense.opposite() };
    let (new, undone) = match sense {
        Sense::Takes => {
            let new = s.sub(old, share)?;
            (new, if E::HISTORY { s.add(new, share) } else { Ok(old) })
        }
        Sense::Gives => {
            let new = s.add(old, share)?;
            (new, if E::HISTORY { s.sub(new, share) } else { Ok(old) })
        }
    };
    let is_exact = !E::HISTORY || E::EXACT || e.is_undone(old, undone);
    let new = e.admit(new)?;
    Ok(Change { cell, value: e.adjoint_becomes(cell, new), is_exact })
}
