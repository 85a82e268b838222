//! The elementary functions of series. Each satisfies a differential equation, which yields every coefficient
//! from the preceding ones (Griewank and Walther, table 13.2). Powers are elsewhere.
//!
//! The equations relate *rates*: t·u'(t), whose coefficients are k·u_k. Unlike u', the rate keeps every
//! coefficient at its index. In a product with a rate, the other factor's last coefficient is never needed, and
//! isn't computed, because it might overflow.

use super::TaylorReals;
use super::arithmetic::CoefficientArithmetic;
use super::series::{Coefficients, Jet};
use crate::arith::Elementary;
use crate::fault::Eval;

/// The sign of a term that differs between circular and hyperbolic functions.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Plus,
    Minus,
}

/// The signs for a pair of functions that are each other's derivative up to sign, such as sine and cosine.
/// The first is the sign of the function's derivative, the second that of its partner's derivative.
type Signs = [Sign; 2];

const SINE: Signs = [Sign::Plus, Sign::Minus];
const COSINE: Signs = [Sign::Minus, Sign::Plus];
const HYPERBOLIC: Signs = [Sign::Plus, Sign::Plus];

impl<R: CoefficientArithmetic, const N: usize> TaylorReals<R, N> {
    /// Evaluates a unary function of a series.
    pub fn function(&self, function: Elementary, u: &Jet<R, N>) -> Eval<Jet<R, N>> {
        use Elementary::*;
        let primal = self.plain.elementary(function, u.primal())?;
        if u.is_constant() {
            return Ok(Coefficients::constant(primal));
        }
        let of = |other: Elementary| self.plain.elementary(other, u.primal());
        match function {
            Sqrt => self.root(primal, u, self.count()),
            Exp => self.exponential(primal, u),
            Log => self.logarithm(primal, u, self.count()),
            Sin => self.wave(SINE, [primal, of(Cos)?], u),
            Cos => self.wave(COSINE, [primal, of(Sin)?], u),
            Sinh => self.wave(HYPERBOLIC, [primal, of(Cosh)?], u),
            Cosh => self.wave(HYPERBOLIC, [primal, of(Sinh)?], u),
            Tan => self.tangent_of(Sign::Plus, primal, u),
            Tanh => self.tangent_of(Sign::Minus, primal, u),
            Asin => self.arc_sine(primal, u),
            Acos => {
                // The arccosine is π/2 minus the arcsine.
                let falling = self.arc_sine(primal, u)?.lanewise(|lane| self.plain.neg(lane))?;
                Ok(falling.with_primal(primal))
            }
            Atan => self.angle(u, &Coefficients::constant(self.plain.literal(1.0)?), primal),
            Floor | Round => Ok(Coefficients::constant(primal)),
            ExpM1 => Ok(self.exponential(of(Exp)?, u)?.with_primal(primal)),
            Ln1p => {
                // For a large source u, 1/(1 + u) is computed as 0.5/(0.5 + u/2), because 1 + u may be out of
                // range.
                let one = self.plain.literal(1.0)?;
                let half = self.plain.literal(0.5)?;
                let [factor] = self.plain.if_less(one, u.primal(), || Ok([half]), || Ok([one]))?;
                let part = u.lanewise(|lane| self.plain.mul(lane, factor))?;
                let sum = self.plain.add(factor, part.primal())?;
                self.logarithm(primal, &part.with_primal(sum), self.count())
            }
            Sigmoid => self.logistic(primal, u),
            Cbrt => self.cubic_root(primal, u),
            Erf => self.error_function(primal, u),
            ErfSlope => self.bell(primal, u, self.count()),
            LogGamma => self.log_gamma(primal, u),
            Digamma => self.digamma(primal, u, self.count()),
        }
    }

    /// Exponential: v' = v·u'.
    pub(super) fn exponential(&self, primal: R::Cell, u: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let rates = self.rates(u)?;
        Coefficients::grown(primal, self.count(), |k, v| self.integral(&rates, v, k))
    }

    /// Logarithm: v'·u = u', for the coefficients below `end`.
    pub(super) fn logarithm(&self, primal: R::Cell, u: &Jet<R, N>, end: usize) -> Eval<Jet<R, N>> {
        self.integral_of_quotient(primal, &self.rates(u)?, u, end)
    }

