//! Which words can name a cell, a procedure, a label or a constant. Knows spelling only.

use crate::update::Update;

/// Words that structure the text and so can't be names, besides the mnemonics.
pub const KEYWORDS: &[&str] = &[
    "if",
    "else",
    "fi",
    "from",
    "loop",
    "until",
    "for",
    "in",
    "inout",
    "rof",
    "step",
    "reversed",
    "compute",
    "apply",
    "uncompute",
    "local",
    "delocal",
    "undo",
    "and",
    "or",
    "not",
    "always",
    "default",
    "rule",
    "mode",
    "pi",
    "int",
    "real",
];

/// Whether a word has the form of a name: a letter or `_`, then letters, digits, `_` and `$`.
pub fn is_identifier(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
}

/// Whether a word is a mnemonic or a keyword.
pub fn is_reserved(word: &str) -> bool {
    KEYWORDS.contains(&word) || Update::from_name(word).is_some()
}

/// Whether a word can name something.
pub fn is_name(word: &str) -> bool {
    is_identifier(word) && !is_reserved(word)
}
