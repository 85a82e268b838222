//! The constants of `trig.rs`.

use super::{Constants, check};
use crate::fit::polynomial;
use crate::real::{PRECISION, Real, Width, int, power, ratio, real};

/// Arguments below are moderate. Multiples of π/2 up to there have 17 digits in f64, 8 in f32; they may be rounded up.
pub fn greatest_moderate(width: Width) -> f64 {
    width.of(200_000.0, 400.0)
}

/// π/2 in parts of so few digits that their products with those multiples are exact, but for the last.
fn quarter(width: Width) -> [f64; 4] {
    in_parts_of(width, &(Real::pi(PRECISION) / int(2)), width.of(35, 15))
}

fn derive(constants: &mut Constants) {
    let width = constants.width;
    let half_pi = Real::pi(PRECISION) / int(2);
    constants.number("eighth", 0.78125);
    constants.number("greatest_moderate", greatest_moderate(width));
    constants.number("per_quarter", width.nearest(&(int(1) / &half_pi)));
    constants.field("quarter", format!("{:?}", quarter(width)));
    constants.pair("half_pi", width.in_parts(&half_pi));
    constants.words("inverse", &inverse_bits(width));
    waves(constants, width);
    tangent(constants, width);
}

/// Three parts of so many places each, and the rest.
fn in_parts_of(width: Width, value: &Real, places: isize) -> [f64; 4] {
    let [first, rest] = part(value, places);
    let [second, rest] = part(&rest, 2 * places + 1);
    let [third, rest] = part(&rest, 3 * places + 2);
    [first, second, third, rest].map(|part| width.nearest(&part))
}

/// The multiple of 2^-places, and what is left.
fn part(value: &Real, places: isize) -> [Real; 2] {
    let part = (value.clone() << places).round() >> places;
    let rest = value - &part;
    [part, rest]
}

/// A word of zeros, and 2/π's bits for the greatest exponent.
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
        // As the format's words are signed.
        bits.push(width.of(digits, i64::from(digits as i32)));
    }
    bits
}

fn waves(constants: &mut Constants, width: Width) {
    let greatest = power(&(Real::pi(PRECISION) * ratio(2505, 10000)), 2);
    let sine = |square: &Real| {
        let r = square.sqrt();
        (r.sin() - &r) / power(&r, 3)
    };
    let cosine = |square: &Real| (square.sqrt().cos() - int(1) + square / int(2)) / power(square, 2);
    constants.coefficients("sine", &polynomial(sine, [int(0), greatest.clone()], width.of(6, 4)));
    constants.coefficients("cosine", &polynomial(cosine, [int(0), greatest], width.of(6, 3)));
}

fn tangent(constants: &mut Constants, width: Width) {
    let near = 0.40625;
    let rest = |square: &Real| {
        let x = square.sqrt();
        (x.sin() / x.cos() - &x) / power(&x, 3)
    };
    constants.number("tangent_near", near);
    constants.coefficients("tangent", &polynomial(rest, [int(0), real(near * near)], width.of(10, 5)));
}

#[test]
fn constants_of_waves() {
    check("trig", "TrigConstants", derive);
}

#[test]
fn products_with_parts_are_exact() {
    for width in Width::ALL {
        let half_pi = Real::pi(PRECISION) / int(2);
        let n = (real(greatest_moderate(width)) / &half_pi + int(1)).floor();
        let digits = width.digits();
        let n_digits = n.to_f64().value().log2().ceil() as isize;
        for part in &quarter(width)[..3] {
            let part_digits = real(*part).repr().digits() as isize;
            assert!(part_digits + n_digits <= digits, "{part} in {}", width.name());
        }
    }
}
