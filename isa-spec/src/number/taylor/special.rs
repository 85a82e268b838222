//! The error function and the logarithm of the gamma function of series. Their derivatives are functions of
//! series, too. The derivative of the error function is an exponential. The derivative of log Γ is computed by
//! Stirling's series, with series as numbers. The only other functions of series that this module uses are
//! logarithms and exponentials.

use super::TaylorReals;
use super::arithmetic::CoefficientArithmetic;
use super::series::{Coefficients, Jet};
use crate::arith::Elementary;
use crate::fault::Eval;

/// The argument from which Stirling's series is used.
const STIRLING_START: f64 = 16.0;

/// B₂ₖ/2k. At arguments from 16 on, the omitted terms are less than 2⁻⁷⁰.
const STIRLING_SLOPE: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32_760.0,
    1.0 / 12.0,
    -3617.0 / 8160.0,
];

impl<R: CoefficientArithmetic, const N: usize> TaylorReals<R, N> {
    /// Error function: v' = bell(u)·u'.
    pub(super) fn error_function(&self, primal: R::Cell, u: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let slope = self.plain.elementary(Elementary::ErfSlope, u.primal())?;
        let slope = self.bell(slope, u, self.count() - 1)?;
        let rates = self.rates(u)?;
        Coefficients::grown(primal, self.count(), |k, _| self.integral(&rates, &slope, k))
    }

    /// Slope of the error function: v' = -v·(u²)', for the coefficients below `end`. If v is 0, the square
    /// isn't computed, because it may overflow.
    pub(super) fn bell(&self, primal: R::Cell, u: &Jet<R, N>, end: usize) -> Eval<Jet<R, N>> {
        if primal == R::Cell::default() {
            return Ok(Coefficients::constant(primal));
        }
        let square = |k: usize| self.plain.neg(self.convolved(u, u, k, 0..k + 1)?);
        let exponent = Coefficients::grown(R::Cell::default(), end, |k, _| square(k))?;
        self.exponential(primal, &exponent)
    }

    /// Logarithm of the gamma function: v' = ψ(u)·u'.
    pub(super) fn log_gamma(&self, primal: R::Cell, u: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let slope = self.plain.elementary(Elementary::Digamma, u.primal())?;
        let slope = self.digamma(slope, u, self.count() - 1)?;
        let rates = self.rates(u)?;
        Coefficients::grown(primal, self.count(), |k, _| self.integral(&rates, &slope, k))
    }

    /// The digamma function, for the coefficients below `end`: log z - 1/(2z) - Σ B₂ₖ/(2k·z²ᵏ) for a
    /// sufficiently large z = u + n, minus 1/u, 1/(u + 1), …
    pub(super) fn digamma(&self, primal: R::Cell, u: &Jet<R, N>, end: usize) -> Eval<Jet<R, N>> {
        let one = Coefficients::constant(self.plain.literal(1.0)?);
        let zero = R::Cell::default();
        if self.plain.known(u.primal())? <= 0.0 {
            // Outside the domain, the primal in a float system isn't finite, and no derivatives are computed.
            return Ok(Coefficients::constant(primal));
        }
        let mut z = Coefficients::grown(u.primal(), end, |k, _| Ok(u.0[k]))?;
        let mut below = Coefficients::constant(zero);
        while self.plain.known(z.primal())? < STIRLING_START {
            let inverse = self.quotient(&one, &z)?;
            below = below.joined(inverse, |below, inverse| self.plain.add(below, inverse))?;
            z = z.with_primal(self.plain.add(z.primal(), one.primal())?);
        }
        let inverse = self.quotient(&one, &z)?;
        let square = self.product(&inverse, &inverse)?;
        let rest = STIRLING_SLOPE.iter().rev().try_fold(Coefficients::constant(zero), |sum, &number| {
            let sum = sum.with_primal(self.plain.add(sum.primal(), self.plain.literal(number)?)?);
            self.product(&sum, &square)
        })?;
        let half = self.plain.literal(0.5)?;
        let log = self.logarithm(self.plain.elementary(Elementary::Log, z.primal())?, &z, end)?;
        let lanes = Coefficients::grown(zero, end, |k, _| {
            let less = self
                .plain
                .add(self.plain.add(rest.0[k], self.plain.mul(inverse.0[k], half)?)?, below.0[k])?;
            self.plain.sub(log.0[k], less)
        })?;
        Ok(lanes.with_primal(primal))
    }
}
