//! Tests the rows over Taylor jets of seven coefficients, against interpolation and against published series.

use std::array;
use std::f64::consts::{FRAC_2_SQRT_PI, FRAC_PI_2};

use reviver_isa::Function;
use reviver_isa::arith::Elementary::{self, *};
use reviver_isa::fault::Eval;
use reviver_isa::function::Signature;
use reviver_isa::number::taylor::Coefficients;
use reviver_isa::number::{Arithmetic, F64, FixedPoint, Reals, TaylorReals, Wide};

use crate::bytes::is_frozen;
use crate::numbers::Random;
use crate::precise::{self, polynomial};

/// The coefficients of one jet.
pub type Jet<const N: usize> = [f64; N];

/// Evaluates a row over Taylor numbers; the second source of [`Signature::RealInt`] is the primal of `b`.
pub fn row<R: Reals<Bits = u64>, const N: usize>(
    reals: R,
    (function, signature): (Function, Signature),
    a: Jet<N>,
    b: Jet<N>,
) -> Eval<Jet<N>>
where
    [u64; N]: Default,
{
    let numbers = Arithmetic { words: Wide, reals: TaylorReals::<R, N>::new(reals) };
    let (x, y) = (series(reals, a), series(reals, b));
    let value = match signature {
        Signature::RealInt => function.real_int(&numbers, x, b[0] as i64),
        _ => function.real(&numbers, x, y),
    };
    Ok(numbers.reals.admit(value?)?.0.map(|lane| reals.to_f64(lane)))
}

/// Returns the jet of a constant.
pub fn constant<const N: usize>(primal: f64) -> Jet<N> {
    array::from_fn(|k| if k == 0 { primal } else { 0.0 })
}

pub fn series<R: Reals, const N: usize>(reals: R, coefficients: Jet<N>) -> Coefficients<R::Cell, N> {
    Coefficients(coefficients.map(|c| reals.literal(c).unwrap()))
}

/// Returns every function and signature from reals to reals.
pub fn rows() -> impl Iterator<Item = (Function, Signature)> {
    Function::ALL.iter().flat_map(|&function| {
        let signatures = function
            .signatures()
            .filter(|signature| matches!(signature, Signature::Real | Signature::RealInt));
        signatures.map(move |signature| (function, signature))
    })
}

/// Returns sources within the function's domain, at some distance from points where the function has a kink
/// or the domain ends.
pub fn sources(function: Function, signature: Signature, random: &mut Random) -> [f64; 2] {
    use Function::{Acos, Asin, Floor, Ln1p, Log, LogGamma, Max, Min, Pow, Round, Sqrt, Tan};
    // Multiples of 1/64 are exact in every system.
    let mut some = |low: f64, high: f64| (64.0 * (low + (high - low) * random.unit())).round() / 64.0;
    let (a, b) = (some(0.5, 2.0), some(0.5, 2.0));
    let a = match function {
        Sqrt | Log | LogGamma | Pow => a,
        Asin | Acos | Ln1p => a / 2.0 - 0.5,
        Tan => a / 2.0,
        Floor | Round => a.floor() + 0.3125,
        _ if some(0.0, 1.0) < 0.5 => -a,
        _ => a,
    };
    match signature {
        Signature::RealInt => [a, some(-5.0, 6.0).round()],
        _ if matches!(function, Min | Max) && (a - b).abs() < 0.1 => [a, b + 1.0],
        _ => [a, b],
    }
}

/// Returns the rows whose series are checked against a textbook definition: all rows of releases, and newer
/// rows for which a definition is given.
pub fn rows_of_textbooks() -> impl Iterator<Item = (Function, Signature)> {
    let one = precise::real(1.0);
    rows().filter(move |&(function, _)| {
        let is_known = precise::textbook(function, &one, &one).is_some();
        assert!(is_known || !is_frozen(function), "no textbook has {function:?}");
        is_known
    })
}

/// Returns a jet with this primal and random other coefficients.
fn jet(primal: f64, random: &mut Random) -> Jet<7> {
    array::from_fn(|k| if k == 0 { primal } else { (32.0 * random.unit()).round() / 64.0 - 0.25 })
}

fn check_row<R: Reals<Bits = u64>>(reals: R, (function, signature): (Function, Signature), tolerance: f64) {
    let mut random = Random::new();
    for _ in 0..20 {
        let [a, b] = sources(function, signature, &mut random);
        let a = jet(a, &mut random);
        let b = if signature == Signature::Real { jet(b, &mut random) } else { constant(b) };
        let found = row(reals, (function, signature), a, b).unwrap();
        let expected: Jet<7> =
            precise::taylor(|t| precise::value(function, &polynomial(&a, t), &polynomial(&b, t)));
        let size = expected.iter().fold(1.0, |size: f64, c| size.max(c.abs()));
        for k in 1..7 {
            let off = (found[k] - expected[k]).abs();
            let place = format!("{function:?} ({signature:?}) of {a:?} and {b:?}");
            assert!(off <= tolerance * size, "{place}: coefficient {k} is {}, not {}", found[k], expected[k]);
        }
    }
}

#[test]
fn every_row_has_the_coefficients_that_interpolation_finds() {
    for row in rows_of_textbooks() {
        check_row(F64, row, 1e-12);
        check_row(FixedPoint::new(43), row, 1e-9);
    }
}

