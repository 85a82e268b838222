//! Taylor coefficients by interpolation: functions of a library of precise numbers are evaluated at points
//! close to each other. Uses no derivatives.

use std::array;

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use reviver_isa::Function;

use crate::series;

pub type Real = FBig<HalfEven, 2>;

pub const PRECISION: usize = 480;

/// The binary exponent of the distance of two points, which is 2^-STEP.
const STEP: isize = 48;

/// The number of points on each side of the middle.
const SIDE: usize = 4;

/// Returns a number with full precision.
pub fn real(value: f64) -> Real {
    Real::try_from(value).unwrap().with_precision(PRECISION).value()
}

pub fn int(value: i64) -> Real {
    Real::from(value).with_precision(PRECISION).value()
}

/// Returns a function's value by its textbook definition, or `None` for a function that this file doesn't
/// define. For [`Function::Powi`] the exponent must be an integer. Angles may differ from the row's by a
/// constant.
pub fn textbook(function: Function, a: &Real, b: &Real) -> Option<Real> {
    use Function::*;
    let (a, b) = (a.clone(), b.clone());
    let wave = |sign: f64| (a.exp() + real(sign) * (-&a).exp()) / real(2.0);
    Some(match function {
        Copy => a,
        Sum => a + b,
        Diff => a - b,
        Mul => a * b,
        Div => a / b,
        Pow => (b * a.ln()).exp(),
        Powi => whole_power(a, b.to_f64().value() as i64),
        Min => a.min(b),
        Max => a.max(b),
        Abs if a < real(0.0) => -a,
        Abs => a,
        Square => &a * &a,
        Relu => a.max(real(0.0)),
        Inv => real(1.0) / a,
        Sqrt => a.sqrt(),
        Exp => a.exp(),
        Log => a.ln(),
        Sin => a.sin(),
        Cos => a.cos(),
        Tan => a.tan(),
        Asin => a.asin(),
        Acos => a.acos(),
        Atan => a.atan(),
        Atan2 if &a * &a < &b * &b => (a / b).atan(),
        Atan2 => -(b / a).atan(),
        Sinh => wave(-1.0),
        Cosh => wave(1.0),
        Tanh => wave(-1.0) / wave(1.0),
        Floor => a.floor(),
        Round => a.round(),
        ExpM1 => a.exp() - real(1.0),
        Ln1p => (a + real(1.0)).ln(),
        Sigmoid => real(1.0) / (real(1.0) + (-a).exp()),
        Cbrt if a < real(0.0) => -((-a).ln() / real(3.0)).exp(),
        Cbrt => (a.ln() / real(3.0)).exp(),
        Hypot => (&a * &a + &b * &b).sqrt(),
        Erf => series::erf(&a),
        LogGamma => series::log_gamma(&a),
        _ => return None,
    })
}

/// Returns a function's value by its textbook definition. Panics if [`textbook`] doesn't define the function.
pub fn value(function: Function, a: &Real, b: &Real) -> Real {
    textbook(function, a, b).unwrap_or_else(|| panic!("no textbook has {function:?}"))
}

fn whole_power(a: Real, n: i64) -> Real {
    let product = power(&a, n.unsigned_abs() as usize);
    if n < 0 { real(1.0) / product } else { product }
}

fn power(a: &Real, n: usize) -> Real {
    (0..n).fold(real(1.0), |product, _| product * a)
}

/// Returns the value of a polynomial with these coefficients.
pub fn polynomial(coefficients: &[f64], t: &Real) -> Real {
    coefficients.iter().rev().fold(real(0.0), |sum, &c| sum * t + real(c))
}

/// Returns the first `N` (at most 7) Taylor coefficients of a function at 0.
pub fn taylor<const N: usize>(function: impl Fn(&Real) -> Real) -> [f64; N] {
    let place = |n: usize| n as f64 - SIDE as f64;
    let values = (0..=2 * SIDE).map(|n| function(&(real(place(n)) >> STEP)));
    let differences = divided_differences(values.collect());
    // Newton's form of the interpolating polynomial, expanded from the innermost factor.
    let mut coefficients = vec![real(0.0); differences.len() + 1];
    for (n, difference) in differences.iter().enumerate().rev() {
        for k in (0..differences.len()).rev() {
            let below = if k == 0 { difference.clone() } else { coefficients[k - 1].clone() };
            coefficients[k] = below - real(place(n)) * &coefficients[k];
        }
    }
    array::from_fn(|k| (coefficients[k].clone() << (STEP * k as isize)).to_f64().value())
}

/// Returns Newton's divided differences of values at points with distance 1.
fn divided_differences(mut values: Vec<Real>) -> Vec<Real> {
    for order in 1..values.len() {
        for n in (order..values.len()).rev() {
            values[n] = (&values[n] - &values[n - 1]) / real(order as f64);
        }
    }
    values
}

#[test]
fn interpolation_finds_the_exponential_series() {
    let found: [f64; 7] = taylor(|t| t.exp());
    assert_eq!(found, [1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0]);
}
