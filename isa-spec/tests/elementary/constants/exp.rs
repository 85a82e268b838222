//! Derives the constants of `exp.rs`.

use super::{Constants, check};
use crate::fit::{polynomial, weighted};
use crate::real::{Real, Width, int, power, ratio, real};

/// The binary logarithm of the number of table entries from one power of two to the next.
const STEP_BITS: i64 = 5;

fn derive(constants: &mut Constants) {
    let width = constants.width;
    constants.number("least", width.of(-760.0, -110.0));
    constants.number("greatest", width.of(720.0, 95.0));
    steps(constants, width);
    constants.number("least_m1", width.of(-40.0, -20.0));
    near(constants, width);
    sinh(constants, width);
    tanh(constants, width);
}

fn steps(constants: &mut Constants, width: Width) {
    let steps = int(1 << STEP_BITS);
    let step = int(2).ln() / &steps;
    constants.int("step_bits", STEP_BITS);
    constants.number("per_unit", width.nearest(&(int(1) / &step)));
    // n has at most 16 digits in f64, 13 in f32; the step is below 2^-5.
    constants.pair("step", width.in_parts_after(&step, width.of(5 + 37, 5 + 11)));
    let powers = |part: usize| -> Vec<f64> {
        (0..1 << STEP_BITS).map(|j| width.in_parts(&(int(j) * &step).exp())[part]).collect()
    };
    constants.table("powers", &powers(0));
    constants.table("powers_low", &powers(1));
    let half = step * ratio(51, 100);
    let rest = |r: &Real| (r.exp() - int(1) - r) / (r * r);
    let fitted = polynomial(rest, [-&half, half], width.of(6, 4));
    constants.coefficients("rest", &fitted);
}

fn near(constants: &mut Constants, width: Width) {
    let near = 0.125;
    constants.number("near", near);
    let rest = |x: &Real| (x.exp() - int(1) - x - x * x / int(2)) / power(x, 3);
    constants.coefficients("near_rest", &polynomial(rest, [real(-near), real(near)], width.of(10, 4)));
}

fn sinh(constants: &mut Constants, width: Width) {
    let sinh = |x: &Real| (x.exp() - (-x).exp()) / int(2);
    let rest = |square: &Real| {
        let x = square.sqrt();
        (sinh(&x) - &x) / power(&x, 3)
    };
    constants.coefficients("sinh", &weighted(rest, int(1), width.of(8, 4)));
}

fn tanh(constants: &mut Constants, width: Width) {
    let near = 0.25;
    let tanh = |x: &Real| int(1) - int(2) / ((x * int(2)).exp() + int(1));
    let rest = |square: &Real| {
        let x = square.sqrt();
        (tanh(&x) - &x) / power(&x, 3)
    };
    constants.number("tanh_near", near);
    constants.coefficients("tanh", &weighted(rest, real(near * near), width.of(8, 3)));
    constants.number("greatest_tanh", width.of(40.0, 20.0));
}

#[test]
fn constants_of_exponentials() {
    check("exp", "ExpConstants", derive);
}
