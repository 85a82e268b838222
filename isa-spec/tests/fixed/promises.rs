//! Guarantees that need no oracle: no panics, exact symmetries, simple values, monotonicity.

use crate::inputs::{FRACS, Random, edges};
use crate::rotations::assert_bijective;
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::number::fixed;

/// Calls all functions; a panic, for example by overflow, fails the test.
fn call_all(a: i64, b: i64, c: i64, frac: u32) {
    let plain = [
        fixed::sin,
        fixed::cos,
        fixed::atan,
        fixed::tanh,
        fixed::sigmoid,
        fixed::floor,
        fixed::trunc,
        fixed::to_int,
    ];
    for function in plain {
        function(a, frac);
    }
    let fallible = [
        fixed::exp,
        fixed::log,
        fixed::sqrt,
        fixed::tan,
        fixed::asin,
        fixed::acos,
        fixed::sinh,
        fixed::cosh,
        fixed::round,
        fixed::from_int,
        fixed::exp_m1,
        fixed::ln_1p,
        fixed::cbrt,
        fixed::erf,
        fixed::erf_slope,
        fixed::log_gamma,
        fixed::digamma,
    ];
    for function in fallible {
        let _ = function(a, frac);
    }
    for function in [fixed::mul, fixed::div, fixed::pow, fixed::powi] {
        let _ = function(a, b, frac);
    }
    fixed::atan2(a, b, frac);
    let _ = fixed::hypot(a, b);
    let _ = fixed::from_f64(fixed::to_f64(a, frac), frac);
    let _ = fixed::from_f64(f64::from_bits(a as u64), frac);
    assert_bijective(a, b, c, frac);
}

#[test]
fn nothing_panics() {
    let mut source = Random::new();
    for frac in fixed::MIN_FRAC..=fixed::MAX_FRAC {
        for _ in 0..3000 {
            call_all(source.magnitude(), source.magnitude(), source.magnitude(), frac);
        }
        let edges = edges(frac);
        for &a in &edges {
            for &b in &edges {
                call_all(a, b, a ^ b, frac);
            }
        }
    }
}

#[test]
fn symmetries_are_exact() {
    let mut source = Random::new();
    for frac in FRACS {
        for _ in 0..2000 {
            let x = source.magnitude() >> source.below(2);
            for odd in [fixed::sin, fixed::atan, fixed::tanh] {
                assert_eq!(odd(-x, frac), -odd(x, frac));
            }
            for odd in [fixed::tan, fixed::sinh, fixed::asin] {
                assert_eq!(odd(-x, frac), odd(x, frac).map(|y| -y));
            }
            assert_eq!(fixed::cos(-x, frac), fixed::cos(x, frac));
            assert_eq!(fixed::cosh(-x, frac), fixed::cosh(x, frac));
        }
    }
}

#[test]
fn simple_values_are_exact() {
    for frac in fixed::MIN_FRAC..=fixed::MAX_FRAC {
        let one = 1_i64 << frac;
        let (zero, unit) = (Ok(0), Ok(one));
        for function in [fixed::exp, fixed::cosh] {
            assert_eq!(function(0, frac), unit);
        }
        for function in [fixed::tan, fixed::sinh, fixed::asin] {
            assert_eq!(function(0, frac), zero);
        }
        assert_eq!([fixed::sin(0, frac), fixed::atan(0, frac), fixed::tanh(0, frac)], [0; 3]);
        assert_eq!(fixed::cos(0, frac), one);
        assert_eq!([fixed::log(one, frac), fixed::acos(one, frac)], [zero; 2]);
        assert_eq!(fixed::atan2(0, 0, frac), 0);
        for root in 0..=11 {
            assert_eq!(fixed::sqrt(root * root * one, frac), Ok(root * one));
        }
        let powers = [fixed::pow(0, 0, frac), fixed::powi(0, 0, frac), fixed::pow(one, one / 3, frac)];
        assert_eq!(powers, [unit; 3]);
        assert_eq!(fixed::pow(0, one / 2, frac), zero);
        assert_eq!(fixed::pow(0, -one / 2, frac), Err(Fault::DivisionByZero));
        assert_eq!(fixed::powi(0, -1, frac), Err(Fault::DivisionByZero));
        assert_eq!(fixed::pow(-one, one / 2, frac), Err(Fault::Domain));
        assert_eq!(fixed::pow(-2 * one, 3 * one, frac), Ok(-8 * one));
        assert_eq!(fixed::powi(-one, i64::MIN, frac), unit);
        assert_eq!(fixed::powi(-one, i64::MAX, frac), Ok(-one));
        // The negative end of the range is itself a power.
        assert_eq!(fixed::powi(-2 * one, 63 - i64::from(frac), frac).is_ok(), frac % 2 == 0);
    }
}

#[test]
fn increasing_functions_do_not_fall() {
    let mut source = Random::new();
    let tanh = |x, frac| Ok(fixed::tanh(x, frac));
    let atan = |x, frac| Ok(fixed::atan(x, frac));
    let functions: [fn(i64, u32) -> Eval<i64>; 7] =
        [fixed::exp, fixed::log, fixed::sqrt, fixed::sinh, fixed::asin, tanh, atan];
    for frac in FRACS {
        for function in functions {
            for _ in 0..100 {
                let start = source.within(2 << frac);
                let results: Vec<i64> = (start..start + 20).filter_map(|x| function(x, frac).ok()).collect();
                assert!(results.is_sorted(), "after {start} with {frac} fraction bits");
            }
        }
    }
}
