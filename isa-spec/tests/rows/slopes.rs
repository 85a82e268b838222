//! Tests first and second derivatives far from 0, near 0, and near the ends of domains, where a formula that
//! subtracts nearly equal numbers would lose digits. The expected values were computed with mpmath at 50 digits, and
//! rounded to f64.

use reviver_isa::Function::{self, Acos, Asin, Atan, Cbrt, Erf, Ln1p, Sigmoid, Tan, Tanh};
use reviver_isa::function::Signature;
use reviver_isa::module::RealSystem;
use reviver_isa::number::F64;

use crate::jets::{constant, row};
use crate::numbers::System;
use crate::taylor::second;

/// Function, argument, first derivative, second derivative.
const SLOPES: [(Function, f64, f64, f64); 44] = [
    (Tanh, 1e-12, 1.0, -2e-12),
    (Tanh, -0.25, 0.940014848806378, 0.46045435881856595),
    (Tanh, 0.55, 0.7494795181900823, -0.7502592934545115),
    (Tanh, 0.6, 0.7115777625872228, -0.7643050585657976),
    (Tanh, 5.0, 0.0001815832309438067, -0.0003631334879209056),
    (Tanh, 10.0, 8.244614455767397e-09, -1.6489228843561127e-08),
    (Tanh, -15.0, 3.743049187535369e-13, 7.486098375069338e-13),
    (Tanh, 20.0, 1.6993417021166355e-17, -3.398683404233271e-17),
    (Tanh, -40.0, 7.219405551381661e-35, 1.4438811102763322e-34),
    (Tanh, 300.0, 1.0601586212017243e-260, -2.1203172424034486e-260),
    (Tanh, -350.0, 3.943870617503908e-304, 7.887741235007817e-304),
    (Sigmoid, 0.75, 0.21789499376181404, -0.07808428307814441),
    (Sigmoid, -20.0, 2.061153613941849e-09, 2.061153605445141e-09),
    (Sigmoid, 40.0, 4.248354255291589e-18, -4.248354255291589e-18),
    (Sigmoid, -300.0, 5.148200222412013e-131, 5.148200222412013e-131),
    (Sigmoid, 700.0, 9.85967654375977e-305, -9.85967654375977e-305),
    (Asin, 1e-12, 1.0, 1e-12),
    (Asin, -0.25, 1.0327955589886446, -0.27541214906363853),
    (Asin, 0.5, 1.1547005383792515, 0.769800358919501),
    (Asin, -0.99, 7.088812050083356, -352.65949394887014),
    (Asin, 0.9999999999990905, 741455.2001896339, 4.0761930704155674e+17),
    (Acos, -1e-12, -1.0, 1e-12),
    (Acos, 0.25, -1.0327955589886446, -0.27541214906363853),
    (Acos, -0.5, -1.1547005383792515, 0.769800358919501),
    (Acos, 0.99, -7.088812050083356, -352.65949394887014),
    (Acos, -0.9999999999990905, -741455.2001896339, 4.0761930704155674e+17),
    (Atan, 1e-12, 1.0, -2e-12),
    (Atan, -3.0, 0.1, 0.06),
    (Atan, 1e8, 9.999999999999999e-17, -1.9999999999999995e-24),
    (Atan, -1e100, 1e-200, 2e-300),
    (Erf, 1e-12, std::f64::consts::FRAC_2_SQRT_PI, -2.256758334191025e-12),
    (Erf, -3.0, 0.00013925305194674786, 0.0008355183116804871),
    (Erf, 9.0, 7.492073428245974e-36, -1.3485732170842753e-34),
    (Erf, -26.0, 2.9470349932662697e-294, 1.53245819649846e-292),
    (Ln1p, 1e-12, 0.999999999999, -0.999999999998),
    (Ln1p, -0.999, 999.9999999999991, -999999.9999999983),
    (Ln1p, 1e12, 9.99999999999e-13, -9.99999999998e-25),
    (Ln1p, 1e100, 1e-100, -1e-200),
    (Tan, 1e-12, 1.0, 2e-12),
    (Tan, -1.5, 199.85004452649247, -5636.338808658074),
    (Tan, 1.57, 1576948.220797328, 3960554630.511349),
    (Cbrt, 1e-100, 1.5471962778709263e+66, -1.0314641852472842e+166),
    (Cbrt, -8.5, 0.08003245297877153, 0.006277055135589924),
    (Cbrt, 1e100, 7.1814489667729456e-68, -4.787632644515297e-168),
];

fn check(what: &str, (function, a): (Function, f64), found: f64, expected: f64) {
    let off = ((found - expected) / expected).abs();
    assert!(off <= 2e-15, "{what} derivative of {function:?} at {a} is {found}, not {expected}");
}

#[test]
fn derivatives_keep_their_digits() {
    let f64s = System::of(RealSystem::F64);
    for (function, a, first, curvature) in SLOPES {
        let place = (function, a);
        check("the first", place, f64s.partial(function, 0, a, 0.0).unwrap(), first);
        let of = (function, Signature::Real);
        let found = second(F64, of, 0, [[a, 1.0], [0.0, 0.0]]).unwrap();
        check("the second", place, found, curvature);
        let series = row(F64, of, [a, 1.0, 0.0], constant(0.0)).unwrap();
        check("the series' first", place, series[1], first);
        check("the series' second", place, 2.0 * series[2], curvature);
    }
}

/// The logistic function's series keeps its digits near 0, where σ'' is -σ'·tanh(a/2).
#[test]
fn the_logistic_series_keeps_its_digits_near_0() {
    for (a, curvature) in [(1e-12, -1.25e-13), (-1e-200, 1.25e-201), (0.0, 0.0)] {
        let series = row(F64, (Sigmoid, Signature::Real), [a, 1.0, 0.0], constant(0.0)).unwrap();
        assert!((2.0 * series[2] - curvature).abs() <= 1e-15 * curvature.abs(), "{series:?} at {a}");
    }
}

/// Far from 0 the derivative of tanh underflows: first to a number of few digits, then to 0. It never traps.
#[test]
fn the_derivative_of_tanh_underflows() {
    let of = |reals: RealSystem, a: f64| System::of(reals).partial(Tanh, 0, a, 0.0);
    assert_eq!(of(RealSystem::F64, 372.25), Ok(2e-323));
    assert_eq!(of(RealSystem::F32, -40.0), Ok(f64::from(7.2194056e-35_f32)));
    for a in [374.0, 400.0, 711.0, 1e5, f64::MAX] {
        assert_eq!([of(RealSystem::F64, a), of(RealSystem::F64, -a)], [Ok(0.0), Ok(0.0)], "at {a}");
        let series = row(F64, (Tanh, Signature::Real), [a, 1.0, 0.5, 0.25], constant(0.0));
        assert_eq!(series, Ok([1.0, 0.0, 0.0, 0.0]));
    }
    for system in System::fixed() {
        let least = -system.max() - system.ulp();
        for a in [system.max().next_down(), system.max() / 2.0, least] {
            assert_eq!(system.partial(Tanh, 0, a, 0.0), Ok(0.0), "at {a} in {}", system.reals);
        }
        for (_, a, first, _) in SLOPES.into_iter().filter(|slope| slope.0 == Tanh && slope.1.abs() < 100.0) {
            let found = system.partial(Tanh, 0, a, 0.0).unwrap();
            // Q7.56 has more digits than the expected value.
            let bound = 2.5 * system.ulp() + 2.0 * f64::EPSILON;
            assert!((found - first).abs() <= bound, "{found} at {a} in {}", system.reals);
        }
    }
}
