//! The error function and the logarithm of the gamma function to at least 300 bits, which the library of
//! precise numbers lacks. Power series are used, and Stirling's series after sufficiently many steps up.

use crate::real::{PRECISION, Real, int};

pub fn pi() -> Real {
    Real::pi(PRECISION)
}

/// 2/√π.
pub fn erf_slope() -> Real {
    int(2) / pi().sqrt()
}

/// e^(-x²)·Σ x·(2x²)^n/(2n + 1)!!; all terms have one sign.
pub fn erf(x: &Real) -> Real {
    if x.to_f64().value().abs() > 14.0 {
        return if *x > int(0) { int(1) } else { int(-1) };
    }
    let square = x * x;
    let (mut term, mut sum) = (x.clone(), x.clone());
    let mut n = 1;
    while (&term * &term) << (2 * PRECISION as isize) > square {
        term = term * &square * int(2) / int(2 * n + 1);
        sum += &term;
        n += 1;
    }
    sum * (-square).exp() * erf_slope()
}

/// The argument from which `TERMS` terms of Stirling's series suffice.
const HIGH: i64 = 72;
const TERMS: usize = 36;

/// B₂, B₄, … computed from the tangent numbers, which are integers (Knuth and Buckholtz).
pub fn bernoulli() -> Vec<Real> {
    let mut tangents = vec![int(1); TERMS + 1];
    for k in 2..=TERMS {
        tangents[k] = &tangents[k - 1] * int(k as i64 - 1);
    }
    for k in 2..=TERMS {
        for j in k..=TERMS {
            let (below, here) = (int((j - k) as i64), int((j - k + 2) as i64));
            tangents[j] = below * &tangents[j - 1] + here * &tangents[j];
        }
    }
    let number = |k: usize| {
        let power = int(1) << (2 * k as isize);
        let magnitude = int(2 * k as i64) * &tangents[k] / (&power * (&power - int(1)));
        if k.is_multiple_of(2) { -magnitude } else { magnitude }
    };
    (1..=TERMS).map(number).collect()
}

/// The rest of Stirling's series, by its terms: log Γ(z) - ((z - 1/2)·log z - z + log(2π)/2).
fn stirling_rest(z: &Real, bernoulli: &[Real]) -> Real {
    let inverse = int(1) / z;
    in_squares(&inverse, bernoulli, |k| int(2 * k * (2 * k - 1))) * inverse
}

/// Σ B₂ₖ/divisor(k)·x^(2(k - 1)), for k from 1 on.
fn in_squares(x: &Real, bernoulli: &[Real], divisor: impl Fn(i64) -> Real) -> Real {
    let square = x * x;
    let numbered = (1..).zip(bernoulli).collect::<Vec<(i64, &Real)>>();
    numbered.into_iter().rev().fold(int(0), |sum, (k, number)| sum * &square + number / divisor(k))
}

/// log Γ(x) for x > 0, given Bernoulli numbers.
pub fn log_gamma_by(x: &Real, bernoulli: &[Real]) -> Real {
    let (mut z, mut below) = (x.clone(), int(1));
    while z < int(HIGH) {
        below *= &z;
        z += int(1);
    }
    let half = int(1) / int(2);
    let log = (&z - &half) * z.ln() - &z + (int(2) * pi()).ln() * half;
    log + stirling_rest(&z, bernoulli) - below.ln()
}

/// Digamma(x) for x > 0, given Bernoulli numbers.
pub fn digamma_by(x: &Real, bernoulli: &[Real]) -> Real {
    let (mut z, mut below) = (x.clone(), int(0));
    while z < int(HIGH) {
        below += int(1) / &z;
        z += int(1);
    }
    let rest = digamma_rest_by_terms(&z, bernoulli);
    z.ln() - int(1) / (int(2) * &z) - rest - below
}

/// Σ B₂ₖ/(2k·z²ᵏ).
fn digamma_rest_by_terms(z: &Real, bernoulli: &[Real]) -> Real {
    let inverse = int(1) / z;
    in_squares(&inverse, bernoulli, |k| int(2 * k)) * &inverse * &inverse
}

pub fn log_gamma(x: &Real) -> Real {
    thread_local!(static BERNOULLI: Vec<Real> = bernoulli());
    BERNOULLI.with(|bernoulli| log_gamma_by(x, bernoulli))
}

pub fn digamma(x: &Real) -> Real {
    thread_local!(static BERNOULLI: Vec<Real> = bernoulli());
    BERNOULLI.with(|bernoulli| digamma_by(x, bernoulli))
}

#[test]
fn known_values() {
    let close = |found: Real, expected: Real| {
        let off = (found - expected).to_f64().value().abs();
        assert!(off < 1e-60, "{off}");
    };
    close(log_gamma(&int(1)), int(0));
    close(log_gamma(&int(11)), int(3_628_800).ln());
    close(log_gamma(&(int(1) / int(2))), pi().ln() / int(2));
    close(digamma(&int(2)) - digamma(&int(1)), int(1));
    close(digamma(&int(1)) - digamma(&(int(1) / int(2))), int(2) * int(2).ln());
    // Values of Abramowitz and Stegun, table 7.1, with all digits that the table prints.
    assert_eq!(erf(&int(1)).to_f64().value(), 0.842_700_792_949_714_9);
    assert_eq!(erf(&int(2)).to_f64().value(), 0.995_322_265_018_952_7);
}
