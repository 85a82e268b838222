//! Derives the constants of `roots.rs`.

use super::{Constants, check};
use crate::fit::polynomial;
use crate::real::{Real, int, ratio};

fn derive(constants: &mut Constants) {
    let width = constants.width;
    constants.int("enlarged", width.of(54, 24));
    // With this lift, stored exponents are positive, and that of 1 is a multiple of 3.
    constants.int("lift", width.of(0, 2));
    // The kept bits contain 17 digits in f64, 8 in f32.
    constants.int("upper", -(1 << width.of(36, 16)));
    let third = |x: &Real| (x.ln() / int(3)).exp();
    constants.coefficients("cube_root", &polynomial(third, [int(1), int(2)], width.of(8, 4)));
    constants.table("root_of_powers", &[0, 1, 2].map(|k| width.nearest(&third(&int(1 << k)))));
    // ((1 + x)^(1/3) - 1)/x: each coefficient is computed from the preceding one.
    let mut series = vec![ratio(1, 3)];
    for k in 1..width.of(4, 3) {
        let next = series.last().map(|last: &Real| last * ratio(1 - 3 * k, 3 * k + 3));
        series.extend(next);
    }
    constants.coefficients("root_series", &series);
    constants.number("reach", 2.0_f64.powi(width.of(450, 45)));
}

#[test]
fn constants_of_roots() {
    check("roots", "RootsConstants", derive);
}
