//! Powers with integer and with real exponents, and the cube root.
//!
//! There are two methods, and only the exponent selects between them. A whole exponent always uses repeated
//! squaring, so `pow(a, n)` and `powi(a, n)` never differ.

use super::exp_log::{exponent_product, growing, wide_log};
use super::ops::{FixedOutcome, WideOps};
use super::wide::Scaled;
use crate::fault::Fault;

/// The limit at which repeated squaring stops, as the magnitude of a binary logarithm: squaring stops at a
/// value above 2^200 or below 2^-200. Every further step would lead further away from the range of fixed point,
/// so the result is an overflow or 0 anyway.
const MAGNITUDE_LIMIT: u128 = 200;

/// a^b. Less than 0.63 ulp off.
///
/// A whole b gives [`powi`]. Otherwise: a > 0 gives e^(b ln a); 0^b is 0 for b > 0 and DivisionByZero for b <
/// 0; a < 0 is a Domain fault. Overflow if the result is out of range.
///
/// Method: the logarithm has enough bits for the largest b. The error of the logarithm is below 2^-116, and |b|
/// < 2^47 with the smallest number of fraction bits.
#[inline(always)]
pub fn pow<S: WideOps>(s: &S, a: S::Word, b: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let is_whole = s.not(s.has(b, (1 << frac) - 1));
    let of_real = || {
        let (a_is_zero, a_is_negative) = (s.is_zero(a), s.is_negative(a));
        let is_special = s.either(a_is_zero, a_is_negative);
        let is_pole = s.both(a_is_zero, s.is_negative(b));
        let fault = s.select(
            is_pole,
            s.fault_where(is_pole, Fault::DivisionByZero),
            s.fault_where(a_is_negative, Fault::Domain),
        );
        s.pick(is_special, || [s.word(0), fault], || positive_power(s, a, b, frac))
    };
    s.pick(is_whole, || powi(s, a, s.sar(b, frac), frac), of_real)
}

/// a^n for an integer n. Less than 0.63 ulp off.
///
/// 0^0 is 1; a negative n gives 1 / a^|n|, and DivisionByZero for a = 0. Overflow if the result is out of
/// range.
///
/// Method: left-to-right binary exponentiation with mantissas of 128 bits (Knuth, TAOCP volume 2, 4.6.3). A
/// power in range has |n| < 2^58.4 or is far below 1. Therefore the relative errors of the products, each
/// below 2^-124 and most of them far smaller, add up to less than 0.13 ulp.
#[inline(always)]
pub fn powi<S: WideOps>(s: &S, a: S::Word, n: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let (a_is_zero, n_is_zero, n_is_negative) = (s.is_zero(a), s.is_zero(n), s.is_negative(n));
    let is_pole = s.both(a_is_zero, n_is_negative);
    let of_either = || {
        let value = s.select(n_is_zero, s.word(1 << frac), s.word(0));
        [value, s.fault_where(is_pole, Fault::DivisionByZero)]
    };
    let of_both = || {
        let base = Scaled::at(s, s.magnitude(a), -(frac as i32));
        let power = repeated_product(s, base, s.magnitude(n));
        let inverse = || {
            let inverse = power.reciprocal(s);
            [inverse.mantissa, inverse.exponent]
        };
        let [mantissa, exponent] = s.pick(n_is_negative, inverse, || [power.mantissa, power.exponent]);
        let is_negative = s.both(s.is_negative(a), s.has(n, 1));
        Scaled { mantissa, exponent }.to_fixed(s, frac, is_negative)
    };
    s.pick(s.either(a_is_zero, n_is_zero), of_either, of_both)
}

/// The cube root. Less than 0.51 ulp off; exactly odd.
///
/// Method: e^(ln x / 3).
#[inline(always)]
pub fn cbrt<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let is_negative = s.is_negative(x);
    let of_some = || {
        let ln = wide_log(s, s.magnitude(x), frac);
        let third = s.negated_where(s.is_negative(ln), s.div(s.magnitude(ln), s.word(3)));
        let [root, fault] = growing(s, third, frac);
        [s.negated_where(is_negative, root), fault]
    };
    s.pick(s.is_zero(x), || [s.word(0), s.word(0)], of_some)
}

/// base^n for n > 0. If that is beyond the magnitude limit, returns a lower power that is beyond the limit in
/// the same direction.
#[inline(always)]
fn repeated_product<S: WideOps>(s: &S, base: Scaled<S::Word>, n: S::Word) -> Scaled<S::Word> {
    let of = |[mantissa, exponent, _]: [S::Word; 3]| Scaled { mantissa, exponent };
    let goes_on = |state: [S::Word; 3]| {
        let logarithm = s.magnitude(of(state).logarithm(s));
        s.both(s.not(s.is_zero(state[2])), s.not(s.lt(s.word(MAGNITUDE_LIMIT), logarithm)))
    };
    let step = |state: [S::Word; 3]| {
        let bit = s.sub(state[2], s.word(1));
        let square = of(state).times(s, of(state));
        let product = || {
            let product = square.times(s, base);
            [product.mantissa, product.exponent]
        };
        let is_set = s.has(s.shr_by(n, bit), 1);
        let [mantissa, exponent] = s.pick(is_set, product, || [square.mantissa, square.exponent]);
        [mantissa, exponent, bit]
    };
    let bits = s.sub(s.word(127), s.zeros(n));
    of(s.repeat([base.mantissa, base.exponent, bits], goes_on, step))
}

/// e^(b ln a) for a > 0.
#[inline(always)]
fn positive_power<S: WideOps>(s: &S, a: S::Word, b: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let ln = wide_log(s, a, frac);
    let (w, fits) = exponent_product(s, b, ln, frac);
    let is_small = s.differ(s.is_negative(ln), s.is_negative(b));
    s.pick(fits, || growing(s, w, frac), || [s.word(0), s.fault_where(s.not(is_small), Fault::Overflow)])
}
