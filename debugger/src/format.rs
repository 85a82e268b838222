//! Formats of `print`, `x` and `display`, with gdb's letters: the bits of a value in another base. Parses
//! prefixes such as `/8x`.

use reviver_vm::Program;
use reviver_vm::notation::Notation;
use thiserror::Error;

use crate::expression::Computed;

/// The format after the slash of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintFormat {
    /// Number of values to print.
    pub count: Option<usize>,
    /// Notation of the values; the language's own by default.
    pub format: Notation,
}

/// Error for a text after a slash that is no format.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`/{0}` is no format: write a number of values, then x (base 16), o (8), t (2), u (10, without a sign) or d (10)"
)]
pub struct FormatError(String);

impl PrintFormat {
    /// Splits a format such as `/8x` off the beginning of a text. Returns the format and the remaining
    /// text.
    ///
    /// # Errors
    /// A letter after the slash is no format, or the count is too large.
    pub fn split(text: &str) -> Result<(PrintFormat, &str), FormatError> {
        let Some(rest) = text.strip_prefix('/') else { return Ok((PrintFormat::default(), text)) };
        let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let letters = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &word[..word.len() - letters.len()];
        let error = || FormatError(word.to_owned());
        let count = Some(digits).filter(|digits| !digits.is_empty());
        let count = count.map(str::parse).transpose().map_err(|_| error())?;
        let format = match letters {
            "" | "d" => Notation::Signed,
            "u" => Notation::Unsigned,
            "x" => Notation::Hexadecimal,
            "o" => Notation::Octal,
            "t" | "b" => Notation::Binary,
            _ => return Err(error()),
        };
        Ok((PrintFormat { count, format }, rest.trim()))
    }
}

/// Renders the bits of a value. For an integer, these are the bits of one word of the program; for a real, the
/// bits stored in its cell. For the default (signed) notation, returns `None`, because the caller renders the
/// value in the language's syntax.
pub fn bits(notation: Notation, program: &Program, value: Computed) -> Option<String> {
    let text = match value {
        Computed::Int(value) => notation.integer(value, program.module().word),
        Computed::Float(value) => notation.bits(value.to_bits()),
        Computed::Bits(bits) => notation.bits(bits),
    };
    (notation != Notation::Signed).then_some(text)
}

/// Renders a count as a repetition in few columns, for example `12×` or `34k×`.
pub fn times(count: u64) -> String {
    format!("{}×", short(count))
}

/// Renders a count in few columns; counts above 9,999 are abbreviated with a unit letter.
fn short(count: u64) -> String {
    let units = [(1_000_000_000_000, 'T'), (1_000_000_000, 'G'), (1_000_000, 'M'), (1_000, 'k')];
    match units.into_iter().find(|(unit, _)| count / unit > 0 && count > 9_999) {
        Some((unit, letter)) => format!("{}{letter}", count / unit),
        None => count.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn print_formats_are_parsed() {
        let hex = |count| PrintFormat { count, format: Notation::Hexadecimal };
        assert_eq!(PrintFormat::split("/8x A"), Ok((hex(Some(8)), "A")));
        assert_eq!(PrintFormat::split("/x  a / b"), Ok((hex(None), "a / b")));
        assert_eq!(PrintFormat::split("a / b"), Ok((PrintFormat::default(), "a / b")));
        assert_eq!(PrintFormat::split("/"), Ok((PrintFormat::default(), "")));
        assert!(
            PrintFormat::split("/q a").is_err() && PrintFormat::split("/99999999999999999999 a").is_err()
        );
    }

    #[test]
    fn counts_stay_short() {
        let cases = [(7, "7"), (9_999, "9999"), (10_000, "10k"), (999_999, "999k"), (1_000_000, "1M")];
        assert!(cases.into_iter().all(|(count, text)| short(count) == text));
        assert_eq!(short(u64::MAX).len(), 9);
    }
}
