//! Angles and their functions to 320 bits, for arguments of any size, and at the hardest arguments.

use crate::constants::trig::{greatest_far, greatest_moderate};
use crate::real::{PRECISION, Real, Width, int, precise};
use crate::subject::{SUBJECTS, Subject};

/// The precision, in bits, that suffices to subtract multiples of π/2 from any float.
const DIGITS: usize = PRECISION + 1024 + 192;

/// Returns the nearest multiple of π/2 as a number modulo 4, and the remainder.
fn reduced(x: &Real) -> (u8, Real) {
    thread_local!(static HALF_PI: Real = Real::pi(DIGITS) / Real::from(2).with_precision(DIGITS).value());
    let x = x.clone().with_precision(DIGITS).value();
    HALF_PI.with(|half_pi| {
        let n = (&x / half_pi).round();
        let rest = precise(x - &n * half_pi);
        let quarters = &n - (&n / Real::from(4)).floor() * Real::from(4);
        (quarters.to_f64().value() as u8, rest)
    })
}

pub fn sin(x: &Real) -> Real {
    match reduced(x) {
        (0, rest) => rest.sin(),
        (1, rest) => rest.cos(),
        (2, rest) => -rest.sin(),
        (_, rest) => -rest.cos(),
    }
}

pub fn cos(x: &Real) -> Real {
    match reduced(x) {
        (0, rest) => rest.cos(),
        (1, rest) => -rest.sin(),
        (2, rest) => -rest.cos(),
        (_, rest) => rest.sin(),
    }
}

pub fn tan(x: &Real) -> Real {
    let (quarters, rest) = reduced(x);
    let (sine, cosine) = (rest.sin(), rest.cos());
    if quarters % 2 == 0 { sine / cosine } else { -(cosine / sine) }
}

fn magnitude(x: &Real) -> Real {
    if *x < int(0) { -x } else { x.clone() }
}

pub fn atan2(y: &Real, x: &Real) -> Real {
    let (half_pi, is_behind) = (Real::pi(PRECISION) / int(2), *x < int(0));
    let (rise, run) = (magnitude(y), magnitude(x));
    let angle = match (rise > run, is_behind) {
        (false, false) => (rise / run).atan(),
        (false, true) => half_pi * int(2) - (rise / run).atan(),
        (true, false) => half_pi - (run / rise).atan(),
        (true, true) => half_pi + (run / rise).atan(),
    };
    if *y < int(0) { -angle } else { angle }
}

fn subject(name: &str) -> &'static Subject {
    SUBJECTS.iter().find(|subject| subject.name == name).expect("a function")
}

/// Checks the trigonometric functions at an argument and its negative.
fn is_close(width: Width, argument: f64) {
    for name in ["sin", "cos", "tan"] {
        let subject = subject(name);
        for argument in [argument, -argument] {
            let error = subject.error(width, (argument, 1.0));
            assert!(error < subject.bound, "{name}({argument:?}) is {error} ulp off in {}", width.name());
        }
    }
}

/// Tests the floats closest to multiples of π/2 (Muller, "Elementary Functions", chapter 11), and the closest
/// ones for each exponent.
#[test]
fn close_to_a_multiple_of_a_quarter() {
    is_close(Width::Double, 6_381_956_970_095_103.0 * 2_f64.powi(797));
    is_close(Width::Single, 16_367_173.0 * 2_f64.powi(72));
    for width in Width::ALL {
        let exponents = width.of(-52..970, -23..104);
        for exponent in exponents {
            let arguments = closest(width, exponent);
            assert!(!arguments.is_empty());
            for argument in arguments {
                is_close(width, argument);
            }
        }
    }
}

/// Returns multiples of 2^exponent that are floats and closer to a multiple of π/2 than all smaller multiples of
/// 2^exponent. They are the denominators of the continued fraction of 2^exponent·2/π. Only the greatest of these are
/// returned.
fn closest(width: Width, exponent: i32) -> Vec<f64> {
    let two_over_pi = Real::from(2).with_precision(DIGITS).value() / Real::pi(DIGITS);
    let mut rest = two_over_pi << exponent as isize;
    let (mut before, mut denominator) = (0.0, 1.0);
    let limit = 2_f64.powi(width.digits() as i32);
    let mut found = Vec::new();
    rest = &rest - rest.floor();
    while denominator < limit {
        if denominator >= limit / 4096.0 {
            found.push(denominator * 2_f64.powi(exponent));
        }
        rest = Real::from(1).with_precision(DIGITS).value() / rest;
        let whole = rest.floor();
        (before, denominator) = (denominator, whole.to_f64().value() * denominator + before);
        rest = &rest - whole;
    }
    found
}

