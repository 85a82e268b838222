//! Numbers of two floats: a value and its rounding error. Sources: T. J. Dekker, "A floating-point technique
//! for extending the available precision", Numerische Mathematik 18 (1971); D. E. Knuth's sum. No operation
//! uses fused multiply-add.

use super::format::Format;
use super::ops::FloatOps;

/// The number high + low. Unless stated otherwise, the low part is at most half a unit in the last place of
/// the high part.
pub type Twofold<S> = (<S as FloatOps>::Float, <S as FloatOps>::Float);

/// a + b, exactly, for any a and b.
#[inline(always)]
pub fn two_sum<S: FloatOps>(s: &S, a: S::Float, b: S::Float) -> Twofold<S> {
    let sum = s.settled(s.add(a, b));
    let from_b = s.sub(sum, a);
    let from_a = s.sub(sum, from_b);
    (sum, s.add(s.sub(a, from_a), s.sub(b, from_b)))
}

/// a + b, exactly, where |a| ≥ |b| or a is 0.
#[inline(always)]
pub fn quick_two_sum<S: FloatOps>(s: &S, a: S::Float, b: S::Float) -> Twofold<S> {
    let sum = s.settled(s.add(a, b));
    (sum, s.add(s.sub(a, sum), b))
}

/// Returns the upper and the lower half of a's digits; |a| must be less than 1/SPLITTER of the greatest
/// number.
#[inline(always)]
pub fn split<S: FloatOps>(s: &S, a: S::Float) -> Twofold<S> {
    let scaled = s.mul(a, s.float(S::Format::SPLITTER));
    let high = s.sub(scaled, s.sub(scaled, a));
    (high, s.sub(a, high))
}

/// a·b, exactly, unless splitting overflows or the low part is subnormal.
#[inline(always)]
pub fn two_product<S: FloatOps>(s: &S, a: S::Float, b: S::Float) -> Twofold<S> {
    let product = s.settled(s.mul(a, b));
    let ((ah, al), (bh, bl)) = (split(s, a), split(s, b));
    let error = s.sub(s.mul(ah, bh), product);
    let error = s.add(s.add(error, s.mul(ah, bl)), s.mul(al, bh));
    (product, s.add(error, s.mul(al, bl)))
}

/// Returns the product of two pairs, to nearly twice the digits.
#[inline(always)]
pub fn product<S: FloatOps>(s: &S, a: Twofold<S>, b: Twofold<S>) -> Twofold<S> {
    let (high, low) = two_product(s, a.0, b.0);
    let cross = s.add(s.mul(a.0, b.1), s.mul(a.1, b.0));
    quick_two_sum(s, high, s.add(low, cross))
}

/// a / b in two parts. The quotient is rounded once, except for the last few digits of the low part.
#[inline(always)]
pub fn quotient<S: FloatOps>(s: &S, a: Twofold<S>, b: Twofold<S>) -> Twofold<S> {
    let quotient = s.div(a.0, b.0);
    let (high, low) = two_product(s, quotient, b.0);
    let rest = s.add(s.sub(s.sub(a.0, high), low), s.sub(a.1, s.mul(quotient, b.1)));
    quick_two_sum(s, quotient, s.div(rest, b.0))
}
