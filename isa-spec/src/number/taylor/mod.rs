//! Taylor numbers: truncated Taylor series over a plain number system. Two coefficients form dual numbers,
//! which carry one directional derivative; more coefficients form Taylor jets.
//!
//! Coefficient k of a series is the k-th derivative along the direction, divided by k!. Coefficient 0, the
//! *primal*, is computed by the plain system's own operation. The primal alone determines comparisons,
//! conversions and texts. So a run with Taylor numbers takes the same branches as a run with plain numbers, and
//! its primals have the same bits. The other coefficients follow the textbook (Griewank and Walther,
//! "Evaluating Derivatives", 2nd edition, SIAM 2008, chapter 13).
//!
//! A series is a constant if all coefficients except the primal are 0, and a function of constants is a
//! constant. The derivatives of such a function aren't computed, so derivatives that aren't needed never fault.
//! Each coefficient is rounded like in the plain system. This module is independent of rows and of the machine.

mod arithmetic;
mod elementary;
mod power;
mod rotation;
mod series;
mod special;

use super::reals::Reals;
use crate::arith::Elementary;
use crate::fault::Eval;
use crate::module::RealSystem;

pub use arithmetic::CoefficientArithmetic;
pub use series::{Coefficients, Jet};

/// The number system of series with `N` coefficients (1 to 32) over a plain system.
#[derive(Clone, Copy, Debug)]
pub struct TaylorReals<R, const N: usize> {
    plain: R,
    /// Number of coefficients that are computed; the others are 0.
    count: usize,
}

impl<R: CoefficientArithmetic, const N: usize> TaylorReals<R, N> {
    /// Returns the number system of series with these coefficients.
    pub fn new(plain: R) -> TaylorReals<R, N> {
        TaylorReals::up_to(plain, N - 1)
    }

    /// Returns the number system of series that end with the coefficient of this order.
    pub fn up_to(plain: R, order: usize) -> TaylorReals<R, N> {
        const { assert!(N > 0, "a series has a primal") };
        TaylorReals { plain, count: order.min(N - 1) + 1 }
    }

    /// Returns the number of coefficients that are computed. For short series it is a constant, so that the loops over
    /// coefficients are unrolled.
    #[inline]
    fn count(&self) -> usize {
        if N <= 3 { N } else { self.count }
    }
}

impl<R: Reals<Bits = u64>, const N: usize> Reals for TaylorReals<R, N>
where
    [u64; N]: Default,
{
    type Cell = Coefficients<R::Cell, N>;
    type Bits = [u64; N];

    const IS_TAYLOR: bool = true;
    const EXACT: bool = R::EXACT;

    /// Returns the number system of the primal.
    fn system(&self) -> RealSystem {
        self.plain.system()
    }

    #[inline]
    fn literal(&self, value: f64) -> Eval<Self::Cell> {
        self.plain.literal(value).map(Coefficients::constant)
    }

    /// Parses the primal; the other coefficients are 0.
    fn parse(&self, text: &str) -> Option<Self::Cell> {
        self.plain.parse(text).map(Coefficients::constant)
    }

    /// Returns the primal as an f64.
    #[inline]
    fn to_f64(&self, a: Self::Cell) -> f64 {
        self.plain.to_f64(a.primal())
    }

    #[inline]
    fn to_bits(&self, a: Self::Cell) -> [u64; N] {
        a.0.map(|lane| self.plain.to_bits(lane))
    }

    #[inline]
    fn of_bits(&self, bits: [u64; N]) -> Self::Cell {
        Coefficients(bits.map(|lane| self.plain.of_bits(lane)))
    }

    /// Returns the width of the primal in bits.
    fn width(&self) -> u32 {
        self.plain.width()
    }

    /// Checks every coefficient, because each is stored in a cell.
    #[inline]
    fn admit(&self, a: Self::Cell) -> Eval<Self::Cell> {
        a.lanewise(|lane| self.plain.admit(lane))
    }

    /// Returns the unit in the last place of the primal.
    fn ulp(&self, a: Self::Cell) -> f64 {
        self.plain.ulp(a.primal())
    }

    fn tangent(&self, a: Self::Cell, orders: usize) -> f64 {
        a.0.iter()
            .skip(1)
            .take(orders)
            .fold(0.0, |greatest, &lane| self.plain.to_f64(lane).abs().max(greatest))
    }

    fn primal(&self, a: Self::Cell) -> Self::Cell {
        Coefficients::constant(a.primal())
    }

    /// Returns the text of the primal.
    fn text(&self, a: Self::Cell) -> String {
        self.plain.text(a.primal())
    }

    #[inline]
    fn add(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell> {
        self.sum(a, b)
    }

    #[inline]
    fn sub(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell> {
        self.difference(a, b)
    }

    #[inline]
    fn mul(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell> {
        self.product(&a, &b)
    }

    #[inline]
    fn div(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell> {
        self.quotient(&a, &b)
    }

    #[inline]
    fn neg(&self, a: Self::Cell) -> Eval<Self::Cell> {
        self.negated(a)
    }

    fn pow(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell> {
        self.real_power(&a, &b)
    }

    fn powi(&self, a: Self::Cell, exponent: i64) -> Eval<Self::Cell> {
        self.whole_power(&a, exponent)
    }

    fn atan2(&self, y: Self::Cell, x: Self::Cell) -> Eval<Self::Cell> {
        self.angle(&y, &x, self.plain.atan2(y.primal(), x.primal())?)
    }

    fn hypot(&self, a: Self::Cell, b: Self::Cell) -> Eval<Self::Cell> {
        self.length(&a, &b, self.plain.hypot(a.primal(), b.primal())?)
    }

    fn elementary(&self, function: Elementary, a: Self::Cell) -> Eval<Self::Cell> {
        self.function(function, &a)
    }

    fn of_int(&self, a: i64) -> Eval<Self::Cell> {
        self.plain.of_int(a).map(Coefficients::constant)
    }

    /// Returns the integer part of the primal.
    fn to_int(&self, a: Self::Cell) -> Eval<i64> {
        self.plain.to_int(a.primal())
    }

    fn rotate(&self, x: Self::Cell, y: Self::Cell, angle: Self::Cell) -> Eval<(Self::Cell, Self::Cell)> {
        self.turn(x, y, &angle)
    }

    fn rotate_back(&self, x: Self::Cell, y: Self::Cell, angle: Self::Cell) -> Eval<(Self::Cell, Self::Cell)> {
        self.turn_back(x, y, &angle)
    }
}