/// Checks the series of a function of one variable at 0.
fn check_series(
    name: &str,
    function: impl Fn(TaylorReals<F64, 7>, Coefficients<f64, 7>) -> Eval<Coefficients<f64, 7>>,
    expected: Jet<7>,
) {
    let variable = Coefficients([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let found = function(TaylorReals::new(F64), variable).unwrap().0;
    for k in 0..7 {
        assert!((found[k] - expected[k]).abs() < 1e-15, "{name}: {found:?}");
    }
}

/// Tests series from Abramowitz and Stegun, chapters 3 and 4.
#[test]
fn series_match_the_literature() {
    type Jets = TaylorReals<F64, 7>;
    let of = |f: Elementary| move |s: Jets, x| s.elementary(f, x);
    let one_more = |s: Jets, x| s.add(s.literal(1.0)?, x);
    let third = 1.0 / 3.0;
    check_series("exp", of(Exp), [1.0, 1.0, 0.5, third / 2.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0]);
    check_series("sin", of(Sin), [0.0, 1.0, 0.0, -third / 2.0, 0.0, 1.0 / 120.0, 0.0]);
    check_series("cos", of(Cos), [1.0, 0.0, -0.5, 0.0, 1.0 / 24.0, 0.0, -1.0 / 720.0]);
    check_series("sinh", of(Sinh), [0.0, 1.0, 0.0, third / 2.0, 0.0, 1.0 / 120.0, 0.0]);
    check_series("cosh", of(Cosh), [1.0, 0.0, 0.5, 0.0, 1.0 / 24.0, 0.0, 1.0 / 720.0]);
    check_series("tan", of(Tan), [0.0, 1.0, 0.0, third, 0.0, 2.0 / 15.0, 0.0]);
    check_series("tanh", of(Tanh), [0.0, 1.0, 0.0, -third, 0.0, 2.0 / 15.0, 0.0]);
    check_series("asin", of(Asin), [0.0, 1.0, 0.0, third / 2.0, 0.0, 3.0 / 40.0, 0.0]);
    check_series("acos", of(Acos), [FRAC_PI_2, -1.0, 0.0, -third / 2.0, 0.0, -3.0 / 40.0, 0.0]);
    check_series("atan", of(Atan), [0.0, 1.0, 0.0, -third, 0.0, 0.2, 0.0]);
    let log = |s: Jets, x| s.elementary(Log, one_more(s, x)?);
    check_series("log(1 + x)", log, [0.0, 1.0, -0.5, third, -0.25, 0.2, -third / 2.0]);
    let root = |s: Jets, x| s.elementary(Sqrt, one_more(s, x)?);
    let halves = [1.0, 0.5, -0.125, 0.0625, -5.0 / 128.0, 7.0 / 256.0, -21.0 / 1024.0];
    check_series("sqrt(1 + x)", root, halves);
    check_series("(1 + x)^0.5", |s, x| s.pow(one_more(s, x)?, s.literal(0.5)?), halves);
    check_series(
        "1/(1 + x)",
        |s, x| s.div(s.literal(1.0)?, one_more(s, x)?),
        [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0],
    );
    check_series("(1 + x)^-2", |s, x| s.powi(one_more(s, x)?, -2), [1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0]);
    check_series("sigmoid", of(Sigmoid), [0.5, 0.25, 0.0, -1.0 / 48.0, 0.0, 1.0 / 480.0, 0.0]);
    let slope = FRAC_2_SQRT_PI;
    check_series("erf", of(Erf), [0.0, slope, 0.0, -slope / 3.0, 0.0, slope / 10.0, 0.0]);
    check_series("(1 + x)^4", |s, x| s.powi(one_more(s, x)?, 4), [1.0, 4.0, 6.0, 4.0, 1.0, 0.0, 0.0]);
}

#[test]
fn series_of_compositions_match_the_literature() {
    let one_more = |s: TaylorReals<F64, 7>, x| s.add(s.literal(1.0)?, x);
    let exp_sin = |s: TaylorReals<F64, 7>, x| s.elementary(Exp, s.elementary(Sin, x)?);
    check_series("exp(sin x)", exp_sin, [1.0, 1.0, 0.5, 0.0, -0.125, -1.0 / 15.0, -1.0 / 240.0]);
    let log_cos = |s: TaylorReals<F64, 7>, x| s.elementary(Log, s.elementary(Cos, x)?);
    check_series("log(cos x)", log_cos, [0.0, 0.0, -0.5, 0.0, -1.0 / 12.0, 0.0, -1.0 / 45.0]);
    let power = |s: TaylorReals<F64, 7>, x| s.pow(one_more(s, x)?, one_more(s, x)?);
    check_series("(1 + x)^(1 + x)", power, [1.0, 1.0, 1.0, 0.5, 1.0 / 3.0, 1.0 / 12.0, 3.0 / 40.0]);
    let gone = |s: TaylorReals<F64, 7>, x| s.elementary(ExpM1, s.elementary(Ln1p, x)?);
    check_series("exp_m1(ln_1p x)", gone, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let root = |s: TaylorReals<F64, 7>, x| s.elementary(Cbrt, s.powi(one_more(s, x)?, 3)?);
    check_series("cbrt((1 + x)^3)", root, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let length = |s: TaylorReals<F64, 7>, x| s.hypot(s.elementary(Sin, x)?, s.elementary(Cos, x)?);
    check_series("hypot(sin x, cos x)", length, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let back = |s: TaylorReals<F64, 7>, x| s.elementary(Atan, s.elementary(Tan, x)?);
    check_series("atan(tan x)", back, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let angle = |s: TaylorReals<F64, 7>, x| s.atan2(s.elementary(Sin, x)?, s.elementary(Cos, x)?);
    check_series("atan2(sin x, cos x)", angle, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}
