//! Computed constants for each format: tables, and coefficients of polynomials. This file defines the types;
//! `tests/elementary/constants` derives the numbers and writes their files. Tables contain bit patterns, and
//! their length is a power of two.
//!
//! Each polynomial interpolates its function at the zeros of a Chebyshev polynomial. Its greatest error is within a few
//! percent of that of the best approximation. A polynomial that is multiplied by a power of the argument uses the zeros
//! of the Chebyshev polynomial of one degree more, without the zero nearest to 0, where the product is small.

// The numbers are written with all computed digits, and some are close to well-known constants.
#![allow(clippy::approx_constant, clippy::excessive_precision, clippy::unreadable_literal)]

#[rustfmt::skip]
pub mod exp;
#[rustfmt::skip]
pub mod log;
#[rustfmt::skip]
pub mod roots;
#[rustfmt::skip]
pub mod special;
#[rustfmt::skip]
pub mod inverse_trig;
#[rustfmt::skip]
pub mod trig;

/// Constants of `exp.rs`: x = n·ln 2/steps + r.
pub struct ExpConstants {
    /// The lower limit of arguments: e^x is 0 and e^x - 1 is -1 below it.
    pub least: f64,
    /// The upper limit of arguments: the result is infinite above it.
    pub greatest: f64,
    /// The binary logarithm of `steps`, the number of table entries from one power of two to the next.
    pub step_bits: i64,
    /// The number of steps per unit of the argument.
    pub per_unit: f64,
    /// The size of a step in two parts; products of n and the first part are exact.
    pub step: [f64; 2],
    /// 2^(j/steps), in two parts.
    pub powers: &'static [i64],
    pub powers_low: &'static [i64],
    /// (e^r - 1 - r)/r² as a polynomial of r, where |r| is at most half a step.
    pub rest: &'static [f64],
    /// The lower limit of arguments of e^x - 1: the result is -1 below it.
    pub least_m1: f64,
    /// The bound of |x| below which e^x - 1 is computed from `near_rest`.
    pub near: f64,
    /// (e^x - 1 - x - x²/2)/x³ as a polynomial of x.
    pub near_rest: &'static [f64],
    /// (sinh x - x)/x³ as a polynomial of x², for x up to 1.
    pub sinh: &'static [f64],
    /// The bound of x below which tanh x is computed from `tanh`.
    pub tanh_near: f64,
    /// (tanh x - x)/x³ as a polynomial of x².
    pub tanh: &'static [f64],
    /// Twice the argument above which the hyperbolic tangent is 1.
    pub greatest_tanh: f64,
}

/// Constants of `log.rs`: x = 2^k·z, and z·(1/c) = 1 + r.
pub struct LogConstants {
    /// The bits of the least z.
    pub least: i64,
    /// log₂ of the number of values of c.
    pub index_bits: i64,
    /// The mask of the bits that form the upper part of z.
    pub upper: i64,
    /// 1/c: has few digits, and is 1 for z around 1.
    pub inverses: &'static [i64],
    /// log c, in two parts; sums of the first part and of k times the first part of ln 2 are exact.
    pub logs: &'static [i64],
    pub logs_low: &'static [i64],
    /// ln 2, in two parts.
    pub ln2: [f64; 2],
    /// (log(1 + r) - r + r²/2)/r³ as a polynomial of r.
    pub rest: &'static [f64],
}

/// The constants of `roots.rs`.
pub struct RootsConstants {
    /// The exponent of the power of 2 that scales subnormal numbers up: a multiple of 3.
    pub enlarged: i64,
    /// The number to add to a stored exponent, so that the exponent of 1 becomes a multiple of 3.
    pub lift: i64,
    /// The mask of the bits of the first approximation that are kept, so that its cube is exact.
    pub upper: i64,
    /// z^(1/3) for z from 1 to 2, as a polynomial that is accurate to a few more digits than `upper` keeps.
    pub cube_root: &'static [f64],
    /// The cube roots of 1, 2 and 4.
    pub root_of_powers: &'static [i64],
    /// ((1 + x)^(1/3) - 1)/x as a polynomial of x.
    pub root_series: &'static [f64],
    /// The upper bound of numbers with a square in range; the lower bound is the inverse of `reach`.
    pub reach: f64,
}

