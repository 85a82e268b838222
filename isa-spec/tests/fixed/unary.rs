//! Tests of the fixed-point functions of one number.

use crate::inputs::{FRACS, Random, around, edges, nearest_to_quarter_turns};
use crate::oracle::{ErrorMeter, Exact, NEAREST, PRECISION, Real, exact_exp, int, ln2, raw, real, value};
use crate::series;
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::number::fixed;

/// Checks a function for the edges, the inputs of `special`, and 400 random inputs, with each number of
/// fraction bits.
fn check_unary(
    name: &'static str,
    function: impl Fn(i64, u32) -> Eval<i64>,
    exact: impl Fn(&Real) -> Exact,
    special: impl FnMut(&mut Random, u32) -> Vec<i64>,
    random: impl FnMut(&mut Random, u32) -> i64,
) {
    check_within(NEAREST, name, function, exact, special, random);
}

/// The same as `check_unary` with another error bound.
fn check_within(
    bound: f64,
    name: &'static str,
    function: impl Fn(i64, u32) -> Eval<i64>,
    exact: impl Fn(&Real) -> Exact,
    mut special: impl FnMut(&mut Random, u32) -> Vec<i64>,
    mut random: impl FnMut(&mut Random, u32) -> i64,
) {
    let mut meter = ErrorMeter::new(name, bound);
    let mut source = Random::new();
    for frac in FRACS {
        let mut inputs = edges(frac);
        inputs.extend(special(&mut source, frac));
        inputs.extend((0..400).map(|_| random(&mut source, frac)));
        for x in inputs {
            meter.check(function(x, frac), exact(&real(x, frac)), frac, &[x]);
        }
    }
    meter.finish();
}

/// Returns a number of magnitude below 40, where most exponentials neither round to 0 nor overflow.
fn exponential_argument(source: &mut Random, frac: u32) -> i64 {
    source.within((40 << frac) - 1)
}

#[test]
fn exp_is_nearest() {
    let special = |_: &mut Random, frac: u32| {
        let overflow = raw(&(ln2() * int(63 - i64::from(frac))), frac);
        let underflow = raw(&(ln2() * int(-1 - i64::from(frac))), frac);
        around([overflow, underflow, 64 << frac, -64 << frac])
    };
    check_unary("exp", fixed::exp, exact_exp, special, exponential_argument);
}

#[test]
fn log_is_nearest() {
    let exact = |x: &Real| if *x <= int(0) { Exact::Fault(Fault::Domain) } else { value(x.ln()) };
    let special = |source: &mut Random, frac: u32| {
        (0..100).map(|_| (1 << frac) + source.within((1 << frac) - 1)).collect()
    };
    check_unary("log", fixed::log, exact, special, |source, _| source.magnitude() & i64::MAX);
}

#[test]
fn sqrt_is_nearest() {
    let exact = |x: &Real| if *x < int(0) { Exact::Fault(Fault::Domain) } else { value(x.sqrt()) };
    let random = |source: &mut Random, _| source.magnitude() & i64::MAX;
    check_unary("sqrt", fixed::sqrt, exact, |_, _| Vec::new(), random);
}

/// Returns numbers close to multiples of a quarter turn, of all magnitudes, and the closest ones.
fn near_quarter_turns(source: &mut Random, frac: u32) -> Vec<i64> {
    let quarter = Real::pi(PRECISION) / int(2);
    let turns = (0..20).map(|_| int(source.magnitude() >> frac) * &quarter);
    let few = (-4..=4).map(|turns| int(turns) * &quarter);
    let mut centers: Vec<i64> = turns.chain(few).map(|x| raw(&x, frac)).collect();
    let nearest = nearest_to_quarter_turns(frac);
    centers.extend(nearest.iter().flat_map(|&x| [x, -x, x / 2, x.saturating_mul(3)]));
    around(centers)
}

#[test]
fn sin_is_nearest() {
    let random = |source: &mut Random, _| source.magnitude();
    check_unary("sin", |x, frac| Ok(fixed::sin(x, frac)), |x| value(x.sin()), near_quarter_turns, random);
}

#[test]
fn cos_is_nearest() {
    let random = |source: &mut Random, _| source.magnitude();
    check_unary("cos", |x, frac| Ok(fixed::cos(x, frac)), |x| value(x.cos()), near_quarter_turns, random);
}

#[test]
fn tan_is_nearest() {
    let special = |source: &mut Random, frac: u32| {
        let mut inputs = near_quarter_turns(source, frac);
        // The arguments where the tangent leaves the range.
        let end = raw(&(int(1) << (63 - frac as isize)).atan(), frac);
        inputs.extend(around([end, -end]));
        inputs
    };
    check_unary("tan", fixed::tan, |x| value(x.tan()), special, |source, _| source.magnitude());
}

/// Returns numbers close to 1 and -1.
fn near_ones(source: &mut Random, frac: u32) -> Vec<i64> {
    let one = 1_i64 << frac;
    let below = (0..60).map(|_| one - source.within(one / 4).abs());
    below.flat_map(|x| [x, -x]).collect()
}

fn in_unit(function: impl Fn(&Real) -> Real) -> impl Fn(&Real) -> Exact {
    move |x| {
        let inside = *x >= int(-1) && *x <= int(1);
        if inside { value(function(x)) } else { Exact::Fault(Fault::Domain) }
    }
}

#[test]
fn asin_is_nearest() {
    check_unary("asin", fixed::asin, in_unit(|x| x.asin()), near_ones, |source, frac| {
        source.within(1 << frac)
    });
}

