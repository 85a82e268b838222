//! The log-likelihood of a Gaussian mixture with a Wishart prior, as in `programs/lib/gmm.rasm`. Knows
//! no machine.

#![allow(clippy::needless_range_loop)] // formulas of matrices, with their indices

use std::f64::consts::{LN_2, PI};

use super::model::{Model, vacate};

/// Dimensions, Gaussians and points.
const D: usize = 10;
const K: usize = 25;
const N: usize = 1000;

/// Numbers in a lower triangular matrix: its diagonal, then the rest column by column.
const ICF: usize = D * (D + 1) / 2;

/// What counts as vacant.
const TOLERANCE: f64 = 1e-9;

type Vector = [f64; D];

pub struct Mixture {
    alphas: [f64; K],
    means: [Vector; K],
    /// The inverse covariance factors, their diagonals as logarithms.
    icf: [[f64; ICF]; K],
    x: Vec<Vector>,
    gamma: f64,
    pub m: i64,
}

impl Mixture {
    /// Parameters and points of no meaning, spread by sines.
    pub fn of_sines() -> Mixture {
        let wave = |i: usize, j: usize, a: f64, b: f64| (1.0 + a * i as f64 + b * j as f64).sin();
        Mixture {
            alphas: std::array::from_fn(|k| wave(k, 0, 0.7, 0.0)),
            means: std::array::from_fn(|k| std::array::from_fn(|j| wave(k, j, 1.3, 0.6))),
            icf: std::array::from_fn(|k| std::array::from_fn(|j| 0.5 * wave(k, j, 0.9, 2.3))),
            x: (0..N).map(|i| std::array::from_fn(|j| 2.0 * wave(i, j, 1.7, 0.8))).collect(),
            gamma: 1.5,
            m: 2,
        }
    }

    fn diagonals(&self) -> [Vector; K] {
        std::array::from_fn(|k| std::array::from_fn(|j| self.icf[k][j].exp()))
    }

    fn log_determinants(&self) -> [f64; K] {
        std::array::from_fn(|k| self.icf[k][..D].iter().sum())
    }

    /// x - mean, and Q·(x - mean).
    #[inline(always)]
    fn scaled(&self, k: usize, diagonal: &Vector, x: &Vector) -> (Vector, Vector) {
        let centred: Vector = std::array::from_fn(|j| x[j] - self.means[k][j]);
        let mut scaled: Vector = std::array::from_fn(|j| diagonal[j] * centred[j]);
        let mut place = D;
        for column in 0..D {
            for row in column + 1..D {
                scaled[row] += self.icf[k][place] * centred[column];
                place += 1;
            }
        }
        (centred, scaled)
    }

    fn log_prior(&self, diagonals: &[Vector; K], log_determinants: &[f64; K]) -> f64 {
        let squares = |numbers: &[f64]| numbers.iter().map(|q| q * q).sum::<f64>();
        let all: f64 = (0..K).map(|k| squares(&diagonals[k]) + squares(&self.icf[k][D..])).sum();
        let freedom = self.m + D as i64 + 1;
        0.5 * self.gamma * self.gamma * all
            - self.m as f64 * log_determinants.iter().sum::<f64>()
            - (K * D) as f64 * freedom as f64 * (self.gamma.ln() - 0.5 * LN_2)
            + K as f64 * log_gamma(freedom)
    }
}

impl Model for Mixture {
    fn inputs(&self) -> Vec<(&'static str, Vec<f64>)> {
        let (means, icf) = (self.means.as_flattened().to_vec(), self.icf.as_flattened().to_vec());
        vec![("alphas", self.alphas.to_vec()), ("means", means), ("icf", icf)]
    }

    fn data(&self) -> Vec<(&'static str, Vec<f64>)> {
        vec![("x", self.x.as_flattened().to_vec()), ("gamma", vec![self.gamma])]
    }

    fn objective(&self) -> f64 {
        let (diagonals, log_determinants) = (self.diagonals(), self.log_determinants());
        let mut loss = constant();
        for x in &self.x {
            loss += log_sum_exp(&std::array::from_fn(|k| {
                let (_, scaled) = self.scaled(k, &diagonals[k], x);
                let squares: f64 = scaled.iter().map(|s| s * s).sum();
                self.alphas[k] + log_determinants[k] - 0.5 * squares
            }));
        }
        loss - N as f64 * log_sum_exp(&self.alphas) + self.log_prior(&diagonals, &log_determinants)
    }

    fn reversible(&self) -> f64 {
        Reversible::default().objective(self)
    }

