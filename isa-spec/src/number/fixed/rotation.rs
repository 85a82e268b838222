//! Rotation of the integer plane as a bijection.
//!
//! Quarter turns are exact: (x, y) -> (-y, x). The remaining angle r, in [-pi/4, pi/4], is a sequence of
//! three shears:
//!
//! ```text
//! x -= tan(r/2) * y;   y += sin(r) * x;   x -= tan(r/2) * y
//! ```
//!
//! A shear adds to one coordinate a rounded number computed from the other coordinate, which is unchanged. So
//! the inverse shear subtracts the same number, and restores the point bit for bit, regardless of rounding.
//! (Paeth, "A fast algorithm for general raster rotation", Graphics Interface 1986; as lifting: Daubechies and
//! Sweldens, "Factoring wavelet transforms into lifting steps", 1998.)
//!
//! Undoing computes the same intermediate values in reverse order. These values were in range in the rotation,
//! so undoing a successful rotation never traps. This module is independent of the meaning of the coordinates,
//! and of operands.

use super::ops::WideOps;
use super::trig::Reduced;
use super::wide::{ONE, UNIT_BITS, round_by, round_product};
use crate::fault::Fault;

/// The fraction bits of the shears' factors, which are all in (-0.71, 0.71).
const FACTOR_BITS: u32 = 63;

/// The vector (x, y) rotated by theta, (x cos - y sin, x sin + y cos), and its fault number. Less than 3 ulp
/// off in each coordinate. Overflow if the result or an intermediate value is out of range. [`irot`] undoes
/// it exactly.
#[inline(always)]
pub fn rot<S: WideOps>(s: &S, x: S::Word, y: S::Word, theta: S::Word, frac: u32) -> [S::Word; 3] {
    let turn = Reduced::of(s, theta, frac);
    let shears = Shears::of(s, &turn);
    let (x, y) = quarter_turns(s, x, y, turn.quadrant);
    let first = s.sub(x, scaled(s, shears.half_tangent, y));
    let second = s.add(y, scaled(s, shears.sine, first));
    let third = s.sub(first, scaled(s, shears.half_tangent, second));
    [third, second, fault(s, [x, y, first, second, third])]
}

/// The vector (x, y) rotated by -theta, and its fault number. Less than 3 ulp off in each coordinate.
/// Overflow if the result or an intermediate value is out of range. [`rot`] undoes it exactly.
#[inline(always)]
pub fn irot<S: WideOps>(s: &S, x: S::Word, y: S::Word, theta: S::Word, frac: u32) -> [S::Word; 3] {
    let turn = Reduced::of(s, theta, frac);
    let shears = Shears::of(s, &turn);
    let first = s.add(x, scaled(s, shears.half_tangent, y));
    let second = s.sub(y, scaled(s, shears.sine, first));
    let third = s.add(first, scaled(s, shears.half_tangent, second));
    let (x, y) = quarter_turns(s, third, second, s.sub(s.word(4), turn.quadrant));
    [x, y, fault(s, [first, second, third, x, y])]
}

/// Returns the fault number Overflow if one of the values doesn't fit in 64 bits, otherwise 0. Values
/// computed from such a value are meaningless.
#[inline(always)]
fn fault<S: WideOps>(s: &S, values: [S::Word; 5]) -> S::Word {
    let fits = |value| s.eq(s.sar(s.shl(value, 64), 64), value);
    let [first, others @ ..] = values.map(fits);
    let all = others.into_iter().fold(first, |all, fits| s.both(all, fits));
    s.fault_where(s.not(all), Fault::Overflow)
}

/// The factors of the three shears that form a rotation.
struct Shears<W> {
    half_tangent: W,
    sine: W,
}

impl<W: Copy> Shears<W> {
    #[inline(always)]
    fn of<S: WideOps<Word = W>>(s: &S, turn: &Reduced<W, S::Flag>) -> Self {
        let (sine, cosine) = (turn.sine(s), turn.cosine(s));
        // tan(r/2) = sin r / (1 + cos r); both are halved to be in range.
        let half_tangent = s.fraction(s.shr(sine, 1), s.add(s.word(ONE / 2), s.shr(cosine, 1)));
        // Magnitudes below 0.71, with their signs.
        let factor = |magnitude, fraction_bits| {
            s.negated_where(turn.is_negative, round_by(s, magnitude, fraction_bits - FACTOR_BITS))
        };
        Self { half_tangent: factor(half_tangent, u128::BITS), sine: factor(sine, UNIT_BITS) }
    }
}

/// factor * v, to nearest. The product is in range, because the factor's magnitude is below 1.
#[inline(always)]
fn scaled<S: WideOps>(s: &S, factor: S::Word, v: S::Word) -> S::Word {
    round_product(s, s.mul(factor, v), FACTOR_BITS)
}

/// Rotates the vector by `count` right angles.
#[inline(always)]
fn quarter_turns<S: WideOps>(s: &S, x: S::Word, y: S::Word, count: S::Word) -> (S::Word, S::Word) {
    let (is_odd, is_half) = (s.has(count, 1), s.has(count, 2));
    let (first, second) = (s.select(is_odd, s.neg(y), x), s.select(is_odd, x, y));
    (s.negated_where(is_half, first), s.negated_where(is_half, second))
}
