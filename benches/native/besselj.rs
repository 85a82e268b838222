//! Bessel function J_ν(z) by its Taylor series, as in `programs/besselj.rasm`. This module depends on no machine.

use super::model::{Model, vacate};

/// Magnitude of a term that ends the series.
const SMALL: f64 = 1e-8;

/// Tolerance within which a float counts as vacant.
const TOLERANCE: f64 = 1e-8;

/// Upper bound on the number of terms for |z| ≤ 20.
const MOST_TERMS: usize = 48;

pub struct Bessel {
    /// Order of the Bessel function.
    pub nu: i64,
    pub z: f64,
}

impl Model for Bessel {
    fn inputs(&self) -> Vec<(&'static str, Vec<f64>)> {
        vec![("z", vec![self.z])]
    }

    fn objective(&self) -> f64 {
        let half = self.z * 0.5;
        let squared = half * half;
        let mut term = half.powi(self.nu as i32) / factorial(self.nu) as f64;
        let mut sum = term;
        let mut k = 0;
        while term.abs() > SMALL {
            k += 1;
            term *= -squared / (k * (k + self.nu)) as f64;
            sum += term;
        }
        sum
    }

    fn reversible(&self) -> f64 {
        assert!(self.nu >= 0);
        let mut series = Series::default();
        series.compute(self.nu, self.z);
        let out = series.sum;
        series.uncompute(self.nu, self.z);
        out
    }

    fn gradient(&self, gradient: &mut [f64]) -> f64 {
        let half = self.z * 0.5;
        let squared = half * half;
        let divisor = factorial(self.nu) as f64;
        let mut term = half.powi(self.nu as i32) / divisor;
        let mut sum = term;
        let mut k = 0;
        // For each iteration: the factor without (z/2)², and the term that is multiplied by the factor.
        let mut passed = [(0.0, 0.0); MOST_TERMS];
        while term.abs() > SMALL {
            let factor = -1.0 / ((k + 1) * (k + 1 + self.nu)) as f64;
            passed[k as usize] = (factor, term);
            term *= squared * factor;
            sum += term;
            k += 1;
        }
        let (mut term_adjoint, mut squared_adjoint) = (1.0, 0.0);
        for &(factor, term) in passed[..k as usize].iter().rev() {
            squared_adjoint += term_adjoint * factor * term;
            term_adjoint = 1.0 + term_adjoint * factor * squared;
        }
        let power_slope = self.nu as f64 * half.powi(self.nu as i32 - 1);
        let half_adjoint = term_adjoint / divisor * power_slope + squared_adjoint * 2.0 * half;
        gradient[0] = half_adjoint * 0.5;
        sum
    }
}

fn factorial(n: i64) -> i64 {
    (1..=n).product()
}

/// Ancillas of the program.
#[derive(Default)]
struct Series {
    half: f64,
    squared: f64,
    power: f64,
    factorial: i64,
    divisor: f64,
    term: f64,
    size: f64,
    sum: f64,
    k: i64,
}

impl Series {
    fn compute(&mut self, nu: i64, z: f64) {
        self.half += z * 0.5;
        self.squared += self.half * self.half;
        self.power += self.half.powi(nu as i32);
        self.factorial += 1;
        for i in 1..=nu {
            times(&mut self.factorial, i);
        }
        self.divisor += self.factorial as f64;
        self.term += self.power / self.divisor;
        self.sum += self.term;
        assert!(self.k == 0, "the loop is entered from above");
        loop {
            self.size += self.term.abs();
            if self.size <= SMALL {
                break;
            }
            self.size -= self.term.abs();
            self.k += 1;
            self.multiply(nu, imul);
            self.sum += self.term;
            assert!(self.k != 0, "the join was reached by a jump it denies");
        }
    }

    fn uncompute(&mut self, nu: i64, z: f64) {
        assert!(self.size <= SMALL, "the loop is entered from below");
        loop {
            self.size -= self.term.abs();
            if self.k == 0 {
                break;
            }
            self.sum -= self.term;
            self.multiply(nu, unimul);
            self.k -= 1;
            self.size += self.term.abs();
            assert!(self.size > SMALL, "the join was reached by a jump it denies");
        }
        self.sum -= self.term;
        self.term -= self.power / self.divisor;
        self.divisor -= self.factorial as f64;
        vacate(&mut self.divisor, TOLERANCE);
        for i in (1..=nu).rev() {
            untimes(&mut self.factorial, i);
        }
        self.factorial -= 1;
        assert!(self.factorial == 0);
        self.power -= self.half.powi(nu as i32);
        vacate(&mut self.power, TOLERANCE);
        self.squared -= self.half * self.half;
        vacate(&mut self.squared, TOLERANCE);
        self.half -= z * 0.5;
        for ancilla in [&mut self.half, &mut self.term, &mut self.size, &mut self.sum] {
            vacate(ancilla, TOLERANCE);
        }
    }

    /// Multiplies the term by the factor of iteration k, or divides it by that factor.
    #[inline(always)]
    fn multiply(&mut self, nu: i64, by: fn(&mut f64, f64, &mut f64)) {
        let order = self.k + nu;
        let product = self.k * order;
        let mut denominator = product as f64;
        let mut factor = 0.0;
        factor -= self.squared / denominator;
        let mut dirt = 0.0;
        by(&mut self.term, factor, &mut dirt);
        vacate(&mut dirt, TOLERANCE);
        factor += self.squared / denominator;
        vacate(&mut factor, TOLERANCE);
        denominator -= product as f64;
        vacate(&mut denominator, TOLERANCE);
    }
}

/// Reversible multiplication, y *= k.
fn times(y: &mut i64, k: i64) {
    let mut product = *y * k;
    *y -= product / k;
    std::mem::swap(y, &mut product);
    assert!(product == 0);
}

/// Reversible division, y /= k.
fn untimes(y: &mut i64, k: i64) {
    let mut product = 0;
    std::mem::swap(y, &mut product);
    *y += product / k;
    product -= *y * k;
    assert!(product == 0);
}

/// Approximate multiplication, term *= factor.
#[inline(always)]
fn imul(term: &mut f64, factor: f64, dirt: &mut f64) {
    *dirt += *term * factor;
    *term -= *dirt / factor;
    std::mem::swap(term, dirt);
}

/// Approximate division, term /= factor.
#[inline(always)]
fn unimul(term: &mut f64, factor: f64, dirt: &mut f64) {
    std::mem::swap(term, dirt);
    *term += *dirt / factor;
    *dirt -= *term * factor;
}
