//! Polynomials that interpolate a function at the zeros of a Chebyshev polynomial. This module is independent of float
//! formats.

use crate::real::{PRECISION, Real, int, power, ratio};

/// Returns `count` coefficients of a polynomial. If the function isn't defined at the middle of the range,
/// the count must be even.
pub fn polynomial(f: impl Fn(&Real) -> Real, range: [Real; 2], count: usize) -> Vec<Real> {
    through(f, nodes(range, count))
}

/// Interpolates over a range from 0, where the error is weighted by x. The nodes are the zeros of a Chebyshev
/// polynomial of one degree more, without the zero nearest to 0.
pub fn weighted(f: impl Fn(&Real) -> Real, greatest: Real, count: usize) -> Vec<Real> {
    let mut nodes = nodes([int(0), greatest], count + 1);
    nodes.pop();
    through(f, nodes)
}

/// Returns the coefficients of the polynomial through a function's values at the nodes.
fn through(f: impl Fn(&Real) -> Real, nodes: Vec<Real>) -> Vec<Real> {
    let count = nodes.len();
    let rows = nodes.into_iter();
    solve(rows.map(|x| (0..count).map(|k| power(&x, k)).chain([f(&x)]).collect()).collect())
}

/// Returns the zeros of a Chebyshev polynomial over a range, the greatest first.
fn nodes([from, to]: [Real; 2], count: usize) -> Vec<Real> {
    let (middle, half) = ((&from + &to) / int(2), (to - from) / int(2));
    let angle = |n: usize| Real::pi(PRECISION) * ratio(2 * n as i64 + 1, 2 * count as i64);
    (0..count).map(|n| &middle + &half * angle(n).cos()).collect()
}

/// Solves linear equations with their right-hand sides in the last column.
fn solve(mut rows: Vec<Vec<Real>>) -> Vec<Real> {
    let count = rows.len();
    for column in 0..count {
        let size = |row: &Vec<Real>| row[column].clone().to_f64().value().abs();
        let pivot =
            (column..count).max_by(|&a, &b| size(&rows[a]).total_cmp(&size(&rows[b]))).expect("a row");
        rows.swap(column, pivot);
        let leading = rows[column].clone();
        for row in rows.iter_mut().enumerate().filter(|(at, _)| *at != column).map(|(_, row)| row) {
            let factor = &row[column] / &leading[column];
            for (value, above) in row.iter_mut().zip(&leading).skip(column) {
                *value = &*value - &factor * above;
            }
        }
    }
    rows.iter().enumerate().map(|(at, row)| &row[count] / &row[at]).collect()
}

/// Tests that both methods reproduce a polynomial, and that the weighted one is more accurate at the end of
/// the range.
#[test]
fn a_polynomial_is_reproduced() {
    let cubic = |x: &Real| int(1) + int(2) * x + int(5) * power(x, 3);
    let found = polynomial(cubic, [int(-1), int(2)], 4);
    let found: Vec<f64> = found.iter().map(|c| (c.to_f64().value() * 1e12).round() / 1e12).collect();
    assert_eq!(found, [1.0, 2.0, 0.0, 5.0]);
    let found = weighted(cubic, int(2), 4);
    let found: Vec<f64> = found.iter().map(|c| (c.to_f64().value() * 1e12).round() / 1e12).collect();
    assert_eq!(found, [1.0, 2.0, 0.0, 5.0]);
    let error_at_end = |coefficients: Vec<Real>| {
        let value = coefficients.iter().rev().fold(int(0), |sum, c| sum * int(1) + c);
        (value - int(1).exp()).to_f64().value().abs()
    };
    let plain = error_at_end(polynomial(|x| x.exp(), [int(0), int(1)], 5));
    assert!(error_at_end(weighted(|x| x.exp(), int(1), 5)) < plain / 3.0);
}
