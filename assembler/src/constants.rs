//! Values that the caller supplies for the constants of a text, for example from the command line. This module
//! only parses numbers.

use std::fmt;

/// A value that replaces the value of a `.const` wherever the name of the constant is used.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenConstant {
    /// The name of a `.const`. A name that the text doesn't declare is refused as
    /// [`RefusedConstant::Unknown`].
    pub name: String,
    pub(crate) value: GivenNumber,
}

/// Values that the caller supplies in place of those in a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Replacements<'r> {
    /// The values of constants, at most one for each name.
    pub constants: &'r [GivenConstant],
    /// The names of cells and arrays of which all values are supplied. Their `default` lists needn't have the lengths
    /// of the arrays: a constant may have changed these lengths.
    pub cells: &'r [String],
    /// Replace the gradients that the program computes itself by statements, so that the program can be differentiated
    /// from outside. Gradients of a depth above 1 are always replaced.
    pub own_gradients: bool,
}

impl<'r> Replacements<'r> {
    /// Returns values of constants, without cells.
    pub fn constants(constants: &'r [GivenConstant]) -> Replacements<'r> {
        Replacements { constants, ..Replacements::default() }
    }
}

/// A number as it was written, not yet converted to a word or a real of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GivenNumber {
    /// The magnitude and the sign. `pattern` is true in base 2, 8 or 16, where a number may denote any bit
    /// pattern of the word.
    Int {
        magnitude: i128,
        pattern: bool,
        is_negative: bool,
    },
    Real(f64),
}

impl GivenConstant {
    /// Parses a number in the syntax of the language: `1000`, `-3`, `0xff`, `1_000`, `1.5`, `2e-3`. Returns
    /// `None` for any other text.
    pub fn parse(name: &str, text: &str) -> Option<GivenConstant> {
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, text),
        };
        if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let digits: String = unsigned.chars().filter(|c| *c != '_').collect();
        let value = integer(&digits, is_negative).or_else(|| real(&digits, is_negative))?;
        Some(GivenConstant { name: name.to_owned(), value })
    }
}

/// Writes the constant as an argument of `--const`: `N=8`.
impl fmt::Display for GivenConstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            GivenNumber::Int { magnitude, is_negative, .. } => {
                write!(f, "{}={}{magnitude}", self.name, if is_negative { "-" } else { "" })
            }
            GivenNumber::Real(value) => write!(f, "{}={value:?}", self.name),
        }
    }
}

fn integer(digits: &str, is_negative: bool) -> Option<GivenNumber> {
    let radix = match digits.get(..2) {
        Some("0x") => 16,
        Some("0b") => 2,
        Some("0o") => 8,
        _ => 10,
    };
    let digits = if radix == 10 { digits } else { digits.get(2..)? };
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).ok()?;
    Some(GivenNumber::Int { magnitude, pattern: radix != 10, is_negative })
}

fn real(digits: &str, is_negative: bool) -> Option<GivenNumber> {
    let is_written = digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    let value: f64 = digits.parse().ok().filter(|value: &f64| is_written && value.is_finite())?;
    Some(GivenNumber::Real(if is_negative { -value } else { value }))
}

/// The reason for rejecting a given constant.
#[derive(Clone, Debug, PartialEq)]
pub enum RefusedConstant {
    /// The text has no constant of this name.
    Unknown {
        /// The given name, which no `.const` of the text has.
        name: String,
        /// True if the name is that of a cell.
        is_cell: bool,
        /// The constants of the text, in alphabetical order.
        known: Vec<String>,
    },
    /// The constant in the text is an integer, and a real was given.
    Real {
        /// The name of the integer constant.
        name: String,
    },
}