    /// Square root: v² = u, for the coefficients below `end`.
    fn root(&self, primal: R::Cell, u: &Jet<R, N>, end: usize) -> Eval<Jet<R, N>> {
        let twice = self.plain.add(primal, primal)?;
        Coefficients::grown(primal, end, |k, v| {
            let rest = self.plain.sub(u.0[k], self.convolved(v, v, k, 1..k)?)?;
            self.ratio(rest, twice)
        })
    }

    /// A sine or a cosine v, given its primal and the primal of its partner w: v' = ±w·u' and w' = ±v·u'.
    fn wave(&self, [sign, other]: Signs, [v, w]: [R::Cell; 2], u: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let rates = self.rates(u)?;
        let (mut v, mut w) = (Coefficients::constant(v), Coefficients::constant(w));
        for k in 1..self.count() {
            v.0[k] = self.signed(sign, self.integral(&rates, &w, k)?)?;
            if k + 1 < self.count() {
                w.0[k] = self.signed(other, self.integral(&rates, &v, k)?)?;
            }
        }
        Ok(v)
    }

    /// The sine and the cosine of an angle's variable part, which is the angle minus its primal.
    pub(super) fn waves_of_departure(&self, angle: &Jet<R, N>) -> Eval<[Jet<R, N>; 2]> {
        let (zero, one) = (R::Cell::default(), self.plain.literal(1.0)?);
        Ok([self.wave(SINE, [zero, one], angle)?, self.wave(COSINE, [one, zero], angle)?])
    }

    /// A circular or hyperbolic tangent: v' = (1 ± v²)·u'.
    fn tangent_of(&self, sign: Sign, primal: R::Cell, u: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let rates = self.rates(u)?;
        let mut v = Coefficients::constant(primal);
        let mut slope = Coefficients::constant(match sign {
            Sign::Plus => self.plain.add(self.plain.literal(1.0)?, self.plain.mul(primal, primal)?)?,
            Sign::Minus => self.hyperbolic_slope(u.primal(), primal)?,
        });
        for k in 1..self.count() {
            v.0[k] = self.integral(&rates, &slope, k)?;
            if k + 1 < self.count() {
                slope.0[k] = self.signed(sign, self.convolved(&v, &v, k, 0..k + 1)?)?;
            }
        }
        Ok(v)
    }

    /// Derivative of the hyperbolic tangent of a primal, given the tangent. It is computed by the operations of the
    /// row `tanh`, which gives the reasons.
    fn hyperbolic_slope(&self, u: R::Cell, tangent: R::Cell) -> Eval<R::Cell> {
        let (zero, one) = (R::Cell::default(), self.plain.literal(1.0)?);
        let square = self.plain.mul(tangent, tangent)?;
        let far = || {
            let [below, above] = self.plain.if_less(u, zero, || Ok([u, zero]), || Ok([zero, u]))?;
            let power = self.plain.elementary(Elementary::Exp, self.plain.sub(below, above)?)?;
            let sum = self.plain.add(one, self.plain.mul(power, power)?)?;
            let secant = self.plain.div(self.plain.add(power, power)?, sum)?;
            Ok([self.plain.mul(secant, secant)?])
        };
        let near = || Ok([self.plain.sub(one, square)?]);
        self.plain.if_less(square, self.plain.literal(0.25)?, near, far).map(|[slope]| slope)
    }

    /// Logistic function: v' = v·(1 - v)·u'. The factor 1 - 2v₀ of the slope's coefficients is computed as
    /// -tanh(u₀/2), because the difference would keep few digits near u₀ = 0.
    fn logistic(&self, primal: R::Cell, u: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let rates = self.rates(u)?;
        let rest = self.plain.elementary(Elementary::Sigmoid, self.plain.neg(u.primal())?)?;
        let mut v = Coefficients::constant(primal);
        let mut slope = Coefficients::constant(self.plain.mul(primal, rest)?);
        let half = self.plain.mul(u.primal(), self.plain.literal(0.5)?)?;
        let tangent = self.plain.elementary(Elementary::Tanh, half)?;
        for k in 1..self.count() {
            v.0[k] = self.integral(&rates, &slope, k)?;
            if k + 1 < self.count() {
                let outer = self.plain.mul(tangent, v.0[k])?;
                slope.0[k] = self.plain.neg(self.plain.add(outer, self.convolved(&v, &v, k, 1..k)?)?)?;
            }
        }
        Ok(v)
    }

