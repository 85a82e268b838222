//! Powers of series. The textbook's recurrence divides by the base, which fails for a base of 0. Instead, the
//! Taylor coefficients of the power function at a₀ are combined with the powers of a - a₀, where a₀ is the
//! primal of the base a. The first N of these suffice, because series have at most N coefficients.

use super::TaylorReals;
use super::arithmetic::CoefficientArithmetic;
use super::series::{Coefficients, Jet};
use crate::arith::Elementary;
use crate::fault::Eval;

impl<R: CoefficientArithmetic, const N: usize> TaylorReals<R, N> {
    /// aⁿ for an integer n.
    pub fn whole_power(&self, a: &Jet<R, N>, n: R::Exponent) -> Eval<Jet<R, N>> {
        let primal = self.plain.powi(a.primal(), n)?;
        if a.is_constant() {
            return Ok(Coefficients::constant(primal));
        }
        let lowered = |m: usize| self.plain.lower_power(a.primal(), primal, n, m);
        self.composed_power(primal, a, self.plain.of_exponent(n)?, lowered)
    }

    /// aᵇ = a^b₀ · e^((b - b₀)·log a), where b₀ is the primal of b. Therefore a base that isn't positive is
    /// allowed for a constant exponent.
    pub fn real_power(&self, a: &Jet<R, N>, b: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let primal = self.plain.pow(a.primal(), b.primal())?;
        let power = self.constant_power(primal, a, b.primal())?;
        if b.is_constant() {
            return Ok(power);
        }
        // The last coefficient of the logarithm would only be multiplied by 0. It isn't computed, because it
        // might overflow.
        let log = self.logarithm(self.plain.elementary(Elementary::Log, a.primal())?, a, self.count() - 1)?;
        let exponent = self.product(&b.with_primal(R::Cell::default()), &log)?;
        let factor = self.exponential(self.plain.literal(1.0)?, &exponent)?;
        Ok(self.product(&power, &factor)?.with_primal(primal))
    }

    /// aᵇ for a constant b.
    fn constant_power(&self, primal: R::Cell, a: &Jet<R, N>, b: R::Cell) -> Eval<Jet<R, N>> {
        if a.is_constant() {
            return Ok(Coefficients::constant(primal));
        }
        let lowered = |m: usize| self.plain.pow(a.primal(), self.plain.sub(b, self.plain.of_int(m as i64)?)?);
        self.composed_power(primal, a, b, lowered)
    }

    /// Σ cₘ·(a - a₀)ᵐ over the Taylor coefficients of a power at a₀, by Horner's rule. `lowered` returns the
    /// power with the exponent decreased by m. If the first nonzero coefficient of a - a₀ has a high index,
    /// only a few cₘ are needed; the others aren't computed.
    fn composed_power(
        &self,
        primal: R::Cell,
        a: &Jet<R, N>,
        exponent: R::Cell,
        lowered: impl Fn(usize) -> Eval<R::Cell>,
    ) -> Eval<Jet<R, N>> {
        let Some(valuation) = a.valuation() else { return Ok(Coefficients::constant(primal)) };
        let departure = a.with_primal(R::Cell::default());
        let mut sum = Coefficients::default();
        for m in (1..=(self.count() - 1) / valuation).rev() {
            let coefficient = self.power_coefficient(exponent, m, &lowered)?;
            sum = self.product(&sum.with_primal(coefficient), &departure)?;
        }
        Ok(sum.with_primal(primal))
    }

    /// b·(b-1)·…·(b-m+1) / m! · a^(b-m), the m-th Taylor coefficient of the power at a. The coefficient is 0 if
    /// a factor is 0, even if a^(b-m) doesn't exist.
    fn power_coefficient(
        &self,
        exponent: R::Cell,
        m: usize,
        lowered: impl Fn(usize) -> Eval<R::Cell>,
    ) -> Eval<R::Cell> {
        let plain = &self.plain;
        let mut factors = [R::Cell::default(); N];
        for (j, factor) in factors.iter_mut().take(m).enumerate() {
            *factor = plain.sub(exponent, plain.of_int(j as i64)?)?;
            if *factor == R::Cell::default() {
                return Ok(*factor);
            }
        }
        let mut coefficient = lowered(m)?;
        for (j, factor) in factors.into_iter().take(m).enumerate() {
            coefficient = plain.div(plain.mul(factor, coefficient)?, plain.of_int(j as i64 + 1)?)?;
        }
        Ok(coefficient)
    }
}
