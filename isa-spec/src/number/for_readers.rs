//! Fixed-point numbers for consumers that support f64 only, such as parsers of JSON. Knows no output format.

use super::FixedPoint;
use super::reals::Reals;

/// A fixed-point number, written for consumers of f64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedForReaders {
    /// The decimal text. If `units` is `None`, parsing it as an f64 yields exactly this number.
    pub text: String,
    /// The number in units of its last bit; `None` if an f64 equals the number.
    pub units: Option<i64>,
}

/// Formats a fixed-point number, given as [`Reals::text`] writes it. A consumer of f64 gets exactly this
/// number if an f64 equals it; a consumer of fixed point always does. Returns `None` if the text isn't such a
/// number.
pub fn fixed_for_readers(fraction_bits: u8, text: &str) -> Option<FixedForReaders> {
    let reals = FixedPoint::new(fraction_bits);
    let raw = reals.parse(text)?;
    let nearest = reals.to_f64(raw);
    // Scaling by a power of two is exact.
    if (nearest * f64::from(fraction_bits).exp2()) as i128 != i128::from(raw) {
        return Some(FixedForReaders { text: text.to_owned(), units: Some(raw) });
    }
    // The shortest text identifies the number among fixed-point numbers, but may denote a neighbouring float.
    let text = if text.parse() == Ok(nearest) { text.to_owned() } else { format!("{nearest:?}") };
    Some(FixedForReaders { text, units: None })
}
