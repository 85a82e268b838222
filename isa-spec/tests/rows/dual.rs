//! Forward differentiation: a reading of the rows over numbers with derivatives with respect to both sources.
//! The rules are those of a textbook, chosen to differ from the rows' own formulas where possible.

use reviver_isa::arith::{Arith, Elementary, Order};
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::number::{F64, Reals};

/// A value with its derivatives with respect to the first and the second source.
#[derive(Clone, Copy, Debug)]
pub struct Dual {
    pub value: f64,
    pub by: [f64; 2],
}

impl Dual {
    pub fn constant(value: f64) -> Dual {
        Dual { value, by: [0.0; 2] }
    }

    /// Returns a source; its derivative with respect to itself is 1.
    pub fn source(value: f64, n: usize) -> Dual {
        let mut by = [0.0; 2];
        by[n] = 1.0;
        Dual { value, by }
    }

    /// Returns a value that depends on this one with a derivative of `rate`.
    fn chained(self, value: f64, rate: f64) -> Dual {
        Dual { value, by: self.by.map(|tangent| tangent * rate) }
    }

    /// Returns a value that depends on two others with these derivatives.
    fn joined(value: f64, (a, by_a): (Dual, f64), (b, by_b): (Dual, f64)) -> Dual {
        let term = |dual: Dual, rate: f64, n: usize| if dual.by[n] == 0.0 { 0.0 } else { dual.by[n] * rate };
        Dual { value, by: [0, 1].map(|n| term(a, by_a, n) + term(b, by_b, n)) }
    }
}

/// The arithmetic of dual numbers; integers carry no derivatives.
pub struct Duals;

impl Arith for Duals {
    type Int = i64;
    type Real = Dual;

    fn int(&self, value: i64) -> i64 {
        value
    }
    fn int_add(&self, a: i64, b: i64) -> i64 {
        a + b
    }
    fn int_sub(&self, a: i64, b: i64) -> i64 {
        a - b
    }
    fn int_neg(&self, a: i64) -> i64 {
        -a
    }
    fn int_mul(&self, a: i64, b: i64) -> i64 {
        a * b
    }
    fn int_div(&self, a: i64, b: i64) -> Eval<i64> {
        a.checked_div(b).ok_or(Fault::DivisionByZero)
    }
    fn int_rem(&self, a: i64, b: i64) -> Eval<i64> {
        a.checked_rem(b).ok_or(Fault::DivisionByZero)
    }
    fn int_pow(&self, a: i64, exponent: i64) -> Eval<i64> {
        u32::try_from(exponent).map(|n| a.pow(n)).map_err(|_| Fault::NegativeExponent)
    }
    fn int_and(&self, a: i64, b: i64) -> i64 {
        a & b
    }
    fn int_or(&self, a: i64, b: i64) -> i64 {
        a | b
    }
    fn int_xor(&self, a: i64, b: i64) -> i64 {
        a ^ b
    }
    fn int_not(&self, a: i64) -> i64 {
        -1 - a
    }
    fn int_rol(&self, a: i64, amount: i64) -> i64 {
        a.rotate_left(amount.rem_euclid(64) as u32)
    }
    fn int_ror(&self, a: i64, amount: i64) -> i64 {
        a.rotate_right(amount.rem_euclid(64) as u32)
    }
    fn int_shl(&self, a: i64, amount: i64) -> i64 {
        a << amount
    }
    fn int_shr(&self, a: i64, amount: i64) -> i64 {
        a >> amount
    }
    fn int_sar(&self, a: i64, amount: i64) -> i64 {
        a >> amount
    }
    fn int_test(&self, order: Order, a: i64, b: i64) -> i64 {
        order.holds(a, b).into()
    }
    fn int_choose(&self, condition: i64, yes: i64, no: i64) -> i64 {
        if condition != 0 { yes } else { no }
    }

