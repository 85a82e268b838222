//! The two formats of floats: their parameters and their constants. This module defines no operations.

use super::constants::{
    ExpConstants, InverseTrigConstants, LogConstants, RootsConstants, SpecialConstants, TrigConstants, exp,
    inverse_trig, log, roots, special, trig,
};

/// A binary format of IEEE 754.
pub trait Format {
    /// The width of a number in bits.
    const WIDTH: i64;
    /// The bits of a significand, including the implicit leading one.
    const DIGITS: i64;
    /// The number that is added to an exponent before it is stored.
    const BIAS: i64;
    /// The least normal number.
    const LEAST_NORMAL: f64;
    /// 1.5·2^(digits - 1). Adding this constant to a number of at most a quarter of the constant rounds the number to
    /// an integer. The low bits of the sum are the integer.
    const SHIFTER: f64;
    /// 2^⌈digits/2⌉ + 1, by which Dekker splits a number.
    const SPLITTER: f64;
    /// The mask of the bits with the upper half of a number's digits.
    const UPPER_HALF: i64;

    /// The constants of the exponential, the logistic function and the hyperbolic functions.
    const EXP: ExpConstants;
    /// The constants of the logarithms.
    const LOG: LogConstants;
    /// The constants of the cube root and of the length of a vector.
    const ROOTS: RootsConstants;
    /// The constants of the error function, log Γ, and their derivatives.
    const SPECIAL: SpecialConstants;
    /// The constants of sine, cosine and tangent.
    const TRIG: TrigConstants;
    /// The constants of arcsine, arccosine and arctangent.
    const INVERSE_TRIG: InverseTrigConstants;
}

/// The binary64 format (double precision).
#[derive(Clone, Copy, Debug)]
pub struct Double;

/// The binary32 format (single precision).
#[derive(Clone, Copy, Debug)]
pub struct Single;

impl Format for Double {
    const WIDTH: i64 = 64;
    const DIGITS: i64 = 53;
    const BIAS: i64 = 1023;
    const LEAST_NORMAL: f64 = f64::MIN_POSITIVE;
    const SHIFTER: f64 = 6_755_399_441_055_744.0;
    const SPLITTER: f64 = 134_217_729.0;
    const UPPER_HALF: i64 = -(1 << 27);

    const EXP: ExpConstants = exp::DOUBLE;
    const LOG: LogConstants = log::DOUBLE;
    const ROOTS: RootsConstants = roots::DOUBLE;
    const SPECIAL: SpecialConstants = special::DOUBLE;
    const TRIG: TrigConstants = trig::DOUBLE;
    const INVERSE_TRIG: InverseTrigConstants = inverse_trig::DOUBLE;
}

impl Format for Single {
    const WIDTH: i64 = 32;
    const DIGITS: i64 = 24;
    const BIAS: i64 = 127;
    const LEAST_NORMAL: f64 = f32::MIN_POSITIVE as f64;
    const SHIFTER: f64 = 12_582_912.0;
    const SPLITTER: f64 = 4097.0;
    const UPPER_HALF: i64 = -(1 << 12);

    const EXP: ExpConstants = exp::SINGLE;
    const LOG: LogConstants = log::SINGLE;
    const ROOTS: RootsConstants = roots::SINGLE;
    const SPECIAL: SpecialConstants = special::SINGLE;
    const TRIG: TrigConstants = trig::SINGLE;
    const INVERSE_TRIG: InverseTrigConstants = inverse_trig::SINGLE;
}
