//! y ← y ∘ f(a, b), and what of y' the sources get. Knows no row.

use super::{Change, Changes, Engine, Failed, Int, Operation, Real};
use crate::arith::Arith;
use crate::fault::Eval;
use crate::instruction::Class;
use crate::mutants::{Rule, keeps};
use crate::update::Sense;

/// Makes a step of [`crate::update::Action::Accumulate`].
///
/// # Errors
/// Why it can't be made; nothing has changed then.
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

/// What an integer target becomes.
#[inline(always)]
pub(super) fn new_int<E: Engine>(
    e: &mut E,
    operation: Operation,
    [y, a, b]: [E::Cell; 3],
) -> Result<Int<E>, Failed> {
    let f = e.int_value(operation, [a, b])?;
    let new = operation.update.int(&e.numbers(), e.int(y), f)?;
    e.looks_at_sources(operation, [a, b]);
    // A comparison's 0 or 1 is a way that was chosen, like a branch's.
    if operation.form.source(0) == Class::Real && !operation.function.is_condition() {
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

/// The function's value, and what a real target becomes with it.
#[inline(always)]
pub(super) fn evaluated<E: Engine>(
    e: &mut E,
    operation: Operation,
    cells: [E::Cell; 3],
) -> Result<(Real<E>, Real<E>), Failed> {
    match evaluate(e, operation, cells) {
        Ok((f, new)) => {
            e.looks_at_sources(operation, [cells[1], cells[2]]);
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

/// Makes a step whose values were kept: only adjoints may have to be computed.
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

/// Keeps all that a step is about to change, unless undoing it gives every bit back.
#[inline(always)]
pub(super) fn keep_unless<E: Engine>(e: &mut E, is_exact: bool, targets: &[E::Cell], changes: &Changes<E>) {
    if !(is_exact && changes.is_exact()) && keeps(Rule::ResiduesAreKept) {
        e.keep(targets);
        e.keep_adjoints(changes);
    }
}

/// The target's value on both sides of the step, and the function's.
pub(super) struct TargetValues<E: Engine> {
    pub old: Real<E>,
    pub new: Real<E>,
    pub f: Real<E>,
}

/// What an accumulation does to adjoints.
#[inline(always)]
pub(super) fn carry<E: Engine>(
    e: &mut E,
    operation: Operation,
    [y, a, b]: [E::Cell; 3],
    values: TargetValues<E>,
) -> Result<Changes<E>, Failed> {
    // The constant alone decides: a compiler leaves out what a constant rules out before it optimizes.
    if E::GRADIENT { carry_any(e, operation, [y, a, b], values) } else { Ok(Changes::nothing()) }
}

/// The same with gradient mode on.
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
    let is_loud = e.is_loud(bar);
    e.looks_for_losses(operation, [a, b], is_loud);
    Ok(when!(e, is_loud, carry_loud(e, operation, [y, a, b], values, (bar, sense))))
}

/// The same of a cotangent that has something to carry.
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

/// What the sources' adjoints become with their shares, behind the change of the target's.
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

/// What the adjoint of a source (0 or 1) becomes with its share.
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
    // Two shares of one cell are given back in the order in which they were taken, not in the opposite one, so that
    // floats may lose bits although each share alone loses none.
    if source == 1 && E::HISTORY && !E::EXACT {
        change.is_exact &= !e.holds(e.is_same(sources[0], sources[1]));
    }
    Ok(Changes::one(change))
}

/// The target's own cotangent, where it doesn't stay as it is.
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

/// A source's share: the weight times the partial derivative, which has to be a number that a cell can hold.
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

/// What an adjoint becomes with a share.
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
