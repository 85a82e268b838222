//! The measured functions in both formats, each with exact values and the arguments to try.

use reviver_isa::number::elementary::{
    FloatOps, NativeDouble, NativeSingle, exp, inverse_trig, log, power, roots, special, trig,
};

use crate::analysis::Analysis;
use crate::angles;
use crate::errors::exponent;
use crate::real::{Real, Width, int, real};
use crate::series;

/// A measured function of one or two floats.
pub struct Subject {
    pub name: &'static str,
    pub double: fn(f64, f64) -> f64,
    pub single: fn(f32, f32) -> f32,
    pub exact: fn(&Real, &Real) -> Real,
    /// Returns the computed float, and the number that it would be without rounding.
    pub analyzed: fn(Width, f64, f64) -> (f64, Real),
    pub domain: Domain,
    /// 1 if the function rises over its domain, -1 if it falls, 0 otherwise.
    pub monotone: i8,
    /// The documented bound of errors, in ulp. `docs/functions.md` lists the greatest errors found.
    pub bound: f64,
    /// The least unit in which errors are measured. For values with a smaller unit in the last place, this
    /// unit is used.
    pub unit: f64,
    /// The bound of errors due to polynomials and tables, in ulp.
    pub formula: f64,
}

/// The arguments that are tried.
#[derive(Clone, Copy)]
pub struct Domain {
    pub least: f64,
    pub greatest: f64,
    pub second: Second,
}

/// The kind of numbers to try as the second source.
#[derive(Clone, Copy, PartialEq)]
pub enum Second {
    Unused,
    /// A float of about the same magnitude as the first source, or of any magnitude.
    Beside,
    /// An exponent for which the power may have any magnitude.
    Exponent,
    /// The same as `Exponent`, rounded to an integer.
    Whole,
}

const fn within(least: f64, greatest: f64) -> Domain {
    Domain { least, greatest, second: Second::Unused }
}

const fn two(least: f64, greatest: f64, second: Second) -> Domain {
    Domain { least, greatest, second }
}

macro_rules! subject {
    ($name:literal, $family:ident::$function:ident, $domain:expr, $monotone:literal, $bound:literal, $exact:expr) => {
        Subject {
            name: $name,
            double: |a, _| $family::$function(&NativeDouble, a),
            single: |a, _| $family::$function(&NativeSingle, a),
            exact: |a, _| ($exact)(a),
            analyzed: |width, a, b| match width {
                Width::Double => Analysis::of(NativeDouble, a, b, |s, a, _| $family::$function(s, a)),
                Width::Single => Analysis::of(NativeSingle, a, b, |s, a, _| $family::$function(s, a)),
            },
            domain: $domain,
            monotone: $monotone,
            bound: $bound,
            unit: 0.0,
            formula: 0.15,
        }
    };
}

/// Defines a function of two sources.
macro_rules! binary {
    ($name:literal, $family:ident::$function:ident, $domain:expr, $monotone:literal, $bound:literal, $exact:expr) => {
        Subject {
            name: $name,
            double: |a, b| $family::$function(&NativeDouble, a, b),
            single: |a, b| $family::$function(&NativeSingle, a, b),
            exact: |a, b| ($exact)(a, b),
            analyzed: |width, a, b| match width {
                Width::Double => Analysis::of(NativeDouble, a, b, |s, a, b| $family::$function(s, a, b)),
                Width::Single => Analysis::of(NativeSingle, a, b, |s, a, b| $family::$function(s, a, b)),
            },
            domain: $domain,
            monotone: $monotone,
            bound: $bound,
            unit: 0.0,
            formula: 0.15,
        }
    };
}