#[test]
fn acos_is_nearest() {
    check_unary("acos", fixed::acos, in_unit(|x| x.acos()), near_ones, |source, frac| {
        source.within(1 << frac)
    });
}

#[test]
fn atan_is_nearest() {
    let random = |source: &mut Random, _| source.magnitude();
    check_unary("atan", |x, frac| Ok(fixed::atan(x, frac)), |x| value(x.atan()), near_ones, random);
}

/// Returns the arguments, of both signs, at which e^x / 2 leaves the range.
fn hyperbolic_ends(_: &mut Random, frac: u32) -> Vec<i64> {
    let end = raw(&(ln2() * int(64 - i64::from(frac))), frac);
    around([end, -end, 64 << frac, -64 << frac])
}

/// Returns a hyperbolic function that overflows for large magnitudes.
fn limited(function: impl Fn(&Real) -> Real) -> impl Fn(&Real) -> Exact {
    move |x| if *x > int(64) || *x < int(-64) { Exact::Huge } else { value(function(x)) }
}

#[test]
fn sinh_is_nearest() {
    check_unary("sinh", fixed::sinh, limited(|x| x.sinh()), hyperbolic_ends, exponential_argument);
}

#[test]
fn cosh_is_nearest() {
    check_unary("cosh", fixed::cosh, limited(|x| x.cosh()), hyperbolic_ends, exponential_argument);
}

#[test]
fn tanh_is_nearest() {
    let special = |_: &mut Random, frac: u32| around([32_i64 << frac, -32 << frac]);
    let tanh = |x: i64, frac: u32| Ok(fixed::tanh(x, frac));
    let exact = |x: &Real| value(x.clone().clamp(int(-100), int(100)).tanh());
    check_unary("tanh", tanh, exact, special, exponential_argument);
}

#[test]
fn exp_m1_is_nearest() {
    let exact = |x: &Real| match exact_exp(x) {
        Exact::Value(power) => value(power - int(1)),
        Exact::Tiny => value(int(-1)),
        other => other,
    };
    let special = |_: &mut Random, frac: u32| {
        let overflow = raw(&((int(1) << (63 - frac as isize)) + int(1)).ln(), frac);
        around([overflow, 64 << frac, -64 << frac])
    };
    check_unary("exp_m1", fixed::exp_m1, exact, special, exponential_argument);
}

#[test]
fn ln_1p_is_nearest() {
    let exact = |x: &Real| if *x <= int(-1) { Exact::Fault(Fault::Domain) } else { value((int(1) + x).ln()) };
    let special = |source: &mut Random, frac: u32| (0..100).map(|_| source.within((1 << frac) - 1)).collect();
    check_unary("ln_1p", fixed::ln_1p, exact, special, |source, _| source.magnitude() & i64::MAX);
}

#[test]
fn sigmoid_is_nearest() {
    let exact = |x: &Real| match exact_exp(&-x) {
        Exact::Value(power) => value(int(1) / (int(1) + power)),
        Exact::Huge => value(int(0)),
        _ => value(int(1)),
    };
    let function = |x, frac| Ok(fixed::sigmoid(x, frac));
    check_unary("sigmoid", function, exact, |_, _| Vec::new(), exponential_argument);
}

#[test]
fn cbrt_is_nearest() {
    let third = |x: &Real| (x.ln() / int(3)).exp();
    let exact = move |x: &Real| match x {
        zero if *zero == int(0) => value(int(0)),
        negative if *negative < int(0) => value(-third(&-negative)),
        positive => value(third(positive)),
    };
    check_unary("cbrt", fixed::cbrt, exact, |_, _| Vec::new(), |source, _| source.magnitude());
}

/// Returns any argument up to somewhat above the point where the error function becomes 1.
fn erf_argument(source: &mut Random, frac: u32) -> i64 {
    source.within((7 << frac) - 1)
}

#[test]
fn erf_is_nearest() {
    let special = |_: &mut Random, frac: u32| around([(31 << frac) / 5, -((31 << frac) / 5)]);
    let exact = |x: &Real| value(series::erf(x));
    check_within(0.64, "erf", fixed::erf, exact, special, erf_argument);
}

#[test]
fn erf_slope_is_nearest() {
    let exact = |x: &Real| match exact_exp(&-(x * x)) {
        Exact::Value(bell) => value(bell * series::erf_slope()),
        _ => value(int(0)),
    };
    check_unary("erf'", fixed::erf_slope, exact, |_, _| Vec::new(), erf_argument);
}

fn near_zeros_of_gamma(_: &mut Random, frac: u32) -> Vec<i64> {
    let zero = raw(&(int(14_616) / int(10_000)), frac);
    around([1 << frac, 2 << frac, 16 << frac, 17 << frac, zero])
}

#[test]
fn log_gamma_is_nearest() {
    let exact =
        |x: &Real| if *x <= int(0) { Exact::Fault(Fault::Domain) } else { value(series::log_gamma(x)) };
    let random = |source: &mut Random, _| source.magnitude() & i64::MAX;
    check_unary("lgamma", fixed::log_gamma, exact, near_zeros_of_gamma, random);
}

#[test]
fn digamma_is_nearest() {
    let exact = |x: &Real| if *x <= int(0) { Exact::Fault(Fault::Domain) } else { value(series::digamma(x)) };
    let random = |source: &mut Random, _| source.magnitude() & i64::MAX;
    check_unary("digamma", fixed::digamma, exact, near_zeros_of_gamma, random);
}
