//! Tests of the fixed-point functions of two numbers.

use crate::inputs::{FRACS, Random, around, edges};
use crate::oracle::{ErrorMeter, Exact, NEAREST, exact_power, int, ln2, raw, real, value};
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::number::fixed;

/// The error bound of powers, in ulp.
const POWER: f64 = 0.63;

/// The error bound of correctly rounded functions, in ulp. The excess over 0.5 allows for the rounding of the
/// checker itself.
const EXACT: f64 = 0.5 + 1e-9;

/// Checks a function for pairs of edges, the pairs of `special`, and 400 random pairs, with each number of
/// fraction bits.
fn check_binary(
    mut meter: ErrorMeter,
    function: impl Fn(i64, i64, u32) -> Eval<i64>,
    exact: impl Fn(i64, i64, u32) -> Exact,
    special: impl Fn(&mut Random, u32) -> Vec<(i64, i64)>,
) {
    let mut source = Random::new();
    for frac in FRACS {
        let edges = edges(frac);
        let mut inputs: Vec<_> = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b))).collect();
        // Only every seventh pair of edges is checked; the selection differs by the number of fraction bits.
        let mut turn = frac;
        inputs.retain(|_| {
            turn += 1;
            turn % 7 == 0
        });
        inputs.extend(special(&mut source, frac));
        inputs.extend((0..400).map(|_| (source.magnitude(), source.magnitude())));
        for (a, b) in inputs {
            meter.check(function(a, b, frac), exact(a, b, frac), frac, &[a, b]);
        }
    }
    meter.finish();
}

#[test]
fn mul_is_nearest() {
    let exact = |a, b, frac| value(real(a, frac) * real(b, frac));
    check_binary(ErrorMeter::new("mul", EXACT), fixed::mul, exact, |source, frac| {
        (0..200).map(|_| (source.within(1 << frac), source.magnitude())).collect()
    });
}

#[test]
fn div_is_nearest() {
    let exact = |a, b, frac| match b {
        0 => Exact::Fault(Fault::DivisionByZero),
        _ => value(real(a, frac) / real(b, frac)),
    };
    check_binary(ErrorMeter::new("div", EXACT), fixed::div, exact, |source, frac| {
        (0..200).map(|_| (source.within(1 << frac), source.magnitude())).collect()
    });
}

#[test]
fn products_and_quotients_round_ties_to_even() {
    let half = 1 << 15;
    for odd in [1, 3, 5, 7, -1, -3, -5, -7] {
        let even = (f64::from(odd) / 2.0).round_ties_even() as i64;
        assert_eq!(fixed::mul(odd.into(), half, 16), Ok(even));
        assert_eq!(fixed::div(odd.into(), 2 << 16, 16), Ok(even));
    }
}

#[test]
fn atan2_is_nearest() {
    let exact = |y, x, frac| match (y, x) {
        (0, 0) => value(int(0)),
        _ => value(real(y, frac).atan2(&real(x, frac))),
    };
    check_binary(
        ErrorMeter::new("atan2", NEAREST),
        |y, x, frac| Ok(fixed::atan2(y, x, frac)),
        exact,
        |source, _| {
            // Vectors close to the middles between two table entries, and close to diagonals.
            let mut pairs = Vec::new();
            for sixtyfourths in 0..=64 {
                let x = source.magnitude() >> 8;
                let y = (i128::from(x) * sixtyfourths / 64) as i64;
                pairs.extend([(y, x), (x, y), (y + 1, x), (y - 1, -x), (-x, y)]);
            }
            pairs
        },
    );
}

fn exact_pow(a: i64, b: i64, frac: u32) -> Exact {
    let one = 1_i64 << frac;
    if b % one == 0 {
        return exact_powi(a, b >> frac, frac);
    }
    match a {
        0 if b < 0 => Exact::Fault(Fault::DivisionByZero),
        0 => value(int(0)),
        ..0 => Exact::Fault(Fault::Domain),
        _ => exact_power(&real(a, frac), &real(b, frac)),
    }
}