    fn gradient(&self, gradient: &mut [f64]) -> f64 {
        let (diagonals, log_determinants) = (self.diagonals(), self.log_determinants());
        let mut adjoints = Adjoints::default();
        let mut loss = constant();
        for x in &self.x {
            let scaled: [(Vector, Vector); K] = std::array::from_fn(|k| self.scaled(k, &diagonals[k], x));
            let terms: [f64; K] = std::array::from_fn(|k| {
                let squares: f64 = scaled[k].1.iter().map(|s| s * s).sum();
                self.alphas[k] + log_determinants[k] - 0.5 * squares
            });
            let log_density = log_sum_exp(&terms);
            loss += log_density;
            for k in 0..K {
                adjoints.point(self, k, &diagonals[k], (terms[k] - log_density).exp(), &scaled[k]);
            }
        }
        let normalisation = log_sum_exp(&self.alphas);
        adjoints.prior(self, &diagonals, normalisation);
        adjoints.write(gradient);
        loss - N as f64 * normalisation + self.log_prior(&diagonals, &log_determinants)
    }
}

/// The part of the log-likelihood that no parameter changes.
fn constant() -> f64 {
    -0.5 * (N * D) as f64 * (2.0 * PI).ln()
}

fn log_sum_exp(terms: &[f64; K]) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
}

/// log of the multivariate gamma function of freedom/2 in D dimensions.
fn log_gamma(freedom: i64) -> f64 {
    let of_halves = |halves: i64| {
        let odd = halves % 2;
        let logarithms: f64 = (2 - odd..halves).step_by(2).map(|h| (h as f64 * 0.5).ln()).sum();
        0.5 * PI.ln() * odd as f64 + logarithms
    };
    0.25 * (D * (D - 1)) as f64 * PI.ln() + (0..D as i64).map(|j| of_halves(freedom - j)).sum::<f64>()
}

/// The adjoints of the parameters.
struct Adjoints {
    alphas: [f64; K],
    means: [Vector; K],
    icf: [[f64; ICF]; K],
}

impl Default for Adjoints {
    fn default() -> Adjoints {
        Adjoints { alphas: [0.0; K], means: [[0.0; D]; K], icf: [[0.0; ICF]; K] }
    }
}

impl Adjoints {
    /// What a point contributes through one Gaussian, whose share of its density is `share`.
    #[inline(always)]
    fn point(
        &mut self,
        mixture: &Mixture,
        k: usize,
        diagonal: &Vector,
        share: f64,
        (centred, scaled): &(Vector, Vector),
    ) {
        self.alphas[k] += share;
        let mut toward_mean: Vector = std::array::from_fn(|j| share * scaled[j]);
        for j in 0..D {
            // By the logarithm: of the determinant, and of the diagonal itself.
            self.icf[k][j] += share - toward_mean[j] * diagonal[j] * centred[j];
        }
        let mut place = D;
        for column in 0..D {
            let mut sum = diagonal[column] * toward_mean[column];
            for row in column + 1..D {
                self.icf[k][place] -= toward_mean[row] * centred[column];
                sum += mixture.icf[k][place] * toward_mean[row];
                place += 1;
            }
            // Later columns need only later rows.
            toward_mean[column] = sum;
        }
        for j in 0..D {
            self.means[k][j] += toward_mean[j];
        }
    }

    /// What the prior and the normalisation of the weights contribute.
    fn prior(&mut self, mixture: &Mixture, diagonals: &[Vector; K], normalisation: f64) {
        let weight = mixture.gamma * mixture.gamma;
        for k in 0..K {
            self.alphas[k] -= N as f64 * (mixture.alphas[k] - normalisation).exp();
            for j in 0..D {
                self.icf[k][j] += weight * diagonals[k][j] * diagonals[k][j] - mixture.m as f64;
            }
            for j in D..ICF {
                self.icf[k][j] += weight * mixture.icf[k][j];
            }
        }
    }

    fn write(&self, gradient: &mut [f64]) {
        let (alphas, rest) = gradient.split_at_mut(K);
        let (means, icf) = rest.split_at_mut(K * D);
        alphas.copy_from_slice(&self.alphas);
        means.copy_from_slice(self.means.as_flattened());
        icf.copy_from_slice(self.icf.as_flattened());
    }
}

/// The program's operations, on what it keeps in cells of its own.
struct Reversible {
    diagonals: [Vector; K],
    log_determinants: [f64; K],
}

impl Default for Reversible {
    fn default() -> Reversible {
        Reversible { diagonals: [[0.0; D]; K], log_determinants: [0.0; K] }
    }
}