    /// Cube root: 3·u·v' = v·u'. For each coefficient: 3k·u₀·v_k = Σ (4j - 3k)·uⱼ·v_{k-j}, over j from 1 to
    /// k.
    fn cubic_root(&self, primal: R::Cell, u: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let zero = R::Cell::default();
        if u.primal() == zero {
            // At 0, the cube root of a source that changes has an infinite derivative, so the division by 0 faults. The
            // derivatives for a constant source are 0.
            return Coefficients::grown(primal, self.count(), |k, _| self.ratio(u.0[k], zero));
        }
        let one = self.plain.literal(1.0)?;
        let magnitude = self.greater_magnitude(u.primal(), zero)?;
        Coefficients::grown(primal, self.count(), |k, v| {
            let weighted = Coefficients::grown(R::Cell::default(), k + 1, |j, _| {
                self.plain.mul(self.plain.of_int(4 * j as i64 - 3 * k as i64)?, u.0[j])
            })?;
            // For a small primal u₀, the coefficients of v are divided by 3k·u₀ before they are multiplied.
            // The division enlarges them, so that the products keep their digits. For a large u₀, 3k·u₀ might
            // be out of range, so the coefficients are divided by u₀, and the sum is divided by 3k.
            let times = self.plain.of_int(3 * k as i64)?;
            let small = || Ok([self.plain.mul(times, u.primal())?, one]);
            let [before, behind] = self.plain.if_less(magnitude, one, small, || Ok([u.primal(), times]))?;
            let quotients = v.lanewise(|lane| self.ratio(lane, before))?;
            self.ratio(self.convolved(&weighted, &quotients, k, 1..k + 1)?, behind)
        })
    }

    /// The length v of the vector (a, b): v·v' = a·a' + b·b'. One factor of each product is divided by the
    /// length of the primal. That length is computed from a vector scaled to the unit square, because a short
    /// vector has few digits in fixed point.
    pub fn length(&self, a: &Jet<R, N>, b: &Jet<R, N>, primal: R::Cell) -> Eval<Jet<R, N>> {
        if a.is_constant() && b.is_constant() {
            return Ok(Coefficients::constant(primal));
        }
        let scale = self.greater_magnitude(a.primal(), b.primal())?;
        let scaled = |lane: R::Cell| self.plain.div(lane, scale);
        let length = self.plain.hypot(scaled(a.primal())?, scaled(b.primal())?)?;
        let unit = |lane: R::Cell| self.plain.div(scaled(lane)?, length);
        let (a_rates, b_rates) = (self.rates(a)?, self.rates(b)?);
        let mut a_unit = Coefficients::constant(unit(a.primal())?);
        let mut b_unit = Coefficients::constant(unit(b.primal())?);
        let (mut v_rates, mut v_unit) = (Coefficients::default(), Coefficients::default());
        let mut v = Coefficients::constant(primal);
        for k in 1..self.count() {
            let ahead = self.plain.add(
                self.convolved(&a_rates, &a_unit, k, 1..k + 1)?,
                self.convolved(&b_rates, &b_unit, k, 1..k + 1)?,
            )?;
            let rate = self.plain.sub(ahead, self.convolved(&v_rates, &v_unit, k, 1..k)?)?;
            v.0[k] = self.ratio(rate, self.plain.of_int(k as i64)?)?;
            if k + 1 < self.count() {
                (v_rates.0[k], v_unit.0[k]) = (rate, unit(v.0[k])?);
                (a_unit.0[k], b_unit.0[k]) = (unit(a.0[k])?, unit(b.0[k])?);
            }
        }
        Ok(v)
    }

