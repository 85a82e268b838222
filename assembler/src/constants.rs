//! Values for the constants of a text that come from outside of it. Knows no command line, and no text but
//! that of a number.

/// A value that stands for that of a `.const`, wherever the text uses its name.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenConstant {
    pub name: String,
    pub(crate) value: GivenNumber,
}

/// A number as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GivenNumber {
    /// The digits, and whether a minus stands in front of them. `pattern`: in base 2, 8 or 16, so that they may
    /// name any bit pattern of the word.
    Int {
        magnitude: i128,
        pattern: bool,
        is_negative: bool,
    },
    Real(f64),
}

impl GivenConstant {
    /// Reads a number as the language writes it: `1000`, `-3`, `0xff`, `1_000`, `1.5`, `2e-3`. None where the
    /// text is none.
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

/// Why a given constant can't stand for one of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum RefusedConstant {
    /// The text has no such constant.
    Unknown {
        name: String,
        /// Something else has that name: a cell.
        is_cell: bool,
        /// All that it has, in order of their names.
        known: Vec<String>,
    },
    /// The text has an integer, and a real was given.
    Real { name: String },
}
