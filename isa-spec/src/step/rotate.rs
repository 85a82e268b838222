//! Rotation of a point by an angle. The point's adjoint is rotated, too. The angle's adjoint gets a
//! contribution: the cross product of the point and its adjoint. This module depends on no particular row.

use super::accumulate::{given, keep_unless};
use super::{Change, Changes, Engine, Failed, Real};
use crate::arith::Arith;
use crate::fault::Eval;
use crate::update::{PlanePoint, Sense, Update};

#[inline(always)]
pub(super) fn rotate<E: Engine>(e: &mut E, update: Update, cells: [E::Cell; 3]) -> Result<(), Failed> {
    let [x, y, angle] = cells;
    let (s, by) = (e.numbers(), e.real(angle));
    let is_kept = E::HISTORY && e.is_kept();
    if is_kept && (!E::GRADIENT || e.keeps_adjoints()) {
        e.give_back();
        return Ok(());
    }
    let before = (e.real(x), e.real(y));
    let mut after = update.turn(&s, before, by)?;
    if !is_kept {
        after = (e.admit(after.0)?, e.admit(after.1)?);
    }
    let named = (e.becomes(x, after.0), e.becomes(y, after.1));
    let changes = carry(e, update, cells, [before, named])?;
    if is_kept {
        if !e.give_back() {
            e.keep_adjoints(&changes);
            changes.write(e);
        }
        return Ok(());
    }
    if E::HISTORY {
        let is_exact = E::EXACT || is_undone(e, before, update.inverse().turn(&s, after, by));
        keep_unless(e, is_exact, &[x, y], &changes);
    }
    e.set_real(x, named.0);
    e.set_real(y, named.1);
    changes.write(e);
    Ok(())
}

fn is_undone<E: Engine>(e: &E, old: PlanePoint<Real<E>>, undone: Eval<PlanePoint<Real<E>>>) -> bool {
    match undone {
        Ok((x, y)) => e.is_undone(old.0, Ok(x)) && e.is_undone(old.1, Ok(y)),
        Err(_) => false,
    }
}

/// Returns the changes of adjoints by a rotation; none outside of gradient mode. The angle's contribution is
/// computed from the point and its adjoint before a `rot`, or after an `irot`. The numbers before a `rot` are
/// the same as those after the `irot` that undoes it, so both directions compute the same contribution.
#[inline(always)]
fn carry<E: Engine>(
    e: &mut E,
    update: Update,
    cells: [E::Cell; 3],
    [before, after]: [PlanePoint<Real<E>>; 2],
) -> Result<Changes<E>, Failed> {
    if E::GRADIENT { carry_any(e, update, cells, [before, after]) } else { Ok(Changes::nothing()) }
}

/// Returns the changes of adjoints by a rotation in gradient mode; none if both adjoints of the point are 0.
#[inline(always)]
fn carry_any<E: Engine>(
    e: &mut E,
    update: Update,
    cells: [E::Cell; 3],
    [before, after]: [PlanePoint<Real<E>>; 2],
) -> Result<Changes<E>, Failed> {
    let Some(sense) = update.sense() else { return Ok(Changes::nothing()) };
    let [x, y, _] = cells;
    let bars = (e.adjoint(x), e.adjoint(y));
    let is_nonzero = e.either(e.is_nonzero(bars.0), e.is_nonzero(bars.1));
    Ok(when!(e, is_nonzero, carry_loud(e, update, cells, [before, after], (bars, sense))))
}

#[inline(always)]
fn carry_loud<E: Engine>(
    e: &mut E,
    update: Update,
    cells: [E::Cell; 3],
    [before, after]: [PlanePoint<Real<E>>; 2],
    (bars, sense): (PlanePoint<Real<E>>, Sense),
) -> Result<Changes<E>, Failed> {
    let angle = cells[2];
    let [first, second] = turned(e, update, cells, bars).map_err(Failed::Carried)?;
    let (point, bars, at) = match sense {
        Sense::Takes => (before, bars, 0),
        Sense::Gives => (after, (first.value, second.value), 2),
    };
    let receives = e.receives(2, angle);
    let share = when!(e, receives, given_product(e, angle, (point, bars), sense));
    let [first, second] = [first, second].map(Changes::one);
    let slot = usize::from(at == 0);
    Ok(Changes::nothing().with(at, share).with(slot, first).with(slot + 1, second))
}

/// Returns the new adjoint of the angle, after the cross product of the point and its adjoint is added or
/// subtracted.
#[inline(always)]
fn given_product<E: Engine>(
    e: &mut E,
    angle: E::Cell,
    (point, bars): (PlanePoint<Real<E>>, PlanePoint<Real<E>>),
    sense: Sense,
) -> Result<Changes<E>, Failed> {
    let change =
        cross(&e.numbers(), point, bars).and_then(|share| given(e, angle, share, sense, &Changes::nothing()));
    change.map(Changes::one).map_err(Failed::Carried)
}

/// Returns the changes that rotate a point's adjoint by the angle, in the same way as the point.
#[inline(always)]
fn turned<E: Engine>(
    e: &mut E,
    update: Update,
    [x, y, angle]: [E::Cell; 3],
    bars: PlanePoint<Real<E>>,
) -> Eval<[Change<E>; 2]> {
    let (s, by) = (e.numbers(), e.real(angle));
    let new = update.turn(&s, bars, by)?;
    let new = (e.admit(new.0)?, e.admit(new.1)?);
    let is_exact = !E::HISTORY || E::EXACT || is_undone(e, bars, update.inverse().turn(&s, new, by));
    let first = Change { cell: x, value: e.adjoint_becomes(x, new.0), is_exact };
    Ok([first, Change { cell: y, value: e.adjoint_becomes(y, new.1), is_exact }])
}

/// The cross product of two points: p.x·q.y - p.y·q.x.
#[inline(always)]
fn cross<S: Arith>(s: &S, p: PlanePoint<S::Real>, q: PlanePoint<S::Real>) -> Eval<S::Real> {
    s.sub(s.mul(p.0, q.1)?, s.mul(p.1, q.0)?)
}
