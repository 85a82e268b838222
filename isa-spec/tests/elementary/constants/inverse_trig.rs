//! Derives the constants of `inverse_trig.rs`.

use super::{Constants, check};
use crate::fit::weighted;
use crate::real::{PRECISION, Real, Width, int, power, ratio, real};

/// The binary logarithm of the number of intervals of quotients from one power of two to the next.
const INDEX_BITS: i64 = 3;
/// The range of quotients: from 2^-BINADES to 2^BINADES.
const BINADES: i64 = 4;
const COUNT: i64 = (2 * BINADES) << INDEX_BITS;

fn derive(constants: &mut Constants) {
    let width = constants.width;
    arcsine(constants, width);
    let binade = width.digits() as i64 - 1;
    constants.int("least", width.bits(end(0)));
    constants.int("index_shift", binade - INDEX_BITS);
    constants.number("greatest", end(COUNT));
    constants.int("beyond", COUNT);
    // The quotient of the bits is at least the true one, and at most 1/8 greater.
    constants.int("unit", width.bits(1.0) - (1 << binade) / 16);
    let centers: Vec<f64> = (0..COUNT).map(|index| (end(index) + end(index + 1)) / 2.0).collect();
    let arcs = |part: usize| -> Vec<f64> {
        let half_pi = Real::pi(PRECISION) / int(2);
        let arcs = centers.iter().map(|&c| real(c).atan()).chain([half_pi]);
        arcs.map(|arc| width.in_parts(&arc)[part]).collect()
    };
    // A 0 is appended, so that the table is as long as the others.
    constants.table("centers", &centers.iter().copied().chain([0.0]).collect::<Vec<_>>());
    constants.table("arcs", &arcs(0));
    constants.table("arcs_low", &arcs(1));
    arctangent(constants, width);
    let reach = width.of(960, 80);
    let number = |exponent: i32| 2_f64.powi(exponent);
    constants.pair("reach", [number(-reach), number(reach)]);
    let scale = width.of(130, 60);
    constants.pair("scales", [number(scale), number(-scale)]);
}

/// Returns the least quotient of an interval.
fn end(index: i64) -> f64 {
    let steps = 1 << INDEX_BITS;
    let (binade, step) = (index.div_euclid(steps), index.rem_euclid(steps));
    (1.0 + step as f64 / steps as f64) * 2_f64.powi((binade - BINADES) as i32)
}

fn arcsine(constants: &mut Constants, width: Width) {
    let rest = |square: &Real| {
        let x = square.sqrt();
        (x.asin() - &x) / power(&x, 3)
    };
    let mut fitted = weighted(rest, ratio(1, 4), width.of(13, 7));
    let beyond = fitted.split_off(6);
    constants.coefficients("arcsine", &fitted);
    constants.coefficients("arcsine_beyond", &beyond);
}

fn arctangent(constants: &mut Constants, width: Width) {
    let rest = |square: &Real| {
        let t = square.sqrt();
        (t.atan() - &t) / power(&t, 3)
    };
    let greatest = real(0.072 * 0.072);
    constants.coefficients("arctangent", &weighted(rest, greatest, width.of(5, 2)));
}

#[test]
fn constants_of_arcs() {
    check("inverse_trig", "InverseTrigConstants", derive);
}
