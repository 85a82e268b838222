//! The fixed-point number system: the functions of [`super::fixed`] as reals of a machine.

use super::reals::Reals;
use super::{decimal, fixed};
use crate::arith::Elementary;
use crate::fault::{Eval, Fault};
use crate::module::RealSystem;

/// 64-bit fixed point; the number of fraction bits is known when the program is loaded.
#[derive(Clone, Copy, Debug)]
pub struct FixedPoint {
    fraction_bits: u32,
}

impl FixedPoint {
    /// Returns the system with this number of fraction bits, clamped to 16 to 56. Verified modules are within
    /// that range.
    pub fn new(fraction_bits: u8) -> FixedPoint {
        let range = RealSystem::FRACTION_BITS;
        FixedPoint { fraction_bits: u32::from(fraction_bits.clamp(*range.start(), *range.end())) }
    }
}

impl Reals for FixedPoint {
    type Cell = i64;
    type Bits = u64;

    const EXACT: bool = true;

    fn system(&self) -> RealSystem {
        RealSystem::Fixed(self.fraction_bits as u8)
    }

    #[inline]
    fn literal(&self, value: f64) -> Eval<i64> {
        fixed::from_f64(value, self.fraction_bits)
    }

    fn parse(&self, text: &str) -> Option<i64> {
        decimal::parse(text, self.fraction_bits)
    }

    fn to_f64(&self, a: i64) -> f64 {
        fixed::to_f64(a, self.fraction_bits)
    }

    #[inline(always)]
    fn to_bits(&self, a: i64) -> u64 {
        a as u64
    }

    #[inline(always)]
    fn of_bits(&self, bits: u64) -> i64 {
        bits as i64
    }

    fn width(&self) -> u32 {
        64
    }

    #[inline(always)]
    fn admit(&self, a: i64) -> Eval<i64> {
        Ok(a)
    }

    fn ulp(&self, _a: i64) -> f64 {
        fixed::to_f64(1, self.fraction_bits)
    }

    fn text(&self, a: i64) -> String {
        decimal::shortest(a, self.fraction_bits)
    }

    #[inline(always)]
    fn add(&self, a: i64, b: i64) -> Eval<i64> {
        a.checked_add(b).ok_or(Fault::Overflow)
    }

    #[inline(always)]
    fn sub(&self, a: i64, b: i64) -> Eval<i64> {
        a.checked_sub(b).ok_or(Fault::Overflow)
    }

    #[inline(always)]
    fn mul(&self, a: i64, b: i64) -> Eval<i64> {
        fixed::mul(a, b, self.fraction_bits)
    }

    fn div(&self, a: i64, b: i64) -> Eval<i64> {
        fixed::div(a, b, self.fraction_bits)
    }

    #[inline(always)]
    fn neg(&self, a: i64) -> Eval<i64> {
        a.checked_neg().ok_or(Fault::Overflow)
    }

    fn pow(&self, a: i64, b: i64) -> Eval<i64> {
        fixed::pow(a, b, self.fraction_bits)
    }

    fn powi(&self, a: i64, exponent: i64) -> Eval<i64> {
        fixed::powi(a, exponent, self.fraction_bits)
    }

    fn atan2(&self, y: i64, x: i64) -> Eval<i64> {
        Ok(fixed::atan2(y, x, self.fraction_bits))
    }

    fn hypot(&self, a: i64, b: i64) -> Eval<i64> {
        fixed::hypot(a, b)
    }

    fn elementary(&self, function: Elementary, a: i64) -> Eval<i64> {
        let bits = self.fraction_bits;
        match function {
            Elementary::Sqrt => fixed::sqrt(a, bits),
            Elementary::Exp => fixed::exp(a, bits),
            Elementary::Log => fixed::log(a, bits),
            Elementary::Sin => Ok(fixed::sin(a, bits)),
            Elementary::Cos => Ok(fixed::cos(a, bits)),
            Elementary::Tan => fixed::tan(a, bits),
            Elementary::Asin => fixed::asin(a, bits),
            Elementary::Acos => fixed::acos(a, bits),
            Elementary::Atan => Ok(fixed::atan(a, bits)),
            Elementary::Sinh => fixed::sinh(a, bits),
            Elementary::Cosh => fixed::cosh(a, bits),
            Elementary::Tanh => Ok(fixed::tanh(a, bits)),
            Elementary::Floor => Ok(fixed::floor(a, bits)),
            Elementary::Round => fixed::round(a, bits),
            Elementary::ExpM1 => fixed::exp_m1(a, bits),
            Elementary::Ln1p => fixed::ln_1p(a, bits),
            Elementary::Sigmoid => Ok(fixed::sigmoid(a, bits)),
            Elementary::Cbrt => fixed::cbrt(a, bits),
            Elementary::Erf => fixed::erf(a, bits),
            Elementary::ErfSlope => fixed::erf_slope(a, bits),
            Elementary::LogGamma => fixed::log_gamma(a, bits),
            Elementary::Digamma => fixed::digamma(a, bits),
        }
    }

    fn of_int(&self, a: i64) -> Eval<i64> {
        fixed::from_int(a, self.fraction_bits)
    }

    fn to_int(&self, a: i64) -> Eval<i64> {
        Ok(fixed::to_int(a, self.fraction_bits))
    }

    fn rotate(&self, x: i64, y: i64, angle: i64) -> Eval<(i64, i64)> {
        fixed::rot(x, y, angle, self.fraction_bits)
    }

    fn rotate_back(&self, x: i64, y: i64, angle: i64) -> Eval<(i64, i64)> {
        fixed::irot(x, y, angle, self.fraction_bits)
    }
}
