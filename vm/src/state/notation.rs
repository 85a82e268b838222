//! Notations for integers in text: signed, unsigned, or as bits. The module formats one integer at a time.

use reviver_isa::module::Word;

/// The notation in which integers are written, and in which unsigned decimal numbers are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// The notation of the language.
    #[default]
    Signed,
    /// The bits of the word as a non-negative number.
    Unsigned,
    /// The bits of the word with the prefix `0x`.
    Hexadecimal,
    /// The bits of the word with the prefix `0o`.
    Octal,
    /// The bits of the word with the prefix `0b`.
    Binary,
}

impl Notation {
    /// Formats an integer with the width of a word. Texts in every notation can be parsed again. A text in the notation
    /// `Unsigned` can be parsed only if unsigned numbers are expected.
    pub fn integer(self, value: i64, word: Word) -> String {
        match self {
            Notation::Signed => value.to_string(),
            _ => self.bits(word.pattern(value)),
        }
    }

    /// Formats bits without a sign.
    pub fn bits(self, bits: u64) -> String {
        match self {
            Notation::Signed | Notation::Unsigned => bits.to_string(),
            Notation::Hexadecimal => format!("{bits:#x}"),
            Notation::Octal => format!("{bits:#o}"),
            Notation::Binary => format!("{bits:#b}"),
        }
    }
}
