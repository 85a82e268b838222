//! What was computed for each format: tables, and coefficients of polynomials. The types stand here;
//! `tests/elementary/constants` derives the numbers and writes the files. Tables are bits, and as long
//! as a power of two.
//!
//! Polynomials interpolate at the zeros of a Chebyshev polynomial, which is within a few percent of the best one; where they are
//! multiplied by a power of the argument, at those of the next one but for the zero where the product is small.

// The files of numbers have all digits that were computed, and some are close to those of well-known constants.
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

/// For `exp.rs`: x = n·ln 2/steps + r.
pub struct ExpConstants {
    /// Arguments below give 0, or -1.
    pub least: f64,
    /// Arguments above give infinity.
    pub greatest: f64,
    /// log₂ of the steps in a power of two.
    pub step_bits: i64,
    /// Steps a unit.
    pub per_unit: f64,
    /// A step in two parts; products of n and the first are exact.
    pub step: [f64; 2],
    /// 2^(j/steps), in two parts.
    pub powers: &'static [i64],
    pub powers_low: &'static [i64],
    /// (e^r - 1 - r)/r² where |r| is at most half a step.
    pub rest: &'static [f64],
    /// Arguments of e^x - 1 below give -1.
    pub least_m1: f64,
    /// (e^x - 1 - x - x²/2)/x³ where |x| is less than `near`.
    pub near: f64,
    pub near_rest: &'static [f64],
    /// (sinh x - x)/x³ as a polynomial of x² up to 1.
    pub sinh: &'static [f64],
    /// (tanh x - x)/x³ as a polynomial of x², where x is less than `tanh_near`.
    pub tanh_near: f64,
    pub tanh: &'static [f64],
    /// Twice an argument above which the tangent is 1.
    pub greatest_tanh: f64,
}

/// For `log.rs`: x = 2^k·z, and z·(1/c) = 1 + r.
pub struct LogConstants {
    /// The bits of the least z.
    pub least: i64,
    /// log₂ of the number of values of c.
    pub index_bits: i64,
    /// The bits of z that are its upper part.
    pub upper: i64,
    /// 1/c: few digits, and 1 for the z around 1.
    pub inverses: &'static [i64],
    /// log c, in two parts; sums of the first and of k·ln 2's first are exact.
    pub logs: &'static [i64],
    pub logs_low: &'static [i64],
    /// ln 2 in two parts.
    pub ln2: [f64; 2],
    /// (log(1 + r) - r + r²/2)/r³.
    pub rest: &'static [f64],
}

/// For `roots.rs`.
pub struct RootsConstants {
    /// The exponent of the power of 2 that enlarges subnormal numbers: a multiple of 3.
    pub enlarged: i64,
    /// What is added to a stored exponent: then that of 1 is a multiple of 3.
    pub lift: i64,
    /// The bits of a first guess that are kept.
    pub upper: i64,
    /// z^(1/3) from 1 to 2, to a few more digits than those.
    pub cube_root: &'static [f64],
    /// The cubic roots of 1, 2 and 4.
    pub root_of_powers: &'static [i64],
    /// ((1 + x)^(1/3) - 1)/x.
    pub root_series: &'static [f64],
    /// Numbers up to this one, and down to its inverse, have squares in range.
    pub reach: f64,
}

/// For `special.rs`: centers are 1/8 apart. A row has the value and the slope at a center, each in two parts, and the
/// coefficients of the powers from the second on.
pub struct SpecialConstants {
    /// log₂ of the length of a row.
    pub row_bits: i64,
    /// erf x/x - 1 as a polynomial of x², where x is less than `erf_near`.
    pub erf_near: f64,
    pub erf_rest: &'static [f64],
    /// From here on it is 1.
    pub erf_greatest: f64,
    /// Rows from 0 on.
    pub erf: &'static [i64],
    /// 2/√π.
    pub erf_slope: f64,
    /// From here on, the series of log Γ is used.
    pub stirling_from: f64,
    /// Rows from 1 on.
    pub log_gamma: &'static [i64],
    /// (log 2π - 1)/2.
    pub stirling: [f64; 2],
    /// log Γ(x) less (x - 1/2)·(log x - 1) and that constant, times x, as a polynomial of 1/x².
    pub stirling_rest: &'static [f64],
    /// log x - 1/(2x) less digamma, times x², as a polynomial of 1/x².
    pub digamma_rest: &'static [f64],
}

/// For `trig.rs`: x = n·π/2 + r.
pub struct TrigConstants {
    /// Below this, 0 is the nearest multiple of π/2.
    pub eighth: f64,
    /// Products of n and the parts are exact below.
    pub greatest_moderate: f64,
    /// 2/π.
    pub per_quarter: f64,
    /// π/2 in parts; products of n and the first three are exact.
    pub quarter: [f64; 4],
    /// Products of n and these parts but the last are exact below.
    pub greatest_far: f64,
    pub quarter_far: [f64; 7],
    /// π/2 in two parts of all digits.
    pub half_pi: [f64; 2],
    /// The bits of 2/π, behind a word of zeros.
    pub inverse: &'static [i64],
    /// (sin r - r)/r³ and (cos r - 1 + r²/2)/r⁴ as polynomials of r², where |r| is at most π/4.
    pub sine: &'static [f64],
    pub cosine: &'static [f64],
    /// The same to somewhat more than half of the digits.
    pub sine_about: &'static [f64],
    pub cosine_about: &'static [f64],
    /// (tan x - x)/x³ as a polynomial of x², where |x| is less than `tangent_near`.
    pub tangent_near: f64,
    pub tangent: &'static [f64],
}

/// For `inverse_trig.rs`: atan q = atan c + atan t.
pub struct InverseTrigConstants {
    /// (asin x - x)/x³ as a polynomial of x² up to 1/4: the first coefficients, and those that follow.
    pub arcsine: &'static [f64],
    pub arcsine_beyond: &'static [f64],
    /// The bits of the least quotient for which c isn't 0.
    pub least: i64,
    /// So many bits of a quotient don't tell its c.
    pub index_shift: i64,
    /// Below this quotient c is finite; and the index of those from there on.
    pub greatest: f64,
    pub beyond: i64,
    /// The bits of 1, less what a quotient of bits is greater than the true one.
    pub unit: i64,
    /// c, of few digits, and atan c in two parts.
    pub centers: &'static [i64],
    pub arcs: &'static [i64],
    pub arcs_low: &'static [i64],
    /// (atan t - t)/t³ as a polynomial of t².
    pub arctangent: &'static [f64],
    /// Numbers between these need no scaling.
    pub reach: [f64; 2],
    /// What brings numbers below, and above, between them.
    pub scales: [f64; 2],
}
