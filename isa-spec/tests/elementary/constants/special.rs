//! Derives the constants of `special.rs`.

use super::{Constants, check};
use crate::fit::polynomial;
use crate::real::{Real, Width, int, power, ratio, real};
use crate::series::{digamma, erf, erf_slope, log_gamma, pi};

/// The number of centers per unit.
const PER_UNIT: i64 = 8;

fn derive(constants: &mut Constants) {
    let width = constants.width;
    constants.int("row_bits", width.of(4, 3));
    erf_constants(constants, width);
    log_gamma_constants(constants, width);
    let inverse = |square: &Real| int(1) / square.sqrt();
    let rest = |square: &Real| {
        let z = inverse(square);
        (z.ln() - ratio(1, 2) / &z - digamma(&z)) / square
    };
    let range = [real(1e-6), ratio(1, 64)];
    constants.coefficients("digamma_rest", &polynomial(rest, range, width.of(8, 4)));
}

fn erf_constants(constants: &mut Constants, width: Width) {
    constants.number("erf_near", 0.5);
    let rest = |square: &Real| {
        let x = square.sqrt();
        erf(&x) / &x - int(1)
    };
    constants.coefficients("erf_rest", &polynomial(rest, [int(0), ratio(1, 4)], width.of(10, 6)));
    let greatest = width.of(6, 4);
    constants.number("erf_greatest", greatest as f64);
    let slope = |x: &Real| erf_slope() * (-(x * x)).exp();
    let rows = (0..=greatest * PER_UNIT).map(|center| row(width, &ratio(center, PER_UNIT), erf, slope));
    constants.table("erf", &rows.collect::<Vec<_>>().concat());
    constants.number("erf_slope", width.nearest(&erf_slope()));
}

fn log_gamma_constants(constants: &mut Constants, width: Width) {
    let from = width.of(8, 4);
    constants.number("stirling_from", from as f64);
    let rows = (8..=from * PER_UNIT).map(|center| row(width, &ratio(center, PER_UNIT), log_gamma, digamma));
    constants.table("log_gamma", &rows.collect::<Vec<_>>().concat());
    let (half, tau) = (ratio(1, 2), int(2) * pi());
    let constant = (tau.ln() - int(1)) * &half;
    constants.pair("stirling", width.in_parts(&constant));
    let rest = |square: &Real| {
        let z = int(1) / square.sqrt();
        let leading = (&z - &half) * (z.ln() - int(1)) + &constant;
        (log_gamma(&z) - leading) * z
    };
    let range = [real(1e-6), int(1) / int(from * from)];
    constants.coefficients("stirling_rest", &polynomial(rest, range, width.of(8, 4)));
}

/// Returns a table row: the value and the slope at a center, each in two parts, and the coefficients of the
/// rest.
fn row(width: Width, center: &Real, f: fn(&Real) -> Real, slope: impl Fn(&Real) -> Real) -> Vec<f64> {
    // A zero may be computed as a number of the size of the last of the 320 bits.
    let value = Some(f(center)).filter(|value| value.to_f64().value().abs() > 1e-60).unwrap_or(int(0));
    let slope = slope(center);
    let rest = |distance: &Real| (f(&(center + distance)) - &value - &slope * distance) / power(distance, 2);
    let half = ratio(1, 2 * PER_UNIT);
    let count = width.of(12, 4);
    let rest = polynomial(rest, [-&half, half], count);
    let parts = [width.in_parts(&value), width.in_parts(&slope)].concat();
    parts.into_iter().chain(rest.iter().map(|coefficient| width.nearest(coefficient))).collect()
}

#[test]
fn constants_of_special_functions() {
    check("special", "SpecialConstants", derive);
}