    /// Arcsine: v'·√(1 - u²) = u'.
    fn arc_sine(&self, primal: R::Cell, u: &Jet<R, N>) -> Eval<Jet<R, N>> {
        let square = self.one_minus_square(u.primal())?;
        let under = Coefficients::grown(square, self.count() - 1, |k, _| {
            self.plain.neg(self.convolved(u, u, k, 0..k + 1)?)
        })?;
        let root = self.root(self.plain.elementary(Elementary::Sqrt, square)?, &under, self.count() - 1)?;
        self.integral_of_quotient(primal, &self.rates(u)?, &root, self.count())
    }

    /// The angle v of the point (x, y): v'·(x² + y²) = x·y' - y·x'. The point is scaled to the unit square
    /// first, because squares of fixed-point numbers may overflow or vanish.
    pub fn angle(&self, y: &Jet<R, N>, x: &Jet<R, N>, primal: R::Cell) -> Eval<Jet<R, N>> {
        if x.is_constant() && y.is_constant() {
            return Ok(Coefficients::constant(primal));
        }
        let scale = self.greater_magnitude(x.primal(), y.primal())?;
        let scaled = |lane: R::Cell| self.plain.div(lane, scale);
        let (x, y) = (x.lanewise(scaled)?, y.lanewise(scaled)?);
        let square = |k: usize| {
            self.plain.add(self.convolved(&x, &x, k, 0..k + 1)?, self.convolved(&y, &y, k, 0..k + 1)?)
        };
        let squares = Coefficients::grown(square(0)?, self.count() - 1, |k, _| square(k))?;
        let ahead = self.product(&x, &self.rates(&y)?)?;
        let behind = self.product(&y, &self.rates(&x)?)?;
        let sweep = ahead.joined(behind, |ahead, behind| self.plain.sub(ahead, behind))?;
        self.integral_of_quotient(primal, &sweep, &squares, self.count())
    }

    /// 1 - u², computed as a product: near ±1 the difference of squares would keep few digits.
    fn one_minus_square(&self, u: R::Cell) -> Eval<R::Cell> {
        let one = self.plain.literal(1.0)?;
        self.plain.mul(self.plain.sub(one, u)?, self.plain.add(one, u)?)
    }

    /// The greater of the magnitudes |a| and |b|.
    fn greater_magnitude(&self, a: R::Cell, b: R::Cell) -> Eval<R::Cell> {
        let magnitude = |a: R::Cell| {
            let magnitude =
                self.plain.if_less(a, R::Cell::default(), || Ok([self.plain.neg(a)?]), || Ok([a]));
            magnitude.map(|[magnitude]| magnitude)
        };
        let (a, b) = (magnitude(a)?, magnitude(b)?);
        self.plain.if_less(a, b, || Ok([b]), || Ok([a])).map(|[greater]| greater)
    }

    fn signed(&self, sign: Sign, lane: R::Cell) -> Eval<R::Cell> {
        if sign == Sign::Minus { self.plain.neg(lane) } else { Ok(lane) }
    }

    pub(super) fn rates(&self, u: &Jet<R, N>) -> Eval<Jet<R, N>> {
        Coefficients::grown(R::Cell::default(), self.count(), |k, _| {
            self.plain.mul(self.plain.of_int(k as i64)?, u.0[k])
        })
    }

    /// Returns coefficient k of v, where v' = slope·u', from the rates of u.
    pub(super) fn integral(&self, rates: &Jet<R, N>, slope: &Jet<R, N>, k: usize) -> Eval<R::Cell> {
        self.ratio(self.convolved(rates, slope, k, 1..k + 1)?, self.plain.of_int(k as i64)?)
    }

    /// Returns v, where v'·divisor = u', from the rates of u, for the coefficients below `end`.
    fn integral_of_quotient(
        &self,
        primal: R::Cell,
        rates: &Jet<R, N>,
        divisor: &Jet<R, N>,
        end: usize,
    ) -> Eval<Jet<R, N>> {
        let zero = R::Cell::default();
        let slope = Coefficients::grown(zero, end, |k, slope| self.quotient_lane(rates, divisor, slope, k))?;
        Coefficients::grown(primal, end, |k, _| self.ratio(slope.0[k], self.plain.of_int(k as i64)?))
    }
}