impl Reversible {
    fn objective(&mut self, mixture: &Mixture) -> f64 {
        for (k, icf) in mixture.icf.iter().enumerate() {
            for (j, &q) in icf[..D].iter().enumerate() {
                self.diagonals[k][j] += q.exp();
                self.log_determinants[k] += q;
            }
        }
        let mut loss = 0.0;
        loss += constant();
        for x in &mixture.x {
            self.add_log_density(&mut loss, mixture, x);
        }
        let mut normalisation = 0.0;
        with_log_sum_exp(&mixture.alphas, |largest, total| normalisation += largest + total.ln());
        loss -= normalisation * N as f64;
        with_log_sum_exp(&mixture.alphas, |largest, total| normalisation -= largest + total.ln());
        vacate(&mut normalisation, TOLERANCE);
        self.add_log_prior(&mut loss, mixture);
        for (k, icf) in mixture.icf.iter().enumerate().rev() {
            for (j, &q) in icf[..D].iter().enumerate().rev() {
                self.log_determinants[k] -= q;
                self.diagonals[k][j] -= q.exp();
                vacate(&mut self.diagonals[k][j], TOLERANCE);
            }
            vacate(&mut self.log_determinants[k], TOLERANCE);
        }
        loss
    }

    fn add_log_density(&self, sum: &mut f64, mixture: &Mixture, x: &Vector) {
        let (mut centred, mut scaled) = ([[0.0; K]; D], [[0.0; K]; D]);
        let (mut squares, mut terms) = ([0.0; K], [0.0; K]);
        let mut place = D;
        for j in 0..D {
            for k in 0..K {
                centred[j][k] += x[j] - mixture.means[k][j];
                scaled[j][k] += self.diagonals[k][j] * centred[j][k];
                squares[k] += scaled[j][k] * scaled[j][k];
            }
            for row in j + 1..D {
                for k in 0..K {
                    scaled[row][k] += mixture.icf[k][place] * centred[j][k];
                }
                place += 1;
            }
        }
        for k in 0..K {
            terms[k] += mixture.alphas[k] + self.log_determinants[k];
            terms[k] -= squares[k] * 0.5;
        }
        with_log_sum_exp(&terms, |largest, total| {
            *sum += largest;
            *sum += total.ln();
        });
        for k in (0..K).rev() {
            terms[k] += squares[k] * 0.5;
            terms[k] -= mixture.alphas[k] + self.log_determinants[k];
        }
        for j in (0..D).rev() {
            for row in (j + 1..D).rev() {
                place -= 1;
                for k in (0..K).rev() {
                    scaled[row][k] -= mixture.icf[k][place] * centred[j][k];
                }
            }
            for k in (0..K).rev() {
                squares[k] -= scaled[j][k] * scaled[j][k];
                scaled[j][k] -= self.diagonals[k][j] * centred[j][k];
                centred[j][k] -= x[j] - mixture.means[k][j];
            }
        }
        assert!(place == D);
        vacate_all(centred.iter_mut().chain(&mut scaled).flatten());
        vacate_all(squares.iter_mut().chain(&mut terms));
    }

    fn add_log_prior(&self, sum: &mut f64, mixture: &Mixture) {
        let (mut squares, mut determinants) = (0.0, 0.0);
        for k in 0..K {
            determinants += self.log_determinants[k];
            self.diagonals[k].iter().chain(&mixture.icf[k][D..]).for_each(|q| squares += q * q);
        }
        let weight = mixture.gamma * mixture.gamma;
        let freedom = mixture.m + D as i64 + 1;
        let power = freedom as f64 * (mixture.gamma.ln() - 0.5 * LN_2);
        *sum += weight * (squares * 0.5);
        *sum -= mixture.m as f64 * determinants;
        *sum -= power * (K * D) as f64;
        *sum += log_gamma(freedom) * K as f64;
        for k in (0..K).rev() {
            self.diagonals[k].iter().chain(&mixture.icf[k][D..]).rev().for_each(|q| squares -= q * q);
            determinants -= self.log_determinants[k];
        }
        vacate(&mut squares, TOLERANCE);
        vacate(&mut determinants, TOLERANCE);
    }
}

/// Uses the largest of numbers and Σ exp(v[k] - largest), and uncomputes both.
#[inline(always)]
fn with_log_sum_exp(v: &[f64; K], apply: impl FnOnce(f64, f64)) {
    let (mut largest, mut below, mut weight, mut total) = ([0.0; K], [0.0; K], [0.0; K], [0.0; K + 1]);
    largest[0] += v[0];
    for k in 1..K {
        largest[k] += largest[k - 1].max(v[k]);
    }
    for k in 0..K {
        below[k] += v[k] - largest[K - 1];
        weight[k] += below[k].exp();
        total[k + 1] += total[k] + weight[k];
    }
    apply(largest[K - 1], total[K]);
    for k in (0..K).rev() {
        total[k + 1] -= total[k] + weight[k];
        weight[k] -= below[k].exp();
        below[k] -= v[k] - largest[K - 1];
    }
    for k in (1..K).rev() {
        largest[k] -= largest[k - 1].max(v[k]);
    }
    largest[0] -= v[0];
    vacate_all(largest.iter_mut().chain(&mut below).chain(&mut weight).chain(&mut total));
}

fn vacate_all<'a>(cells: impl Iterator<Item = &'a mut f64>) {
    cells.for_each(|cell| vacate(cell, TOLERANCE));
}
