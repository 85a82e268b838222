//! The arithmetic of coefficients: the operations that functions of series apply to single coefficients.

use crate::arith::Elementary;
use crate::fault::Eval;
use crate::number::Reals;

/// Operations on the coefficients of series. Each number system of plain reals implements them. A compiler implements
/// them for values that are computed later, so the same recurrences evaluate series and generate code.
pub trait CoefficientArithmetic: Copy {
    /// A coefficient. The default is 0. `==` is true only if two coefficients are known to be equal.
    type Cell: Copy + Default + PartialEq;
    /// An integer that is the exponent of a power.
    type Exponent: Copy;

    /// Rounds an f64 to the number system.
    fn literal(&self, value: f64) -> Eval<Self::Cell>;
    /// Returns the real nearest to an integer.
    fn of_int(&self, a: i64) -> Eval<Self::Cell>;
    /// Returns the nearest f64. Faults if the coefficient isn't known yet.
    fn known(&self, a: Self::Cell) -> Eval<f64>;

    /// Adds `a` and `b`, as [`Reals::add`] does.
    fn add(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Subtracts `b` from `a`.
    fn sub(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Multiplies `a` and `b`, rounded to nearest.
    fn mul(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Divides `a` by `b`.
    fn div(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Returns the coefficient with the other sign.
    fn neg(&self, a: Self::Cell) -> Eval<Self::Cell>;
    /// Raises `a` to a real power.
    fn pow(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Raises `a` to an integer power.
    fn powi(&self, a: Self::Cell, n: Self::Exponent) -> Eval<Self::Cell>;
    /// Returns the power with the exponent n - m. `power` is the power with the exponent n. For a negative n,
    /// `power` is divided by `a` m times, because n - m might wrap.
    fn lower_power(&self, a: Self::Cell, power: Self::Cell, n: Self::Exponent, m: usize) -> Eval<Self::Cell>;
    /// Returns the real nearest to an exponent.
    fn of_exponent(&self, n: Self::Exponent) -> Eval<Self::Cell>;
    /// The length of the vector (a, b).
    fn hypot(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell>;
    /// Evaluates a unary function.
    fn elementary(&self, function: Elementary, a: Self::Cell) -> Eval<Self::Cell>;
    /// Rotates the point (x, y) by an angle in radians.
    fn rotate(&self, x: Self::Cell, y: Self::Cell, angle: Self::Cell) -> Eval<[Self::Cell; 2]>;
    /// Rotates the point (x, y) by the negated angle.
    fn rotate_back(&self, x: Self::Cell, y: Self::Cell, angle: Self::Cell) -> Eval<[Self::Cell; 2]>;

    /// Returns the result of `less` if a < b, otherwise that of `other`. If the result of the comparison isn't
    /// known yet, evaluates both.
    fn if_less<const K: usize>(
        &self,
        a: Self::Cell,
        b: Self::Cell,
        less: impl FnOnce() -> Eval<[Self::Cell; K]>,
        other: impl FnOnce() -> Eval<[Self::Cell; K]>,
    ) -> Eval<[Self::Cell; K]>;
}

impl<R: Reals<Bits = u64>> CoefficientArithmetic for R {
    type Cell = R::Cell;
    type Exponent = i64;

    #[inline]
    fn literal(&self, value: f64) -> Eval<R::Cell> {
        Reals::literal(self, value)
    }
    #[inline]
    fn of_int(&self, a: i64) -> Eval<R::Cell> {
        Reals::of_int(self, a)
    }
    #[inline]
    fn known(&self, a: R::Cell) -> Eval<f64> {
        Ok(self.to_f64(a))
    }

    #[inline]
    fn add(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        Reals::add(self, a, b)
    }
    #[inline]
    fn sub(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        Reals::sub(self, a, b)
    }
    #[inline]
    fn mul(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        Reals::mul(self, a, b)
    }
    #[inline]
    fn div(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        Reals::div(self, a, b)
    }
    #[inline]
    fn neg(&self, a: R::Cell) -> Eval<R::Cell> {
        Reals::neg(self, a)
    }
    fn pow(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        Reals::pow(self, a, b)
    }
    fn powi(&self, a: R::Cell, n: i64) -> Eval<R::Cell> {
        Reals::powi(self, a, n)
    }
    fn lower_power(&self, a: R::Cell, power: R::Cell, n: i64, m: usize) -> Eval<R::Cell> {
        match n {
            ..0 => (0..m).try_fold(power, |power, _| Reals::div(self, power, a)),
            _ => Reals::powi(self, a, n - m as i64),
        }
    }
    fn of_exponent(&self, n: i64) -> Eval<R::Cell> {
        Reals::of_int(self, n)
    }
    fn hypot(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        Reals::hypot(self, a, b)
    }
    fn elementary(&self, function: Elementary, a: R::Cell) -> Eval<R::Cell> {
        Reals::elementary(self, function, a)
    }
    fn rotate(&self, x: R::Cell, y: R::Cell, angle: R::Cell) -> Eval<[R::Cell; 2]> {
        Reals::rotate(self, x, y, angle).map(|(x, y)| [x, y])
    }
    fn rotate_back(&self, x: R::Cell, y: R::Cell, angle: R::Cell) -> Eval<[R::Cell; 2]> {
        Reals::rotate_back(self, x, y, angle).map(|(x, y)| [x, y])
    }

    #[inline]
    fn if_less<const K: usize>(
        &self,
        a: R::Cell,
        b: R::Cell,
        less: impl FnOnce() -> Eval<[R::Cell; K]>,
        other: impl FnOnce() -> Eval<[R::Cell; K]>,
    ) -> Eval<[R::Cell; K]> {
        if a < b { less() } else { other() }
    }
}
