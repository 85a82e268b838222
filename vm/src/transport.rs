//! What an instruction does to adjoints: its inverse-transpose Jacobian, one rule per update with the
//! function's partial derivatives from its row. Everything is computed before anything is written,
//! so that a transport which fails changes nothing. Knows no history and no control.
//!
//! The rules are those of Liu & Zhao, "Differentiate Everything with a Reversible Domain-Specific
//! Language" (2020), section 3: executing y += f(a) backward adds y'·∂f/∂a to a'.

use std::ops::Range;

use reviver_isa::Function;
use reviver_isa::fault::Eval;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Arithmetic, Reals, Words};

use crate::trap::Failed;

/// What is to be written, or why adjoints can't be carried over the instruction.
type Transport<T> = Result<T, Failed>;

/// The gradient mode bit as a type, so that each loop is compiled for one; and whether the run is watched.
pub(crate) trait Mode {
    const ON: bool;
    /// Whether jumps are counted and peaks kept, where somebody watches: see [`crate::watch`].
    const WATCHED: bool;
}

/// Gradient mode is off: values only.
pub(crate) struct Plain;

/// Values only, on a way that is to be gone back with gradient mode on.
pub(crate) struct Watched;

/// Gradient mode is on: adjoints are transported.
pub(crate) struct Gradient;

impl Mode for Plain {
    const ON: bool = false;
    const WATCHED: bool = false;
}

impl Mode for Watched {
    const ON: bool = false;
    const WATCHED: bool = true;
}

impl Mode for Gradient {
    const ON: bool = true;
    const WATCHED: bool = true;
}

/// Whether a cotangent carries nothing.
#[inline(always)]
pub(crate) fn is_silent<R: Reals>(reals: R, cotangent: R::Cell) -> bool {
    cotangent == R::Cell::default() && reals.tangent(cotangent) == 0.0
}

/// Adjoints that an instruction is about to change: of its operands, at most one each. Slots instead of a
/// list, so that the compiler keeps them in registers.
pub(crate) struct Carried<R: Reals> {
    changes: [Option<Change<R>>; 3],
}

#[derive(Clone, Copy)]
struct Change<R: Reals> {
    cell: usize,
    value: R::Cell,
    /// Whether undoing the change gives the old bits back.
    exact: bool,
}

impl<R: Reals> Carried<R> {
    #[inline(always)]
    pub fn nothing() -> Carried<R> {
        Carried { changes: [None; 3] }
    }

    /// What a cell's adjoint is going to be, if it changes. Of two changes the later has the earlier in it.
    #[inline(always)]
    fn pending(&self, cell: usize) -> Option<R::Cell> {
        self.changes.iter().rev().flatten().find(|change| change.cell == cell).map(|change| change.value)
    }

    #[inline(always)]
    pub fn write(&self, reals: R, adjoints: &mut [R::Bits]) {
        for change in self.changes.iter().flatten() {
            adjoints[change.cell] = reals.to_bits(change.value);
        }
    }

    /// Whether undoing the transport gives every adjoint its old bits back.
    pub fn is_exact(&self) -> bool {
        self.changes.iter().flatten().all(|change| change.exact)
    }

    /// The cells whose adjoints change.
    pub fn cells(&self) -> impl Iterator<Item = usize> {
        self.changes.iter().flatten().map(|change| change.cell)
    }
}

/// Whether a target gains or loses its function's value, and so whether the sources' adjoints lose or
/// gain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sense {
    /// y += f: a' -= y'·∂f/∂a.
    Gains,
    /// y -= f: a' += y'·∂f/∂a.
    Loses,
}

impl Sense {
    fn opposite(self) -> Sense {
        match self {
            Sense::Gains => Sense::Loses,
            Sense::Loses => Sense::Gains,
        }
    }
}

