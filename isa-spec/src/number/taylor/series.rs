//! Truncated Taylor series and the four basic operations on them. Other modules define functions of series.

use std::cmp::Ordering;
use std::ops::Range;

use super::TaylorReals;
use super::arithmetic::CoefficientArithmetic;
use crate::fault::Eval;

/// The coefficients c₀ … c_{N-1} of a series; c₀ is the primal. `==` and `<` compare only the primals. So
/// series that compare as equal may have different derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Coefficients<C, const N: usize>(pub [C; N]);

/// The series type of a Taylor number system.
pub type Jet<R, const N: usize> = Coefficients<<R as CoefficientArithmetic>::Cell, N>;

impl<C: Copy + Default, const N: usize> Default for Coefficients<C, N> {
    fn default() -> Self {
        Coefficients([C::default(); N])
    }
}

impl<C: PartialEq, const N: usize> PartialEq for Coefficients<C, N> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0[0] == other.0[0]
    }
}

impl<C: PartialOrd, const N: usize> PartialOrd for Coefficients<C, N> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0[0].partial_cmp(&other.0[0])
    }
}

impl<C: Copy + Default + PartialEq, const N: usize> Coefficients<C, N> {
    #[inline]
    pub(super) fn constant(primal: C) -> Self {
        let mut series = Coefficients::default();
        series.0[0] = primal;
        series
    }

    #[inline]
    pub(super) fn primal(&self) -> C {
        self.0[0]
    }

    pub(super) fn is_constant(&self) -> bool {
        self.valuation().is_none()
    }

    /// Returns the index of the first nonzero coefficient after the primal, or `None` if the series is a
    /// constant.
    pub(super) fn valuation(&self) -> Option<usize> {
        (1..N).find(|&k| self.0[k] != C::default())
    }

    /// Returns the series with another primal.
    pub(super) fn with_primal(mut self, primal: C) -> Self {
        self.0[0] = primal;
        self
    }

    #[inline]
    pub(super) fn lanewise(mut self, f: impl Fn(C) -> Eval<C>) -> Eval<Self> {
        for lane in &mut self.0 {
            *lane = f(*lane)?;
        }
        Ok(self)
    }

    #[inline]
    pub(super) fn joined(mut self, other: Self, f: impl Fn(C, C) -> Eval<C>) -> Eval<Self> {
        for (lane, other) in self.0.iter_mut().zip(other.0) {
            *lane = f(*lane, other)?;
        }
        Ok(self)
    }

    /// Returns the series with `primal` as the first coefficient. `next` computes each further coefficient
    /// below index `end` from its index and the preceding coefficients. The others are 0.
    #[inline]
    pub(super) fn grown(primal: C, end: usize, next: impl Fn(usize, &Self) -> Eval<C>) -> Eval<Self> {
        let mut series = Coefficients::constant(primal);
        for k in 1..end.min(N) {
            series.0[k] = next(k, &series)?;
        }
        Ok(series)
    }
}

impl<R: CoefficientArithmetic, const N: usize> TaylorReals<R, N> {
    /// Adds two series, coefficient by coefficient.
    #[inline]
    pub fn sum(&self, a: Jet<R, N>, b: Jet<R, N>) -> Eval<Jet<R, N>> {
        a.joined(b, |a, b| self.plain.add(a, b))
    }

    /// Subtracts series `b` from `a`.
    #[inline]
    pub fn difference(&self, a: Jet<R, N>, b: Jet<R, N>) -> Eval<Jet<R, N>> {
        a.joined(b, |a, b| self.plain.sub(a, b))
    }

    /// Negates each coefficient of a series.
    #[inline]
    pub fn negated(&self, a: Jet<R, N>) -> Eval<Jet<R, N>> {
        a.lanewise(|lane| self.plain.neg(lane))
    }

    /// Σ aⱼ·b_{k-j} over a range of j; 0 if the range is empty.
    #[inline]
    pub(super) fn convolved(
        &self,
        a: &Jet<R, N>,
        b: &Jet<R, N>,
        k: usize,
        range: Range<usize>,
    ) -> Eval<R::Cell> {
        let term = |j: usize| self.plain.mul(a.0[j], b.0[k - j]);
        if range.is_empty() {
            return Ok(R::Cell::default());
        }
        let mut sum = term(range.start)?;
        for j in range.start + 1..range.end {
            sum = self.plain.add(sum, term(j)?)?;
        }
        Ok(sum)
    }

    /// a / b; 0 / b is 0 even where the division would fault, because a constant has the derivative 0.
    #[inline]
    pub(super) fn ratio(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        if a == R::Cell::default() { Ok(a) } else { self.plain.div(a, b) }
    }

    /// Multiplies two series, up to the last coefficient.
    #[inline]
    pub fn product(&self, a: &Jet<R, N>, b: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let primal = self.plain.mul(a.primal(), b.primal())?;
        Coefficients::grown(primal, self.count(), |k, _| self.convolved(a, b, k, 0..k + 1))
    }

    /// Divides series `a` by `b`.
    #[inline]
    pub fn quotient(&self, a: &Jet<R, N>, b: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let primal = self.plain.div(a.primal(), b.primal())?;
        Coefficients::grown(primal, self.count(), |k, quotient| self.quotient_lane(a, b, quotient, k))
    }

    /// Returns coefficient k of q = a / b, from q·b = a and the preceding coefficients.
    #[inline]
    pub(super) fn quotient_lane(
        &self,
        a: &Jet<R, N>,
        b: &Jet<R, N>,
        quotient: &Jet<R, N>,
        k: usize,
    ) -> Eval<R::Cell> {
        let rest = self.plain.sub(a.0[k], self.convolved(b, quotient, k, 1..k + 1)?)?;
        self.ratio(rest, b.primal())
    }
}