fn exact_powi(a: i64, n: i64, frac: u32) -> Exact {
    match (a, n) {
        (_, 0) => return value(int(1)),
        (0, ..0) => return Exact::Fault(Fault::DivisionByZero),
        (0, _) => return value(int(0)),
        _ => (),
    }
    let base = real(a, frac);
    let magnitude = if a < 0 { -base } else { base };
    match exact_power(&magnitude, &int(n)) {
        Exact::Value(power) if a < 0 && n % 2 != 0 => value(-power),
        exact => exact,
    }
}

/// Returns a base of any magnitude, or close to 1.
fn base(source: &mut Random, frac: u32) -> i64 {
    let one = 1_i64 << frac;
    let base = if source.below(2) == 0 { source.magnitude() } else { one + source.within(one - 1) };
    (base & i64::MAX).max(1)
}

/// Returns exponents at which powers of the base leave the range at either end, and some in between.
fn exponents(source: &mut Random, base: i64, frac: u32, bits: u32) -> Vec<i64> {
    let ln = real(base, frac).ln();
    if ln == int(0) {
        return vec![source.magnitude()];
    }
    let overflow = raw(&(ln2() * int(63 - i64::from(frac)) / &ln), bits);
    let underflow = raw(&(ln2() * int(-1 - i64::from(frac)) / &ln), bits);
    let between = |source: &mut Random, end: i64| match end {
        0 => 0,
        _ => (source.bits() as i64) % end.saturating_abs().max(1) * end.signum(),
    };
    let some = [between(source, overflow), between(source, overflow), between(source, underflow)];
    let mut exponents = around([overflow, underflow]);
    exponents.extend(some);
    exponents
}

#[test]
fn pow_is_close() {
    check_binary(ErrorMeter::new("pow", POWER), fixed::pow, exact_pow, |source, frac| {
        let mut pairs = Vec::new();
        for _ in 0..60 {
            let base = base(source, frac);
            pairs.extend(exponents(source, base, frac, frac).into_iter().map(|b| (base, b)));
        }
        // Integer exponents, also with negative bases.
        for _ in 0..100 {
            pairs.push((source.magnitude(), source.within(20) << frac));
        }
        pairs
    });
}

#[test]
fn powi_is_close() {
    let pairs = |source: &mut Random, frac: u32| {
        let mut pairs = Vec::new();
        for sign in [1, -1].repeat(30) {
            let base = base(source, frac);
            pairs.extend(exponents(source, base, frac, 0).into_iter().map(|n| (sign * base, n)));
        }
        // The exponents with the greatest number of multiplications, and some with few.
        let one = 1_i64 << frac;
        for base in [one + 1, one - 1, one + 2, one + 3, -one - 1, one + one / 1000] {
            for _ in 0..10 {
                pairs.extend(exponents(source, base.abs(), frac, 0).into_iter().map(|n| (base, n)));
            }
        }
        for _ in 0..200 {
            pairs.push((source.within((8 << frac) - 1), source.within(20)));
        }
        pairs
    };
    check_binary(ErrorMeter::new("powi", POWER), fixed::powi, exact_powi, pairs);
}

#[test]
fn short_powers_agree_with_products() {
    let mut source = Random::new();
    for frac in FRACS {
        for _ in 0..2000 {
            let a = source.magnitude();
            assert_eq!(fixed::powi(a, 1, frac), Ok(a));
            assert_eq!(fixed::powi(a, 2, frac), fixed::mul(a, a, frac));
            if a != 0 {
                assert_eq!(fixed::powi(a, -1, frac), fixed::div(1 << frac, a, frac));
            }
        }
    }
}

#[test]
fn hypot_is_nearest() {
    let exact = |a, b, frac| value((real(a, frac) * real(a, frac) + real(b, frac) * real(b, frac)).sqrt());
    check_binary(
        ErrorMeter::new("hypot", EXACT),
        |a, b, _| fixed::hypot(a, b),
        exact,
        |source, frac| (0..200).map(|_| (source.within(1 << frac), source.within(1 << frac))).collect(),
    );
}
