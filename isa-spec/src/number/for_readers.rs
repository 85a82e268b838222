//! Fixed-point numbers for consumers that support f64 only, such as parsers of JSON. This module is
//! independent of output formats.

use super::FixedPoint;
use super::reals::Reals;

/// A fixed-point number, written for consumers of f64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedForReaders {
    /// The decimal text. If `units` is `None`, parsing the text as an f64 yields exactly this number.
    pub text: String,
    /// The number in units of its last bit; `None` if an f64 equals the number.
    pub units: Option<i64>,
}

/// Formats a fixed-point number for output; `text` is the result of [`Reals::text`]. A consumer that parses
/// f64 reads exactly this number if an f64 equals it. A consumer that supports fixed point always reads
/// exactly this number: from `units` if present, otherwise from `text`. Returns `None` if the text isn't a
/// number of this system.
pub fn fixed_for_readers(fraction_bits: u8, text: &str) -> Option<FixedForReaders> {
    let reals = FixedPoint::new(fraction_bits);
    let raw = reals.parse(text)?;
    let nearest = reals.to_f64(raw);
    // Scaling by a power of two is exact.
    if (nearest * f64::from(fraction_bits).exp2()) as i128 != i128::from(raw) {
        return Some(FixedForReaders { text: text.to_owned(), units: Some(raw) });
    }
    // The shortest text identifies the number among the fixed-point numbers. Parsed as an f64, it might
    // denote a neighbouring float; then the float's own text is used.
    let text = if text.parse() == Ok(nearest) { text.to_owned() } else { format!("{nearest:?}") };
    Some(FixedForReaders { text, units: None })
}
