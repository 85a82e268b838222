//! Formats of `print`, `x` and `display`, in gdb's letters: the bits of a value in another base. Reads
//! `/8x`; knows no expression.

use reviver_vm::Program;
use thiserror::Error;

use crate::expression::Computed;

/// How values are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// As the language writes them.
    #[default]
    Decimal,
    Hexadecimal,
    Octal,
    Binary,
}

/// What stands behind the slash of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// How many values.
    pub count: Option<usize>,
    pub format: Format,
}

/// Why a text behind a slash says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no format `/{0}`: a number of values, then x (base 16), o (8), t (2) or d (10)")]
pub struct FormatError(String);

impl Layout {
    /// Takes `/8x` off the beginning of a text; what follows comes back with it.
    ///
    /// # Errors
    /// A letter that is no format, a number that is too great.
    pub fn split(text: &str) -> Result<(Layout, &str), FormatError> {
        let Some(rest) = text.strip_prefix('/') else { return Ok((Layout::default(), text)) };
        let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let letters = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &word[..word.len() - letters.len()];
        let error = || FormatError(word.to_owned());
        let count = Some(digits).filter(|digits| !digits.is_empty());
        let count = count.map(str::parse).transpose().map_err(|_| error())?;
        let format = match letters {
            "" | "d" => Format::Decimal,
            "x" => Format::Hexadecimal,
            "o" => Format::Octal,
            "t" | "b" => Format::Binary,
            _ => return Err(error()),
        };
        Ok((Layout { count, format }, rest.trim()))
    }
}

impl Format {
    /// The bits of a value as text: of an integer those of the program's word, of a real those that are
    /// stored. None where the language's own spelling is wanted.
    pub fn text(self, program: &Program, value: Computed) -> Option<String> {
        let bits = match value {
            Computed::Int(value) => value as u64 & (u64::MAX >> (64 - program.module().word.bits())),
            Computed::Float(value) => value.to_bits(),
            Computed::Bits(bits) => bits,
        };
        match self {
            Format::Decimal => None,
            Format::Hexadecimal => Some(format!("{bits:#x}")),
            Format::Octal => Some(format!("{bits:#o}")),
            Format::Binary => Some(format!("{bits:#b}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_taken_off() {
        let hex = |count| Layout { count, format: Format::Hexadecimal };
        assert_eq!(Layout::split("/8x A"), Ok((hex(Some(8)), "A")));
        assert_eq!(Layout::split("/x  a / b"), Ok((hex(None), "a / b")));
        assert_eq!(Layout::split("a / b"), Ok((Layout::default(), "a / b")));
        assert_eq!(Layout::split("/"), Ok((Layout::default(), "")));
        assert!(Layout::split("/q a").is_err() && Layout::split("/99999999999999999999 a").is_err());
    }
}
