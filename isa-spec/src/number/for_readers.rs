//! Fixed-point numbers for readers that know only f64, such as those of JSON. Knows no output format.

use super::FixedPoint;
use super::reals::Reals;

/// A fixed-point number for readers of f64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedForReaders {
    pub text: String,
    /// The number in units of its last bit, if no f64 equals the number.
    pub units: Option<i64>,
}

/// Writes a fixed-point number, given as [`Reals::text`] writes it. A reader of f64 finds exactly this number if an f64
/// equals it; a reader of fixed point always does. Returns none if the text is no such number.
pub fn fixed_for_readers(fraction_bits: u8, text: &str) -> Option<FixedForReaders> {
    let reals = FixedPoint::new(fraction_bits);
    let raw = reals.parse(text)?;
    let nearest = reals.to_f64(raw);
    // Scaling by a power of two is exact.
    if (nearest * f64::from(fraction_bits).exp2()) as i128 != i128::from(raw) {
        return Some(FixedForReaders { text: text.to_owned(), units: Some(raw) });
    }
    // The shortest text names this number among those of fixed point; among floats it may name a neighbour.
    let text = if text.parse() == Ok(nearest) { text.to_owned() } else { format!("{nearest:?}") };
    Some(FixedForReaders { text, units: None })
}
