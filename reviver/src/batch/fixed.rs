//! Test for fixed-point reals that an `f64` represents exactly.

/// Returns true if an integer has at most the 53 significant bits of an `f64`. A fixed-point real is an integer scaled
/// by a power of two, so it equals an `f64` if and only if the result is true.
pub fn is_exact_in_f64(bits: i64) -> bool {
    let size = bits.unsigned_abs();
    size == 0 || 64 - size.leading_zeros() - size.trailing_zeros() <= f64::MANTISSA_DIGITS
}
