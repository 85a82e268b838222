//! Derives the constants of `log.rs`.

use super::{Constants, check};
use crate::fit::polynomial;
use crate::real::{Real, Width, int, power, real};

fn derive(constants: &mut Constants) {
    let width = constants.width;
    // The number of intervals of z, as a binary logarithm; their ends are the bits above the least z.
    let index_bits: i64 = width.of(7, 5);
    let step = 1_i64 << (width.digits() as i64 - 1 - index_bits);
    // 1 is in an interval, half a step above its beginning; the least z is about 0.7.
    let intervals_below = (1 << index_bits) * 6 / 10;
    let least = width.bits(1.0) - step / 2 - step * intervals_below;
    constants.int("least", least);
    constants.int("index_bits", index_bits);
    // 1/c has 10 binary places in f64, 7 in f32; the upper part of z has 20, or 8. So squares of r's upper
    // part are exact.
    constants.int("upper", -(1 << width.of(32, 15)));
    let places: isize = width.of(10, 7);
    let inverses: Vec<f64> = (0..1 << index_bits)
        .map(|index| match index == intervals_below {
            true => 1.0,
            false => inverse(width, least + index * step, least + (index + 1) * step, places),
        })
        .collect();
    let ln2 = int(2).ln();
    // Sums of k·ln 2 and log c need this many places, and the exponent's digits before the binary point.
    let exact = width.of(42, 16);
    let log = |inverse: &f64| width.in_parts_after(&-real(*inverse).ln(), exact);
    constants.table("inverses", &inverses);
    constants.table("logs", &inverses.iter().map(|inverse| log(inverse)[0]).collect::<Vec<_>>());
    constants.table("logs_low", &inverses.iter().map(|inverse| log(inverse)[1]).collect::<Vec<_>>());
    constants.pair("ln2", width.in_parts_after(&ln2, exact));
    let most = width.of(0.0066, 0.031);
    let rest = |r: &Real| ((int(1) + r).ln() - r + r * r / int(2)) / power(r, 3);
    constants.coefficients("rest", &polynomial(rest, [real(-most), real(most)], width.of(6, 4)));
}

/// Returns 1/c for the middle of an interval.
fn inverse(width: Width, from: i64, to: i64, places: isize) -> f64 {
    let float = |bits: i64| match width {
        Width::Double => f64::from_bits(bits as u64),
        Width::Single => f32::from_bits(bits as u32).into(),
    };
    let middle = (real(float(from)) + real(float(to))) / int(2);
    width.nearest(&(((int(1) / middle) << places).round() >> places))
}

#[test]
fn constants_of_logarithms() {
    check("log", "LogConstants", derive);
}
