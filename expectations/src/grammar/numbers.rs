//! Numbers in expectations, written as in programs: `1_000`, `0x3e8`, `-0b101`. This module doesn't depend on cells.

use super::GrammarError;

/// Parses a real, or an integer in any base.
pub(super) fn real(text: &str) -> Result<f64, GrammarError> {
    let unread = || GrammarError::NoNumber(text.to_owned());
    if let Some(whole) = whole(text) {
        return Ok(whole as f64);
    }
    let is_parted = text.contains('_') && unsigned(text).1.starts_with(|c: char| c.is_ascii_digit());
    let plain = if is_parted { text.replace('_', "") } else { text.to_owned() };
    plain.parse().map_err(|_| unread())
}

/// Parses reals that are separated by commas.
pub(super) fn reals(values: &str) -> Result<Vec<f64>, GrammarError> {
    values.split(',').map(real).collect()
}

/// Parses a count, which is not negative.
pub(super) fn count(text: &str) -> Result<u64, GrammarError> {
    let count = whole(text).and_then(|count| u64::try_from(count).ok());
    count.ok_or_else(|| GrammarError::NoCount(text.to_owned()))
}

/// Parses an integer; returns `None` for any other text.
pub(super) fn whole(text: &str) -> Option<i128> {
    let (is_negative, magnitude) = unsigned(text);
    let radix = match magnitude.get(..2) {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => 10,
    };
    let digits = if radix == 10 { magnitude } else { magnitude.get(2..)? };
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let value = i128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    Some(if is_negative { -value } else { value })
}

/// Splits a minus sign off: returns true if there is one, and the text after it.
fn unsigned(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_syntax_of_the_language() {
        let texts = ["12", "1_000", "0xff", "0o17", "-0b101", "+3", "-1_0"];
        assert_eq!(texts.map(whole), [12, 1000, 255, 15, -5, 3, -10].map(Some));
        assert_eq!(["", "-", "0x", "0x_1", "_1", "1.5", "--1", "0x-1", "ff", "é1"].map(whole), [None; 10]);
        assert_eq!(["0x10", "1_000.5", "-2.5e3", ".5"].map(real), [16.0, 1000.5, -2500.0, 0.5].map(Ok));
        assert!(real("1,5").is_err() && real("_1.5").is_err() && real("x").is_err());
        assert_eq!(count("0x10"), Ok(16));
        assert!(count("-1").is_err() && count("1.0").is_err());
    }
}