/// What the rules read.
pub(crate) struct View<'a, W, R: Reals> {
    pub numbers: Arithmetic<W, R>,
    pub reals: &'a [R::Bits],
    pub adjoints: &'a [R::Bits],
    /// Where immediates are pooled: constants, which receive nothing.
    pub pool: &'a Range<usize>,
}

impl<W: Words, R: Reals> View<'_, W, R> {
    #[inline(always)]
    fn value(&self, cell: usize) -> R::Cell {
        self.numbers.reals.of_bits(self.reals[cell])
    }

    #[inline(always)]
    pub fn adjoint(&self, cell: usize) -> R::Cell {
        self.numbers.reals.of_bits(self.adjoints[cell])
    }

    #[inline(always)]
    fn receives(&self, cell: usize) -> bool {
        !self.pool.contains(&cell) || !keeps(Rule::ConstantsReceiveNothing)
    }

    /// y += f(a, b) or y -= f(a, b) over reals: each source gets its share of y'.
    #[inline(always)]
    pub fn accumulate(
        &self,
        function: Function,
        [y, a, b]: [usize; 3],
        sense: Sense,
    ) -> Transport<Carried<R>> {
        let mut carried = Carried::nothing();
        let cotangent = self.adjoint(y);
        if is_silent(self.numbers.reals, cotangent) {
            return Ok(carried);
        }
        let arity = function.arity();
        if arity > 0 && self.receives(a) {
            let partial = self.partial(0, function.d_a(&self.numbers, self.value(a), self.value(b)))?;
            carried.changes[0] = Some(self.given(&carried, a, cotangent, partial, sense)?);
        }
        if arity > 1 && self.receives(b) {
            let partial = self.partial(1, function.d_b(&self.numbers, self.value(a), self.value(b)))?;
            let change = self.given(&carried, b, cotangent, partial, sense)?;
            // Two shares of one cell are given back in the order in which they were taken, not in the
            // opposite one, so that floats may lose bits although each share alone loses none.
            carried.changes[1] = Some(Change { exact: change.exact && (R::EXACT || a != b), ..change });
        }
        Ok(carried)
    }

    /// The same for a function of a real and an integer.
    pub fn accumulate_with_int(
        &self,
        function: Function,
        [y, a]: [usize; 2],
        b: i64,
        sense: Sense,
    ) -> Transport<Carried<R>> {
        let mut carried = Carried::nothing();
        let cotangent = self.adjoint(y);
        if !is_silent(self.numbers.reals, cotangent) && self.receives(a) {
            let partial = self.partial(0, function.d_a_int(&self.numbers, self.value(a), b))?;
            carried.changes[0] = Some(self.given(&carried, a, cotangent, partial, sense)?);
        }
        Ok(carried)
    }

    /// A partial derivative by a source, if it is a number that a cell can hold.
    #[inline(always)]
    fn partial(&self, source: u8, partial: Eval<R::Cell>) -> Transport<R::Cell> {
        partial
            .and_then(|partial| self.numbers.reals.admit(partial))
            .map_err(|fault| Failed::Partial { source, fault })
    }

    /// A source's adjoint after it got its share y'·∂f/∂a.
    #[inline(always)]
    fn given(
        &self,
        carried: &Carried<R>,
        cell: usize,
        cotangent: R::Cell,
        partial: R::Cell,
        sense: Sense,
    ) -> Transport<Change<R>> {
        let share = self.numbers.reals.mul(cotangent, partial);
        share.and_then(|share| self.changed(carried, cell, share, sense)).map_err(Failed::Carried)
    }

    #[inline(always)]
    fn changed(&self, carried: &Carried<R>, cell: usize, share: R::Cell, sense: Sense) -> Eval<Change<R>> {
        let reals = self.numbers.reals;
        let old = carried.pending(cell).unwrap_or(self.adjoint(cell));
        let sense = if keeps(Rule::SharesHaveOppositeSigns) { sense } else { sense.opposite() };
        let (new, undone) = match sense {
            Sense::Gains => {
                let new = reals.sub(old, share)?;
                (new, reals.add(new, share))
            }
            Sense::Loses => {
                let new = reals.add(old, share)?;
                (new, reals.sub(new, share))
            }
        };
        let exact = R::EXACT || undone.map(|undone| reals.to_bits(undone)) == Ok(reals.to_bits(old));
        Ok(Change { cell, value: reals.admit(new)?, exact })
    }

    /// y := -y.
    pub fn negate(&self, y: usize) -> Transport<Carried<R>> {
        let mut carried = Carried::nothing();
        let cotangent = self.adjoint(y);
        if !is_silent(self.numbers.reals, cotangent) {
            let value = self.numbers.reals.neg(cotangent).map_err(Failed::Carried)?;
            carried.changes[0] = Some(Change { cell: y, value, exact: true });
        }
        Ok(carried)
    }

    /// A rotation of the point (x, y) by the angle: its adjoint rotates alike, and the angle's adjoint
    /// gets the cross product of both, taken on the side where the point isn't rotated, so that both
    /// directions compute the same number.
    pub fn rotate(&self, turn: &Turn<R>, cells: [usize; 3]) -> Transport<Carried<R>> {
        self.rotated(turn, cells).map_err(Failed::Carried)
    }

    fn rotated(&self, turn: &Turn<R>, [x, y, angle]: [usize; 3]) -> Eval<Carried<R>> {
        let reals = self.numbers.reals;
        let mut carried = Carried::nothing();
        let before = (self.adjoint(x), self.adjoint(y));
        if is_silent(reals, before.0) && is_silent(reals, before.1) {
            return Ok(carried);
        }
        let after = turn.go(reals, before, self.value(angle))?;
        let after = (reals.admit(after.0)?, reals.admit(after.1)?);
        let undone = turn.back(reals, after, self.value(angle));
        let bits = |(x, y): (R::Cell, R::Cell)| (reals.to_bits(x), reals.to_bits(y));
        let exact = R::EXACT || undone.map(bits) == Ok(bits(before));
        carried.changes[0] = Some(Change { cell: x, value: after.0, exact });
        carried.changes[1] = Some(Change { cell: y, value: after.1, exact });
        if self.receives(angle) {
            let (point, adjoint, sense) = match turn.sense {
                Sense::Gains => (turn.before, before, Sense::Gains),
                Sense::Loses => (turn.after, after, Sense::Loses),
            };
            let cross = reals.sub(reals.mul(point.0, adjoint.1)?, reals.mul(point.1, adjoint.0)?)?;
            carried.changes[2] = Some(self.changed(&carried, angle, cross, sense)?);
        }
        Ok(carried)
    }
}

/// A point.
pub(crate) type Point<R> = (<R as Reals>::Cell, <R as Reals>::Cell);

/// A rotation of a point, made or unmade.
pub(crate) struct Turn<R: Reals> {
    /// `Gains` by the angle, `Loses` by the negated angle.
    pub sense: Sense,
    pub before: Point<R>,
    pub after: Point<R>,
}

impl<R: Reals> Turn<R> {
    /// The point turned by the angle, or by the negated angle.
    pub fn go(&self, reals: R, (x, y): Point<R>, angle: R::Cell) -> Eval<Point<R>> {
        turned(reals, self.sense, (x, y), angle)
    }

    /// The point turned the other way.
    pub fn back(&self, reals: R, (x, y): Point<R>, angle: R::Cell) -> Eval<Point<R>> {
        turned(reals, self.sense.opposite(), (x, y), angle)
    }
}

/// A point turned by an angle in radians, or by the negated angle.
pub(crate) fn turned<R: Reals>(reals: R, sense: Sense, (x, y): Point<R>, angle: R::Cell) -> Eval<Point<R>> {
    match sense {
        Sense::Gains => reals.rotate(x, y, angle),
        Sense::Loses => reals.rotate_back(x, y, angle),
    }
}