/// Tests rounded multiples of π/4 and their neighbours, arguments at which the reduction method changes, and
/// the smallest numbers.
#[test]
fn angles_near_multiples_and_reduction_limits() {
    for width in Width::ALL {
        let round = |value: f64| width.of(value, f64::from(value as f32));
        let greatest = greatest_moderate(width);
        let multiples = (1..200).map(|n| f64::from(n) * std::f64::consts::FRAC_PI_4);
        let tiny = width.of([f64::MIN_POSITIVE, 5e-324], [f64::from(f32::MIN_POSITIVE), 1e-45]);
        // Arguments just below the limit of a method, where the parts of a multiple of π/2 have the most
        // digits.
        let below = |greatest: f64| (1..200).map(move |n| greatest * (1.0 - f64::from(n) / 1000.0));
        let far = below(greatest).chain(below(greatest_far(width))).chain([greatest_far(width)]);
        for middle in multiples.chain(far).chain([greatest, 1e5]).chain(tiny).map(round) {
            is_close(width, middle);
            is_close(width, next(width, middle));
            is_close(width, round(middle * (1.0 - width.of(1e-16, 6e-8))));
        }
    }
}

/// Tests arguments where the reduction's remainder is greatest relative to the angle, and where sine / cosine
/// is close to 1.
#[test]
fn reduction_remainders_are_accurate() {
    for (width, name, argument) in [
        (Width::Single, "sin", -316.50168),
        (Width::Single, "cos", 376.2196),
        (Width::Single, "tan", 382.52441),
        (Width::Double, "tan", 8.639716150582961),
    ] {
        let argument = width.of(argument, f64::from(argument as f32));
        let error = subject(name).error(width, (argument, 1.0));
        assert!(error < 0.9, "{name}({argument:?}) is {error} ulp off in {}", width.name());
    }
}

fn next(width: Width, value: f64) -> f64 {
    width.of(value.next_up(), f64::from((value as f32).next_up()))
}

/// Checks that the values at 64 consecutive floats never decrease (`direction` 1), or never increase
/// (`direction` -1).
fn goes(name: &str, width: Width, from: f64, direction: f64) {
    let subject = subject(name);
    let (mut a, mut value) = (from, subject.value(width, from, 1.0));
    for _ in 0..64 {
        a = next(width, a);
        let above = subject.value(width, a, 1.0);
        assert!((above - value) * direction >= 0.0, "{name} turns at {a:?} in {}", width.name());
        value = above;
    }
}

#[test]
fn monotone_within_a_quarter() {
    let quarter = std::f64::consts::FRAC_PI_2;
    for width in Width::ALL {
        for n in 0..6 {
            let rises = |n: i32| if (n + 1) / 2 % 2 == 0 { 1.0 } else { -1.0 };
            for step in 1..400 {
                let a = (f64::from(n) + f64::from(step) / 400.0) * quarter;
                let a = width.of(a, f64::from(a as f32)) * (1.0 - 1e-4);
                let a = width.of(a, f64::from(a as f32));
                goes("sin", width, a, rises(n));
                goes("cos", width, a, rises(n + 1));
                goes("tan", width, a, 1.0);
            }
        }
    }
}

#[test]
fn arcs_are_monotone_across_interval_bounds() {
    for width in Width::ALL {
        for binade in -6..6 {
            for step in 0..64 {
                let a = 2_f64.powi(binade) * (1.0 + f64::from(step) / 64.0);
                // The first argument is below the point at which the method changes, so the following floats
                // cross it.
                let a = a * (1.0 - width.of(7.0e-15, 3.8e-6));
                let a = width.of(a, f64::from(a as f32));
                goes("atan", width, a, 1.0);
                goes("atan2", width, a, 1.0);
                if a < 0.999 {
                    goes("asin", width, a, 1.0);
                    goes("acos", width, a, -1.0);
                    goes("asin", width, -a, 1.0);
                    goes("acos", width, -a, -1.0);
                }
            }
        }
    }
}
