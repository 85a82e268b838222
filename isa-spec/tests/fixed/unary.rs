//! Functions of one number.

use crate::inputs::{FRACS, Random, around, edges, nearest_to_quarter_turns};
use crate::oracle::{Exact, Judge, NEAREST, PRECISION, Real, exact_exp, int, ln2, raw, real, value};
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::number::fixed;

/// Checks a function for the edges, `special` and 400 random inputs with each count of
/// fraction bits.
fn check_unary(
    name: &'static str,
    function: impl Fn(i64, u32) -> Eval<i64>,
    exact: impl Fn(&Real) -> Exact,
    mut special: impl FnMut(&mut Random, u32) -> Vec<i64>,
    mut random: impl FnMut(&mut Random, u32) -> i64,
) {
    let mut judge = Judge::new(name, NEAREST);
    let mut source = Random::new();
    for frac in FRACS {
        let mut inputs = edges(frac);
        inputs.extend(special(&mut source, frac));
        inputs.extend((0..400).map(|_| random(&mut source, frac)));
        for x in inputs {
            judge.check(function(x, frac), exact(&real(x, frac)), frac, &[x]);
        }
    }
    judge.finish();
}

/// Any number of a magnitude below 40, where exponentials are neither 0 nor overflow.
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

/// Numbers close to multiples of a quarter turn, of all magnitudes, and the very closest.
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
        // Where the tangent leaves the range.
        let end = raw(&(int(1) << (63 - frac as isize)).atan(), frac);
        inputs.extend(around([end, -end]));
        inputs
    };
    check_unary("tan", fixed::tan, |x| value(x.tan()), special, |source, _| source.magnitude());
}

/// Numbers close to 1 and -1.
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

/// Both signs of the arguments at which e^x / 2 leaves the range.
fn hyperbolic_ends(_: &mut Random, frac: u32) -> Vec<i64> {
    let end = raw(&(ln2() * int(64 - i64::from(frac))), frac);
    around([end, -end, 64 << frac, -64 << frac])
}

/// A hyperbolic function which overflows for large magnitudes.
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
