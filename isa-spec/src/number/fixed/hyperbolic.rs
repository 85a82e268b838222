//! The hyperbolic functions and the sigmoid, computed from e^x and e^-x. All of them use the magnitude of x
//! and restore the sign afterwards, so that their symmetries are exact.

use super::exp_log::{Exponential, exponent};
use super::ops::{FixedOutcome, WideOps};
use super::wide::{ANGLE_BITS, ONE, Scaled, UNIT_BITS, round_by};
use crate::fault::Fault;

/// The magnitude from which tanh is within 2^-91 of 1 or -1.
const TANH_LIMIT: u128 = 32 << ANGLE_BITS;

/// (e^x - e^-x) / 2. Less than 0.51 ulp off; Overflow if the result is out of range. Exactly odd.
///
/// Method: the reduction of the exponential. The series of the exponential is split into the even and the odd
/// part. The sum of both parts is e^x, and their difference is e^-x.
#[inline(always)]
pub fn sinh<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    let is_negative = s.is_negative(x);
    of_pair(s, x, frac, |pair| {
        Scaled::new(s, pair.half_difference, pair.exponent).to_fixed(s, frac, is_negative)
    })
}

/// (e^x + e^-x) / 2. Less than 0.51 ulp off; Overflow if the result is out of range. Exactly even.
///
/// Method: the same as [`sinh`].
#[inline(always)]
pub fn cosh<S: WideOps>(s: &S, x: S::Word, frac: u32) -> FixedOutcome<S::Word> {
    of_pair(s, x, frac, |pair| Scaled::new(s, pair.half_sum, pair.exponent).to_fixed(s, frac, s.never()))
}

/// Evaluates `of` with sinh and cosh of an argument; Overflow if the magnitude of the argument is beyond the
/// limit.
#[inline(always)]
fn of_pair<S: WideOps>(
    s: &S,
    x: S::Word,
    frac: u32,
    of: impl FnOnce(HyperbolicPair<S::Word>) -> FixedOutcome<S::Word>,
) -> FixedOutcome<S::Word> {
    let (w, fits) = exponent(s, x, frac);
    let beyond = || [s.word(0), s.fault_where(s.not(fits), Fault::Overflow)];
    s.pick(fits, || of(HyperbolicPair::of(s, s.magnitude(w))), beyond)
}

/// sinh x / cosh x. Less than 0.51 ulp off; never fails. Exactly odd.
///
/// Method: the same as [`sinh`]; the common scale cancels.
#[inline(always)]
pub fn tanh<S: WideOps>(s: &S, x: S::Word, frac: u32) -> S::Word {
    let (w, fits) = exponent(s, x, frac);
    let w = s.magnitude(w);
    let quotient = || {
        let pair = HyperbolicPair::of(s, w);
        [round_by(s, s.fraction(pair.half_difference, pair.half_sum), 128 - frac)]
    };
    let is_near = s.both(fits, s.lt(w, s.word(TANH_LIMIT)));
    let [magnitude] = s.pick(is_near, quotient, || [s.word(1 << frac)]);
    s.negated_where(s.is_negative(x), magnitude)
}

/// 1 / (1 + e^-x). Less than 0.51 ulp off; never fails. sigmoid(-x) is exactly 1 - sigmoid(x).
///
/// Method: e^-|x| / (1 + e^-|x|), which is at most 1/2.
#[inline(always)]
pub fn sigmoid<S: WideOps>(s: &S, x: S::Word, frac: u32) -> S::Word {
    let (w, fits) = exponent(s, x, frac);
    let least = || {
        let exponential = Exponential::of(s, s.neg(s.magnitude(w)));
        let half = s.shr(s.shr_any(exponential.up, s.magnitude(exponential.power)), 1);
        [round_by(s, s.fraction(half, s.add(s.word(ONE / 2), half)), 128 - frac)]
    };
    let [least] = s.pick(fits, least, || [s.word(0)]);
    s.select(s.is_negative(x), least, s.sub(s.word(1 << frac), least))
}

/// sinh w and cosh w, both multiplied by `2^-exponent`.
struct HyperbolicPair<W> {
    half_difference: W,
    half_sum: W,
    exponent: W,
}

impl<W: Copy> HyperbolicPair<W> {
    /// Returns sinh w and cosh w for 0 <= w < 64; w has the fraction bits of an angle.
    #[inline(always)]
    fn of<S: WideOps<Word = W>>(s: &S, w: W) -> Self {
        let exponential = Exponential::of(s, w);
        // e^-w on the scale of e^w.
        let down = s.shr_any(exponential.down, s.shl(exponential.power, 1));
        Self {
            half_difference: s.shr(s.sub(exponential.up, down), 1),
            half_sum: s.add(s.shr(exponential.up, 1), s.shr(down, 1)),
            exponent: s.sub(exponential.power, s.word(UNIT_BITS.into())),
        }
    }
}
