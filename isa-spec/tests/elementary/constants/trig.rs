//! Derives the constants of `trig.rs`.

use super::{Constants, check};
use crate::fit::weighted;
use crate::real::{PRECISION, Real, Width, int, power, ratio, real};

/// The limit of moderate arguments. Multiples of π/2 up to this limit have at most 17 digits in f64, 8 in
/// f32; the limit may be rounded up.
pub fn greatest_moderate(width: Width) -> f64 {
    width.of(200_000.0, 400.0)
}

/// The limit of far arguments. Multiples of π/2 up to this limit have at most 33 digits in f64, 16 in f32.
pub fn greatest_far(width: Width) -> f64 {
    width.of(1e10, 1e5)
}

/// Returns π/2 in parts. All but the last have so few digits that their products with those multiples are
/// exact.
fn quarter(width: Width) -> [f64; 4] {
    in_parts_of(width, width.of(35, 15))
}

fn quarter_far(width: Width) -> [f64; 7] {
    in_parts_of(width, width.of(20, 8))
}

fn derive(constants: &mut Constants) {
    let width = constants.width;
    let half_pi = Real::pi(PRECISION) / int(2);
    constants.number("eighth", 0.78125);
    constants.number("greatest_moderate", greatest_moderate(width));
    constants.number("per_quarter", width.nearest(&(int(1) / &half_pi)));
    constants.field("quarter", format!("{:?}", quarter(width)));
    constants.number("greatest_far", greatest_far(width));
    constants.field("quarter_far", format!("{:?}", quarter_far(width)));
    constants.pair("half_pi", width.in_parts(&half_pi));
    constants.words("inverse", &inverse_bits(width));
    waves(constants, width);
    tangent(constants, width);
}

/// Returns π/2 in parts of `digits` digits each, and the remainder as the last part.
fn in_parts_of<const N: usize>(width: Width, digits: isize) -> [f64; N] {
    let mut rest = Real::pi(PRECISION) / int(2);
    let mut parts = [0.0; N];
    for (at, part) in parts.iter_mut().enumerate() {
        // The first part has one digit before the binary point.
        let places = digits * (at as isize + 1) - 1;
        let multiple = if at + 1 < N { (rest.clone() << places).round() >> places } else { rest.clone() };
        *part = width.nearest(&multiple);
        rest -= multiple;
    }
    parts
}

/// Returns a word of zeros, and the bits of 2/π required for the greatest exponent.
fn inverse_bits(width: Width) -> Vec<i64> {
    let (word, words) = width.of((64, 20), (32, 8));
    let precision = PRECISION + 64 * 24;
    let mut rest = Real::from(2).with_precision(precision).value() / Real::pi(precision);
    let mut bits = vec![0];
    for _ in 1..words {
        let mut digits = 0_i64;
        for _ in 0..word {
            rest <<= 1;
            let is_set = rest >= Real::from(1);
            digits = (digits << 1) | i64::from(is_set);
            if is_set {
                rest -= Real::from(1);
            }
        }
        // The format's words are signed.
        bits.push(width.of(digits, i64::from(digits as i32)));
    }
    bits
}

fn waves(constants: &mut Constants, width: Width) {
    let greatest = power(&(Real::pi(PRECISION) * ratio(width.of(2505, 2530), 10000)), 2);
    let sine = |square: &Real| {
        let r = square.sqrt();
        (r.sin() - &r) / power(&r, 3)
    };
    let cosine = |square: &Real| (square.sqrt().cos() - int(1) + square / int(2)) / power(square, 2);
    let mut fitted = |name, count| {
        constants.coefficients(name, &weighted(sine, greatest.clone(), count));
    };
    fitted("sine", width.of(6, 4));
    fitted("sine_about", width.of(4, 2));
    let mut fitted = |name, count| {
        constants.coefficients(name, &weighted(cosine, greatest.clone(), count));
    };
    fitted("cosine", width.of(6, 3));
    fitted("cosine_about", width.of(4, 2));
}

fn tangent(constants: &mut Constants, width: Width) {
    let near = width.of(0.40625, 0.65625);
    let rest = |square: &Real| {
        let x = square.sqrt();
        (x.sin() / x.cos() - &x) / power(&x, 3)
    };
    constants.number("tangent_near", near);
    constants.coefficients("tangent", &weighted(rest, real(near * near), width.of(10, 8)));
}

#[test]
fn constants_of_waves() {
    check("trig", "TrigConstants", derive);
}

#[test]
fn products_with_parts_are_exact() {
    let all_exact = |width: Width, greatest: f64, parts: &[f64]| {
        let n = (real(greatest) / (Real::pi(PRECISION) / int(2)) + int(1)).floor();
        let n_digits = n.to_f64().value().log2().ceil() as isize;
        for part in parts {
            let digits = real(*part).repr().digits() as isize;
            assert!(digits + n_digits <= width.digits(), "{part} in {}", width.name());
        }
    };
    for width in Width::ALL {
        all_exact(width, greatest_moderate(width), &quarter(width)[..3]);
        all_exact(width, greatest_far(width), &quarter_far(width)[..6]);
    }
}
