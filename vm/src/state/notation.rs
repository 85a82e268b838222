//! How integers are spelled: as numbers with a sign, without one, or as bits. Knows one integer at a time.

use reviver_isa::module::Word;

/// How integers are written, and what a decimal number without a sign may mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// As the language writes them.
    #[default]
    Signed,
    /// The bits of the word as a number that is never negative.
    Unsigned,
    Hexadecimal,
    Octal,
    Binary,
}

impl Notation {
    /// An integer of a word's width. Every notation is read again by the language, `Unsigned` where
    /// numbers without a sign are expected.
    pub fn integer(self, value: i64, word: Word) -> String {
        match self {
            Notation::Signed => value.to_string(),
            _ => self.bits(word.pattern(value)),
        }
    }

    /// Bits as they are.
    pub fn bits(self, bits: u64) -> String {
        match self {
            Notation::Signed | Notation::Unsigned => bits.to_string(),
            Notation::Hexadecimal => format!("{bits:#x}"),
            Notation::Octal => format!("{bits:#o}"),
            Notation::Binary => format!("{bits:#b}"),
        }
    }
}
