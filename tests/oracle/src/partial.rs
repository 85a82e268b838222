//! Partial derivatives of the functions of reals, as the manual defines them, in any number system. The functions take
//! numbers, not cells or adjoints.

use num_bigint::BigInt;
use reviver_isa::function::Function;

use crate::outcome::{Step, unsupported};
use crate::real::Real;

fn sum(a: &Real, b: &Real) -> Step<Real> {
    Real::function(Function::Sum, a, b)
}

fn difference(a: &Real, b: &Real) -> Step<Real> {
    Real::function(Function::Diff, a, b)
}

fn product(a: &Real, b: &Real) -> Step<Real> {
    Real::function(Function::Mul, a, b)
}

fn quotient(a: &Real, b: &Real) -> Step<Real> {
    Real::function(Function::Div, a, b)
}

fn of(function: Function, a: &Real) -> Step<Real> {
    Real::function(function, a, a)
}

/// Constants of one number system.
struct Constants {
    zero: Real,
    one: Real,
    minus_one: Real,
    half: Real,
    quarter: Real,
}

impl Constants {
    fn beside(a: &Real) -> Step<Constants> {
        let number = |value| Real::literal(value, a.system());
        Ok(Constants {
            zero: number(0.0)?,
            one: number(1.0)?,
            minus_one: number(-1.0)?,
            half: number(0.5)?,
            quarter: number(0.25)?,
        })
    }

    fn sign(&self, a: &Real) -> Step<Real> {
        Ok(if self.zero.is_below(a)? {
            self.one.clone()
        } else if a.is_below(&self.zero)? {
            self.minus_one.clone()
        } else {
            self.zero.clone()
        })
    }

    /// Returns 1 if the condition holds, otherwise 0.
    fn step(&self, holds: bool) -> Real {
        if holds { self.one.clone() } else { self.zero.clone() }
    }

    /// Returns 1 - a² if a² is less than 1/4, otherwise (1 - a)·(1 + a).
    fn one_minus_square(&self, a: &Real) -> Step<Real> {
        let square = product(a, a)?;
        if square.is_below(&self.quarter)? {
            return difference(&self.one, &square);
        }
        product(&difference(&self.one, a)?, &sum(&self.one, a)?)
    }

    /// Returns 1 - tanh² if tanh² is less than 1/4, otherwise (2e/(1 + e²))² with e = e^-|a|.
    fn tanh_slope(&self, a: &Real) -> Step<Real> {
        let tangent = of(Function::Tanh, a)?;
        let square = product(&tangent, &tangent)?;
        if square.is_below(&self.quarter)? {
            return difference(&self.one, &square);
        }
        let exponent = if a.is_below(&self.zero)? { a.clone() } else { a.negated()? };
        let power = of(Function::Exp, &exponent)?;
        let secant = quotient(&sum(&power, &power)?, &sum(&self.one, &product(&power, &power)?)?)?;
        product(&secant, &secant)
    }

    fn magnitude(&self, a: &Real) -> Step<Real> {
        if a.is_below(&self.zero)? { a.negated() } else { Ok(a.clone()) }
    }
}

fn greater(a: Real, b: Real) -> Step<Real> {
    if a.is_below(&b)? { Ok(b) } else { Ok(a) }
}

/// Returns p / (a² + b²). All three are first divided by `scale`, the larger magnitude of a and b, to avoid overflow.
fn over_squares(p: &Real, a: &Real, b: &Real, scale: &Real) -> Step<Real> {
    let (p, a, b) = (quotient(p, scale)?, quotient(a, scale)?, quotient(b, scale)?);
    let squares = sum(&product(&a, &a)?, &product(&b, &b)?)?;
    quotient(&quotient(&p, &squares)?, scale)
}

