//! The rules for the spelling of names (of cells, procedures, labels and constants), and the characters that
//! source texts and paths must not contain.

use std::borrow::Cow;

use crate::instruction::Class;
use crate::language::KEYWORDS;
use crate::update::Update;

/// Returns true if a word has the form of a name: a letter or `_`, then letters, digits, `_` and `$`.
pub fn is_identifier(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
}

/// Returns the name of an adjoint: `x'` of a cell, `A'[3]` of an element, `(a*b)'` of an expression.
pub fn adjoint_name(name: &str) -> String {
    let (array, index) = name.split_at(name.find('[').unwrap_or(name.len()));
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '?' | '\'' | '.');
    match array.chars().all(is_word) && (index.is_empty() || is_enclosed(index)) {
        true => format!("{array}'{index}"),
        false if name.starts_with('(') && is_enclosed(name) => format!("{name}'"),
        false => format!("({name})'"),
    }
}

/// Returns true if the last character of a text closes its first bracket.
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

/// Returns the class of a register, or `None` if the name isn't that of a register. A register is `r`
/// (integer) or `f` (real) and a number without leading zeros.
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

/// Returns true if a word is a mnemonic or a keyword.
pub fn is_reserved(word: &str) -> bool {
    KEYWORDS.contains(&word) || Update::from_name(word).is_some()
}

/// Escapes a text from outside for display. Escaped are characters that control a terminal, and characters
/// that change the order in which their neighbours are displayed.
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

/// Returns true if a word can be the name of a procedure, a macro or a label: it has the form of a name and isn't
/// reserved.
pub fn is_name(word: &str) -> bool {
    is_identifier(word) && !is_reserved(word)
}

/// The words that are operands themselves.
const OPERANDS: [&str; 2] = ["mode", "pi"];

/// Returns true if a word can be the name of a cell, a constant or a counter: it has the form of a name and isn't an
/// operand of the language. Other words of the language have no meaning in the place of an operand. The cell of a
/// record's field has a name with a dot: `p.x`
pub fn is_operand_name(word: &str) -> bool {
    match word.split_once('.') {
        Some((record, field)) => is_identifier(record) && is_identifier(field),
        None => is_identifier(word) && !OPERANDS.contains(&word),
    }
}

/// Returns the name of a character that is forbidden in source texts and paths, or `None` for allowed ones.
/// Forbidden characters make a screen show something other than the text: they change the direction of
/// writing, end a line, control a terminal, or are invisible.
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

/// The prefix of parameters that pass a length of another parameter. `len$v` is the length of `v`; `len$M` is
/// the number of cells of `M`, `len$0$M` its rows and `len$1$M` its columns. The forms are unambiguous,
/// because no name begins with a digit.
pub const LENGTH_PARAMETER: &str = "len$";

/// Returns the name of the parameter that passes a length: the number of cells, or a dimension of a matrix.
pub fn length_parameter(measured: &str, dimension: Option<u8>) -> String {
    match dimension {
        None => format!("{LENGTH_PARAMETER}{measured}"),
        Some(dimension) => format!("{LENGTH_PARAMETER}{dimension}${measured}"),
    }
}

/// Returns the source spelling of a parameter that passes a length, such as `len(v)` for `len$v` and
/// `len(M, 1)` for `len$1$M`. Returns `None` for the names of other parameters.
pub fn spelled_length(parameter: &str) -> Option<String> {
    let measured = parameter.strip_prefix(LENGTH_PARAMETER)?;
    Some(match measured.split_once('$') {
        Some((dimension @ ("0" | "1"), matrix)) => format!("len({matrix}, {dimension})"),
        _ => format!("len({measured})"),
    })
}
