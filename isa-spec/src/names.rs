//! Which words can name a cell, a procedure, a label or a constant, and which characters no text
//! may hold. Knows spelling only.

use std::borrow::Cow;

use crate::instruction::Class;
use crate::language::KEYWORDS;
use crate::update::Update;

/// Whether a word has the form of a name: a letter or `_`, then letters, digits, `_` and `$`.
pub fn is_identifier(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
}

/// The name of an adjoint: `x'` of a cell, `A'[3]` of an element, `(a*b)'` of an expression.
pub fn adjoint_name(name: &str) -> String {
    let (array, index) = name.split_at(name.find('[').unwrap_or(name.len()));
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '?' | '\'');
    match array.chars().all(is_word) && (index.is_empty() || is_enclosed(index)) {
        true => format!("{array}'{index}"),
        false if name.starts_with('(') && is_enclosed(name) => format!("{name}'"),
        false => format!("({name})'"),
    }
}

/// Returns true if the last character of a text closes the bracket that the text begins with.
fn is_enclosed(text: &str) -> bool {
    let mut depth = 0_usize;
    let closing = text.char_indices().find(|(_, c)| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    closing.is_some_and(|(at, c)| at + c.len_utf8() == text.len())
}

/// The class of a register's name: `r` or `f` and a number as it is counted.
pub fn register_class(name: &str) -> Option<Class> {
    let class = match name.as_bytes().first() {
        Some(b'r') => Class::Int,
        Some(b'f') => Class::Real,
        _ => return None,
    };
    let digits = name.get(1..)?;
    let canonical = digits == "0" || !digits.starts_with('0');
    let number = digits.bytes().all(|b| b.is_ascii_digit()) && (1..=6).contains(&digits.len());
    (canonical && number).then_some(class)
}

/// Whether a word is a mnemonic or a keyword.
pub fn is_reserved(word: &str) -> bool {
    KEYWORDS.contains(&word) || Update::from_name(word).is_some()
}

/// A text from outside as it may be shown: what a terminal would obey instead of printing it, and what
/// would change the order of what stands beside it, is escaped.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let shown = text.chars().map(|c| match is_unprintable(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    });
    Cow::Owned(shown.collect())
}

fn is_unprintable(c: char) -> bool {
    matches!(c, '\n' | '\t') || deceiving(c).is_some()
}

/// Whether a word can name something.
pub fn is_name(word: &str) -> bool {
    is_identifier(word) && !is_reserved(word)
}

/// Why a character has no place in a source text or in a path, if it hasn't: what it is called. These
/// are the characters that make a screen show something else than what stands there: they turn the
/// direction of writing, end a line, command a terminal, or can't be seen at all.
pub fn deceiving(character: char) -> Option<&'static str> {
    Some(match character {
        '\n' | '\t' => return None,
        '\u{61c}' => "ARABIC LETTER MARK",
        '\u{200e}' => "LEFT-TO-RIGHT MARK",
        '\u{200f}' => "RIGHT-TO-LEFT MARK",
        '\u{202a}' => "LEFT-TO-RIGHT EMBEDDING",
        '\u{202b}' => "RIGHT-TO-LEFT EMBEDDING",
        '\u{202c}' => "POP DIRECTIONAL FORMATTING",
        '\u{202d}' => "LEFT-TO-RIGHT OVERRIDE",
        '\u{202e}' => "RIGHT-TO-LEFT OVERRIDE",
        '\u{2066}' => "LEFT-TO-RIGHT ISOLATE",
        '\u{2067}' => "RIGHT-TO-LEFT ISOLATE",
        '\u{2068}' => "FIRST STRONG ISOLATE",
        '\u{2069}' => "POP DIRECTIONAL ISOLATE",
        '\u{2028}' => "LINE SEPARATOR",
        '\u{2029}' => "PARAGRAPH SEPARATOR",
        '\u{2060}' => "WORD JOINER",
        '\u{2061}'..='\u{2064}' => "an invisible operator",
        '\u{206a}'..='\u{206f}' => "a deprecated format character",
        '\u{fff9}'..='\u{fffb}' => "an interlinear annotation character",
        '\u{e0000}'..='\u{e007f}' => "an invisible tag character",
        '\0' => "NULL",
        '\u{1b}' => "ESCAPE",
        '\r' => "CARRIAGE RETURN",
        _ if character.is_control() => "a control character",
        _ => return None,
    })
}

/// What the name of a parameter begins with that brings a length of another one along: `len$v` is that of `v`, and
/// `len$0$M` and `len$1$M` are the rows and the columns of `M`, and `len$M` are its cells. No name begins with a digit.
pub const LENGTH_PARAMETER: &str = "len$";

/// The name of the parameter that brings a length along: how many cells there are, or a dimension of a matrix.
pub fn length_parameter(measured: &str, dimension: Option<u8>) -> String {
    match dimension {
        None => format!("{LENGTH_PARAMETER}{measured}"),
        Some(dimension) => format!("{LENGTH_PARAMETER}{dimension}${measured}"),
    }
}

/// What a text says where it means such a parameter: `len(v)`, `len(M, 1)`.
pub fn spelled_length(parameter: &str) -> Option<String> {
    let measured = parameter.strip_prefix(LENGTH_PARAMETER)?;
    Some(match measured.split_once('$') {
        Some((dimension @ ("0" | "1"), matrix)) => format!("len({matrix}, {dimension})"),
        _ => format!("len({measured})"),
    })
}