/// Returns the partial derivative by source `by`, which is 0 or 1. `b` is ignored if the function has one source.
pub(crate) fn partial(function: Function, by: usize, a: &Real, b: &Real) -> Step<Real> {
    use Function::*;
    let constants = Constants::beside(a)?;
    let Constants { zero, one, minus_one, half, .. } = &constants;
    match (function, by) {
        (Copy, 0) | (Sum, _) | (Diff, 0) => Ok(one.clone()),
        (Diff, _) => Ok(minus_one.clone()),
        (Mul, 0) => Ok(b.clone()),
        (Mul, _) => Ok(a.clone()),
        (Div, 0) => quotient(one, b),
        (Div, _) => quotient(&quotient(a, b)?, b)?.negated(),
        (Pow, 0) => power_by_base(&constants, a, b),
        (Pow, _) => product(&Real::function(Pow, a, b)?, &of(Log, a)?),
        (Min, 0) => Ok(constants.step(!b.is_below(a)?)),
        (Min, _) => Ok(constants.step(b.is_below(a)?)),
        (Max, 0) => Ok(constants.step(!a.is_below(b)?)),
        (Max, _) => Ok(constants.step(a.is_below(b)?)),
        (Abs, 0) => constants.sign(a),
        (Square, 0) => sum(a, a),
        (Relu, 0) => Ok(constants.step(zero.is_below(a)?)),
        (Inv, 0) => quotient(&quotient(one, a)?, a)?.negated(),
        (Sqrt, 0) => quotient(half, &of(Sqrt, a)?),
        (Exp, 0) => of(Exp, a),
        (Log, 0) => quotient(one, a),
        (Sin, 0) => of(Cos, a),
        (Cos, 0) => of(Sin, a)?.negated(),
        (Tan, 0) => {
            let tangent = of(Tan, a)?;
            sum(one, &product(&tangent, &tangent)?)
        }
        (Asin, 0) => quotient(one, &of(Sqrt, &constants.one_minus_square(a)?)?),
        (Acos, 0) => quotient(one, &of(Sqrt, &constants.one_minus_square(a)?)?)?.negated(),
        (Atan, 0) => over_squares(one, a, one, &greater(constants.magnitude(a)?, one.clone())?),
        (Atan2, _) => {
            let scale = greater(constants.magnitude(a)?, constants.magnitude(b)?)?;
            if by == 0 { over_squares(b, a, b, &scale) } else { over_squares(a, a, b, &scale)?.negated() }
        }
        (Sinh, 0) => of(Cosh, a),
        (Cosh, 0) => of(Sinh, a),
        (Tanh, 0) => constants.tanh_slope(a),
        (Floor | Round, 0) => Ok(zero.clone()),
        (ExpM1, 0) => of(Exp, a),
        (Ln1p, 0) => quotient(one, &sum(one, a)?),
        (Sigmoid, 0) => product(&of(Sigmoid, a)?, &of(Sigmoid, &a.negated()?)?),
        (Cbrt, 0) => {
            let (root, three) = (of(Cbrt, a)?, Real::literal(3.0, a.system())?);
            if constants.magnitude(a)?.is_below(one)? {
                quotient(&root, &product(&three, a)?)
            } else {
                quotient(&quotient(&root, &three)?, a)
            }
        }
        (Hypot, _) => {
            let scale = greater(constants.magnitude(a)?, constants.magnitude(b)?)?;
            let length = Real::function(Hypot, &quotient(a, &scale)?, &quotient(b, &scale)?)?;
            quotient(&quotient(if by == 0 { a } else { b }, &scale)?, &length)
        }
        (Erf | LogGamma, 0) => Real::slope(function, a),
        _ => unsupported(format!("the derivative of `{function:?}`")),
    }
}

/// Returns the derivative of a^b by a: b·a^(b - 1), and 0 if b = 0.
fn power_by_base(constants: &Constants, a: &Real, b: &Real) -> Step<Real> {
    let Constants { zero, one, .. } = constants;
    if !b.equals(zero)? {
        return product(b, &Real::function(Function::Pow, a, &difference(b, one)?)?);
    }
    let divisor = if a.equals(zero)? { one } else { a };
    quotient(&product(b, &Real::function(Function::Pow, a, b)?)?, divisor)
}

/// Returns the derivative by the base of a power with an integer exponent.
pub(crate) fn of_power(base: &Real, exponent: &BigInt) -> Step<Real> {
    let (zero, one) = (BigInt::ZERO, BigInt::from(1));
    let factor = Real::of_integer(exponent, base.system())?;
    let power = if *exponent > zero {
        base.power(&(exponent - one))?
    } else if *exponent < zero {
        quotient(&base.power(exponent)?, base)?
    } else {
        base.power(&zero)?
    };
    product(&factor, &power)
}
