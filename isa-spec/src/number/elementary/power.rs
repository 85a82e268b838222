//! Powers, computed as e^(b·log a). The logarithm and the product have two parts, so the exponential's
//! argument has more digits than a float: J.-M. Muller and others, "Handbook of Floating-Point Arithmetic",
//! 2nd edition (2018), section 10.5. If a power is exactly representable as a float, that float is the
//! result, because the error before the last rounding is much less than half a unit.

use super::exp::exp_of_pair;
use super::format::Format;
use super::log::log_in_parts;
use super::ops::FloatOps;
use super::pair::{Twofold, two_product};

/// |a|^(high + low), and 1 if the exponent is 0.
#[inline(always)]
fn of_magnitude<S: FloatOps>(s: &S, a: S::Float, b: Twofold<S>) -> S::Float {
    let (zero, one) = (s.float(0.0), s.float(1.0));
    let (log, log_low) = log_in_parts(s, s.abs(a));
    let (high, low) = two_product(s, b.0, log);
    let low = s.add(s.add(low, s.mul(b.0, log_low)), s.mul(b.1, log));
    // A low part that isn't small is replaced by 0: the power is out of range, or a part isn't finite.
    let low = s.select(s.lt(s.abs(low), s.float(0.01)), low, zero);
    s.select(s.eq(b.0, zero), one, exp_of_pair(s, (high, low)))
}

/// Returns whether a float is an integer, and whether it is odd. Very large floats are even.
#[inline(always)]
fn parity<S: FloatOps>(s: &S, b: S::Float) -> (S::Flag, S::Flag) {
    let magnitude = s.abs(b);
    let has_fraction = s.lt(magnitude, s.power_of_two(s.word(S::Format::DIGITS)));
    let whole = s.whole(s.select(has_fraction, magnitude, s.float(0.0)));
    let is_whole = s.either(s.not(has_fraction), s.eq(s.of_word(whole), magnitude));
    (is_whole, s.word_eq(s.word_and(whole, s.word(1)), s.word(1)))
}

/// a^b: NaN if a is negative and b isn't an integer. 0^0 = 1.
pub fn pow<S: FloatOps>(s: &S, a: S::Float, b: S::Float) -> S::Float {
    let zero = s.float(0.0);
    let magnitude = of_magnitude(s, a, (b, zero));
    let [result] = s.pick(
        s.word_lt(s.bits(a), s.word(0)),
        || {
            let (is_whole, is_odd) = parity(s, b);
            let defined = s.either(is_whole, s.eq(a, zero));
            let signed = s.select(s.both(is_whole, is_odd), s.neg(magnitude), magnitude);
            [s.select(defined, signed, s.float(f64::NAN))]
        },
        || [magnitude],
    );
    result
}

/// a^n for an integer n that may have more digits than a float. So n is passed as the nearest float, the
/// float nearest to the remainder, and the parity of n. The powers 0, 1 and 2 are computed as 1, a and a·a.
pub fn powi<S: FloatOps>(s: &S, a: S::Float, n: Twofold<S>, is_odd: S::Flag) -> S::Float {
    let (one, two) = (s.float(1.0), s.float(2.0));
    let is_few = s.both(s.le(s.float(0.0), n.0), s.le(n.0, two));
    let [power] = s.pick(
        is_few,
        || [s.select(s.eq(n.0, two), s.mul(a, a), s.select(s.eq(n.0, one), a, one))],
        || {
            let magnitude = of_magnitude(s, a, n);
            let negative = s.both(is_odd, s.word_lt(s.bits(a), s.word(0)));
            [s.select(negative, s.neg(magnitude), magnitude)]
        },
    );
    power
}