    fn real(&self, value: f64) -> Eval<Dual> {
        Ok(Dual::constant(value))
    }
    fn add(&self, a: Dual, b: Dual) -> Eval<Dual> {
        Ok(Dual::joined(a.value + b.value, (a, 1.0), (b, 1.0)))
    }
    fn sub(&self, a: Dual, b: Dual) -> Eval<Dual> {
        Ok(Dual::joined(a.value - b.value, (a, 1.0), (b, -1.0)))
    }
    fn mul(&self, a: Dual, b: Dual) -> Eval<Dual> {
        Ok(Dual::joined(a.value * b.value, (a, b.value), (b, a.value)))
    }
    fn div(&self, a: Dual, b: Dual) -> Eval<Dual> {
        let rates = (b.value / (b.value * b.value), -a.value / (b.value * b.value));
        Ok(Dual::joined(a.value / b.value, (a, rates.0), (b, rates.1)))
    }
    fn neg(&self, a: Dual) -> Eval<Dual> {
        Ok(a.chained(-a.value, -1.0))
    }
    fn pow(&self, a: Dual, b: Dual) -> Eval<Dual> {
        let value = a.value.powf(b.value);
        Ok(Dual::joined(value, (a, value * b.value / a.value), (b, value * a.value.ln())))
    }
    fn powi(&self, a: Dual, exponent: i64) -> Eval<Dual> {
        let value = a.value.powf(exponent as f64);
        Ok(a.chained(value, value * exponent as f64 / a.value))
    }
    fn atan2(&self, y: Dual, x: Dual) -> Eval<Dual> {
        let length = y.value.hypot(x.value);
        let (sine, cosine) = (y.value / length, x.value / length);
        Ok(Dual::joined(y.value.atan2(x.value), (y, cosine / length), (x, -sine / length)))
    }
    fn hypot(&self, a: Dual, b: Dual) -> Eval<Dual> {
        let angle = a.value.atan2(b.value);
        Ok(Dual::joined(a.value.hypot(b.value), (a, angle.sin()), (b, angle.cos())))
    }
    fn elementary(&self, function: Elementary, a: Dual) -> Eval<Dual> {
        let x = a.value;
        let (value, rate) = match function {
            Elementary::Sqrt => (x.sqrt(), x.powf(-0.5) / 2.0),
            Elementary::Exp => (x.exp(), x.exp()),
            Elementary::Log => (x.ln(), x.recip()),
            Elementary::Sin => (x.sin(), x.cos()),
            Elementary::Cos => (x.cos(), -x.sin()),
            Elementary::Tan => (x.tan(), x.cos().powi(-2)),
            Elementary::Asin => (x.asin(), x.asin().cos().recip()),
            Elementary::Acos => (x.acos(), -x.acos().sin().recip()),
            Elementary::Atan => (x.atan(), 1.0_f64.hypot(x).powi(-2)),
            Elementary::Sinh => (x.sinh(), (x.exp() + (-x).exp()) / 2.0),
            Elementary::Cosh => (x.cosh(), (x.exp() - (-x).exp()) / 2.0),
            Elementary::Tanh => (x.tanh(), x.cosh().powi(-2)),
            Elementary::Floor => (x.floor(), 0.0),
            Elementary::Round => (x.round_ties_even(), 0.0),
            Elementary::ExpM1 => (x.exp_m1(), x.exp_m1() + 1.0),
            Elementary::Ln1p => (x.ln_1p(), (-x.ln_1p()).exp()),
            Elementary::Sigmoid => ((1.0 + (-x).exp()).recip(), (2.0 * (x / 2.0).cosh()).powi(-2)),
            Elementary::Cbrt => (x.cbrt(), x.cbrt() / (3.0 * x)),
            Elementary::Erf => (by_the_machine(function, x), by_the_machine(Elementary::ErfSlope, x)),
            Elementary::ErfSlope => (by_the_machine(function, x), -2.0 * x * by_the_machine(function, x)),
            Elementary::LogGamma => (by_the_machine(function, x), by_the_machine(Elementary::Digamma, x)),
            Elementary::Digamma => (by_the_machine(function, x), trigamma(x)),
        };
        Ok(a.chained(value, rate))
    }
    fn rotate(&self, (x, y): (Dual, Dual), angle: Dual) -> Eval<(Dual, Dual)> {
        let (sin, cos) = (self.elementary(Elementary::Sin, angle)?, self.elementary(Elementary::Cos, angle)?);
        let across = self.sub(self.mul(x, cos)?, self.mul(y, sin)?)?;
        Ok((across, self.add(self.mul(x, sin)?, self.mul(y, cos)?)?))
    }
    fn rotate_back(&self, point: (Dual, Dual), angle: Dual) -> Eval<(Dual, Dual)> {
        self.rotate(point, self.neg(angle)?)
    }
    fn test(&self, order: Order, a: Dual, b: Dual) -> i64 {
        order.holds(a.value, b.value).into()
    }
    fn choose(&self, condition: i64, yes: Dual, no: Dual) -> Dual {
        if condition != 0 { yes } else { no }
    }
    fn real_of(&self, a: i64) -> Eval<Dual> {
        Ok(Dual::constant(a as f64))
    }
    fn int_of(&self, a: Dual) -> Eval<i64> {
        Ok(a.value as i64)
    }
}

/// Evaluates functions that no platform provides; `tests/elementary` checks them to 320 bits.
fn by_the_machine(function: Elementary, x: f64) -> f64 {
    F64.elementary(function, x).unwrap_or(f64::NAN)
}

/// Σ 1/(x + k)², by its first terms and the Euler-Maclaurin formula.
fn trigamma(x: f64) -> f64 {
    let far = x + 40.0;
    let first: f64 = (0..40).rev().map(|k| (x + f64::from(k)).powi(-2)).sum();
    first + far.recip() + far.powi(-2) / 2.0 + far.powi(-3) / 6.0 - far.powi(-5) / 30.0
}
