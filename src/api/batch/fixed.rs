//! Reals of fixed point where somebody takes nothing but floats. Knows no file.

/// Whether an integer has at most the 53 significant bits of an `f64`; a real of fixed point is one, but for its place.
pub fn is_exact_in_f64(bits: i64) -> bool {
    let size = bits.unsigned_abs();
    size == 0 || 64 - size.leading_zeros() - size.trailing_zeros() <= f64::MANTISSA_DIGITS
}