/// Constants of `special.rs`. Functions are approximated around centers with a distance of 1/8, by
/// polynomials. The table row of a center contains the value and the slope at the center, each in two parts,
/// followed by the coefficients from the second power on.
pub struct SpecialConstants {
    /// log₂ of the length of a row.
    pub row_bits: i64,
    /// The bound of x below which erf x is computed from `erf_rest`.
    pub erf_near: f64,
    /// erf x/x - 1 as a polynomial of x².
    pub erf_rest: &'static [f64],
    /// The argument from which erf is 1.
    pub erf_greatest: f64,
    /// The rows of centers from 0 on.
    pub erf: &'static [i64],
    /// 2/√π.
    pub erf_slope: f64,
    /// The argument from which the series of log Γ is used.
    pub stirling_from: f64,
    /// The rows of centers from 1 on.
    pub log_gamma: &'static [i64],
    /// (log 2π - 1)/2.
    pub stirling: [f64; 2],
    /// x·(log Γ(x) - (x - 1/2)·(log x - 1) - (log 2π - 1)/2), as a polynomial of 1/x².
    pub stirling_rest: &'static [f64],
    /// x²·(log x - 1/(2x) - digamma(x)), as a polynomial of 1/x².
    pub digamma_rest: &'static [f64],
}

/// Constants of `trig.rs`: x = n·π/2 + r.
pub struct TrigConstants {
    /// The argument below which 0 is the nearest multiple of π/2.
    pub eighth: f64,
    /// The argument below which products of n and the parts of `quarter` are exact.
    pub greatest_moderate: f64,
    /// 2/π.
    pub per_quarter: f64,
    /// π/2 in parts; products of n and the first three parts are exact.
    pub quarter: [f64; 4],
    /// The argument below which products of n and all parts of `quarter_far` except the last are exact.
    pub greatest_far: f64,
    pub quarter_far: [f64; 7],
    /// π/2 in two parts with all digits.
    pub half_pi: [f64; 2],
    /// The bits of 2/π, after a word of zeros.
    pub inverse: &'static [i64],
    /// (sin r - r)/r³ as a polynomial of r², where |r| is at most π/4.
    pub sine: &'static [f64],
    /// (cos r - 1 + r²/2)/r⁴ as a polynomial of r², where |r| is at most π/4.
    pub cosine: &'static [f64],
    /// The same function as `sine`, accurate to somewhat more than half of the digits.
    pub sine_about: &'static [f64],
    /// The same function as `cosine`, accurate to somewhat more than half of the digits.
    pub cosine_about: &'static [f64],
    /// The bound of |x| below which tan x is computed from `tangent`.
    pub tangent_near: f64,
    /// (tan x - x)/x³ as a polynomial of x².
    pub tangent: &'static [f64],
}

/// Constants of `inverse_trig.rs`: atan q = atan c + atan t.
pub struct InverseTrigConstants {
    /// The first coefficients of (asin x - x)/x³ as a polynomial of x², for x² up to 1/4.
    pub arcsine: &'static [f64],
    /// The coefficients that follow those in `arcsine`.
    pub arcsine_beyond: &'static [f64],
    /// The bits of the least quotient for which c isn't 0.
    pub least: i64,
    /// The number of low bits of a quotient that don't affect its c.
    pub index_shift: i64,
    /// The quotient from which c is infinite.
    pub greatest: f64,
    /// The table index for quotients from `greatest` on.
    pub beyond: i64,
    /// The bits of 1, minus a correction. The bits of a quotient are estimated as the bits of the dividend, minus the
    /// bits of the divisor, plus this number. Without the correction, the estimate would be too great.
    pub unit: i64,
    /// The values of c, which have few digits.
    pub centers: &'static [i64],
    /// The first part of atan c.
    pub arcs: &'static [i64],
    /// The second part of atan c.
    pub arcs_low: &'static [i64],
    /// (atan t - t)/t³ as a polynomial of t².
    pub arctangent: &'static [f64],
    /// The bounds between which numbers need no scaling.
    pub reach: [f64; 2],
    /// The factors that scale numbers into `reach`: one for numbers below its bounds, and one for numbers above them.
    pub scales: [f64; 2],
}