pub const SUBJECTS: &[Subject] = &[
    subject!("exp", exp::exp, within(-760.0, 715.0), 1, 1.0, |x: &Real| x.exp()),
    subject!("exp_m1", exp::exp_m1, within(-50.0, 715.0), 1, 1.0, exp_m1),
    subject!("sinh", exp::sinh, within(-715.0, 715.0), 1, 1.0, sinh),
    subject!("cosh", exp::cosh, within(-715.0, 715.0), 0, 1.0, |x: &Real| (x.exp() + (-x).exp()) / int(2)),
    subject!("tanh", exp::tanh, within(-25.0, 25.0), 1, 1.0, |x: &Real| sinh(x) * int(2)
        / (x.exp() + (-x).exp())),
    subject!("sigmoid", exp::sigmoid, within(-750.0, 50.0), 1, 1.0, |x: &Real| int(1)
        / (int(1) + (-x).exp())),
    subject!("log", log::log, within(0.0, f64::MAX), 1, 1.0, |x: &Real| x.ln()),
    Subject { formula: 0.25, ..subject!("ln_1p", log::ln_1p, within(-1.0, f64::MAX), 1, 1.0, ln_1p) },
    Subject { formula: 0.3, ..subject!("erf", special::erf, within(-14.0, 14.0), 1, 1.5, series::erf) },
    Subject {
        formula: 0.4,
        ..subject!("lgamma", special::log_gamma, within(0.0, f64::MAX), 0, 1.5, series::log_gamma)
    },
    subject!("cbrt", roots::cbrt, within(-f64::MAX, f64::MAX), 1, 1.0, cbrt),
    binary!("hypot", roots::hypot, two(-f64::MAX, f64::MAX, Second::Beside), 0, 1.0, |a: &Real, b: &Real| (a
        * a
        + b * b)
        .sqrt()),
    binary!("pow", power::pow, two(0.0, f64::MAX, Second::Exponent), 1, 1.5, |a: &Real, b: &Real| {
        limited_exp(b * a.ln())
    }),
    Subject {
        name: "powi",
        double: |a, n| power::powi(&NativeDouble, a, (n, 0.0), n % 2.0 != 0.0),
        single: |a, n| power::powi(&NativeSingle, a, (n, 0.0), n % 2.0 != 0.0),
        exact: |a, n| limited_exp(n * a.ln()),
        analyzed: |width, a, n| match width {
            Width::Double => Analysis::of(NativeDouble, a, n, |s, a, b| {
                power::powi(s, a, (b, s.float(0.0)), n % 2.0 != 0.0)
            }),
            Width::Single => Analysis::of(NativeSingle, a, n, |s, a, b| {
                power::powi(s, a, (b, s.float(0.0)), n % 2.0 != 0.0)
            }),
        },
        domain: two(0.0, f64::MAX, Second::Whole),
        monotone: 1,
        bound: 1.5,
        unit: 0.0,
        formula: 0.15,
    },
    Subject {
        formula: 0.9,
        ..subject!("erf_slope", special::erf_slope, within(-27.0, 27.0), 0, 2.0, |x: &Real| (-(x * x)).exp()
            * series::erf_slope())
    },
    Subject {
        unit: 1.0,
        formula: 0.6,
        ..subject!("digamma", special::digamma, within(0.0, f64::MAX), 1, 3.0, series::digamma)
    },
    subject!("sin", trig::sin, within(-f64::MAX, f64::MAX), 0, 1.0, angles::sin),
    subject!("cos", trig::cos, within(-f64::MAX, f64::MAX), 0, 1.0, angles::cos),
    subject!("tan", trig::tan, within(-f64::MAX, f64::MAX), 0, 1.0, angles::tan),
    subject!("asin", inverse_trig::asin, within(-1.0, 1.0), 1, 1.0, |x: &Real| x.asin()),
    subject!("acos", inverse_trig::acos, within(-1.0, 1.0), -1, 1.0, |x: &Real| x.acos()),
    subject!("atan", inverse_trig::atan, within(-f64::MAX, f64::MAX), 1, 1.0, |x: &Real| angles::atan2(
        x,
        &int(1)
    )),
    binary!("atan2", inverse_trig::atan2, two(-f64::MAX, f64::MAX, Second::Beside), 0, 1.0, angles::atan2),
];

/// Computes the cube root by Newton's method, starting from a float; each step doubles the number of correct
/// digits.
fn cbrt(x: &Real) -> Real {
    let exponent = exponent(x).div_euclid(3);
    let near_one = x.clone() >> (3 * exponent);
    let root = real(near_one.to_f64().value().cbrt());
    let better = |root: Real| (&root * int(2) + &near_one / (&root * &root)) / int(3);
    (0..4).fold(root, |root, _| better(root)) << exponent
}

/// Computes an exponential; arguments far out of range are clamped.
fn limited_exp(x: Real) -> Real {
    x.min(int(900)).max(int(-900)).exp()
}

/// Returns true if a number is so small that a few terms of a series yield 320 bits.
fn is_tiny(x: &Real) -> bool {
    let magnitude = x.to_f64().value().abs();
    magnitude < 1e-25
}

pub fn exp_m1(x: &Real) -> Real {
    if is_tiny(x) { x + x * x / int(2) + x * x * x / int(6) } else { x.exp() - int(1) }
}

pub fn sinh(x: &Real) -> Real {
    if is_tiny(x) { x + x * x * x / int(6) } else { (x.exp() - (-x).exp()) / int(2) }
}

pub fn ln_1p(x: &Real) -> Real {
    if is_tiny(x) { x - x * x / int(2) + x * x * x / int(3) } else { (int(1) + x).ln() }
}

impl Subject {
    /// Returns the exact value. Sources that are 0 aren't allowed.
    pub fn exact(&self, a: f64, b: f64) -> Real {
        (self.exact)(&real(a), &real(b))
    }
}
