//! The floats: IEEE 754 with the elementary functions of `elementary/`, so that a program yields the same
//! bits on every platform. `sqrt`, `floor` and `round` are exact in IEEE 754 and may be processor
//! instructions. This module is independent of tolerances and residues.

use super::elementary::{NativeDouble, NativeSingle, exp, inverse_trig, log, power, roots, special, trig};
use super::reals::Reals;
use crate::arith::Elementary;
use crate::fault::{Eval, Fault};
use crate::module::RealSystem;

/// The binary64 format of IEEE 754, the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct F64;

/// The binary32 format of IEEE 754.
#[derive(Clone, Copy, Debug, Default)]
pub struct F32;

/// 2⁶³, the first real above the 64-bit integers.
const INT_END: f64 = 9_223_372_036_854_775_808.0;

/// Returns the 64-bit integer that is equal to a float, or `None` if the float isn't such an integer.
pub fn whole(value: f64) -> Option<i64> {
    F64.to_int(value).ok().filter(|whole| *whole as f64 == value)
}

macro_rules! float {
    ($System:ident, $Native:ident, $float:ty, $bits:ty, $name:ident) => {
        impl Reals for $System {
            type Cell = $float;
            type Bits = u64;

            const EXACT: bool = false;

            fn system(&self) -> RealSystem {
                RealSystem::$name
            }

            #[inline(always)]
            fn literal(&self, value: f64) -> Eval<$float> {
                Ok(value as $float)
            }

            fn parse(&self, text: &str) -> Option<$float> {
                text.parse().ok().filter(|value: &$float| value.is_finite())
            }

            fn to_f64(&self, a: $float) -> f64 {
                f64::from(a)
            }

            #[inline(always)]
            fn to_bits(&self, a: $float) -> u64 {
                u64::from(a.to_bits())
            }

            #[inline(always)]
            fn of_bits(&self, bits: u64) -> $float {
                <$float>::from_bits(bits as $bits)
            }

            fn width(&self) -> u32 {
                <$bits>::BITS
            }

            #[inline(always)]
            fn admit(&self, a: $float) -> Eval<$float> {
                if a.is_finite() { Ok(a) } else { Err(Fault::NonFinite) }
            }

            fn ulp(&self, a: $float) -> f64 {
                let magnitude = a.abs();
                let next = magnitude.next_up();
                if next.is_finite() {
                    f64::from(next) - f64::from(magnitude)
                } else {
                    f64::from(magnitude) - f64::from(magnitude.next_down())
                }
            }

            fn text(&self, a: $float) -> String {
                format!("{a:?}")
            }

            #[inline(always)]
            fn add(&self, a: $float, b: $float) -> Eval<$float> {
                Ok(a + b)
            }

            #[inline(always)]
            fn sub(&self, a: $float, b: $float) -> Eval<$float> {
                Ok(a - b)
            }

            #[inline(always)]
            fn mul(&self, a: $float, b: $float) -> Eval<$float> {
                Ok(a * b)
            }

            #[inline(always)]
            fn div(&self, a: $float, b: $float) -> Eval<$float> {
                Ok(a / b)
            }

            #[inline(always)]
            fn neg(&self, a: $float) -> Eval<$float> {
                Ok(-a)
            }

            fn pow(&self, a: $float, b: $float) -> Eval<$float> {
                Ok(power::pow(&$Native, a, b))
            }

            fn powi(&self, a: $float, exponent: i64) -> Eval<$float> {
                // The exponent is split into the nearest float, of at most 2⁶³, and the remainder.
                let nearest = exponent as $float;
                // An exponent of few bits is an exact float, so its remainder is 0. This case skips the slow
                // conversions of 128-bit integers.
                let rest = match exponent.unsigned_abs() >> <$float>::MANTISSA_DIGITS {
                    0 => 0.0,
                    _ => (i128::from(exponent) - nearest as i128) as $float,
                };
                Ok(power::powi(&$Native, a, (nearest, rest), exponent % 2 != 0))
            }

            fn atan2(&self, y: $float, x: $float) -> Eval<$float> {
                Ok(inverse_trig::atan2(&$Native, y, x))
            }

            fn hypot(&self, a: $float, b: $float) -> Eval<$float> {
                Ok(roots::hypot(&$Native, a, b))
            }

            fn elementary(&self, function: Elementary, a: $float) -> Eval<$float> {
                Ok(match function {
                    Elementary::Sqrt => a.sqrt(),
                    Elementary::Exp => exp::exp(&$Native, a),
                    Elementary::Log => log::log(&$Native, a),
                    Elementary::Sin => trig::sin(&$Native, a),
                    Elementary::Cos => trig::cos(&$Native, a),
                    Elementary::Tan => trig::tan(&$Native, a),
                    Elementary::Asin => inverse_trig::asin(&$Native, a),
                    Elementary::Acos => inverse_trig::acos(&$Native, a),
                    Elementary::Atan => inverse_trig::atan(&$Native, a),
                    Elementary::Sinh => exp::sinh(&$Native, a),
                    Elementary::Cosh => exp::cosh(&$Native, a),
                    Elementary::Tanh => exp::tanh(&$Native, a),
                    Elementary::Floor => a.floor(),
                    Elementary::Round => a.round_ties_even(),
                    Elementary::ExpM1 => exp::exp_m1(&$Native, a),
                    Elementary::Ln1p => log::ln_1p(&$Native, a),
                    Elementary::Sigmoid => exp::sigmoid(&$Native, a),
                    Elementary::Cbrt => roots::cbrt(&$Native, a),
                    Elementary::Erf => special::erf(&$Native, a),
                    Elementary::ErfSlope => special::erf_slope(&$Native, a),
                    Elementary::LogGamma => special::log_gamma(&$Native, a),
                    Elementary::Digamma => special::digamma(&$Native, a),
                })
            }

            #[inline(always)]
            fn of_int(&self, a: i64) -> Eval<$float> {
                Ok(a as $float)
            }

            fn to_int(&self, a: $float) -> Eval<i64> {
                let whole = f64::from(a).trunc();
                if (-INT_END..INT_END).contains(&whole) { Ok(whole as i64) } else { Err(Fault::OutOfRange) }
            }

            fn rotate(&self, x: $float, y: $float, angle: $float) -> Eval<($float, $float)> {
                let (sin, cos) = trig::sin_cos(&$Native, angle);
                Ok((x * cos - y * sin, x * sin + y * cos))
            }

            fn rotate_back(&self, x: $float, y: $float, angle: $float) -> Eval<($float, $float)> {
                let (sin, cos) = trig::sin_cos(&$Native, angle);
                Ok((x * cos + y * sin, y * cos - x * sin))
            }
        }
    };
}

float!(F64, NativeDouble, f64, u64, F64);
float!(F32, NativeSingle, f32, u32, F32);
