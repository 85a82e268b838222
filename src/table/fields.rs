//! Classification of table fields, and their display in messages.

use std::borrow::Cow;

/// Shortens a text for a message.
pub fn cut(text: &str) -> Cow<'_, str> {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// Returns true for a spreadsheet's error value: `#N/A`, `#DIV/0!`, `#NAME?`, `#####`, `Err:502`.
pub fn is_spreadsheet_error(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('#') else {
        let number = text.strip_prefix("Err:").unwrap_or_default();
        return !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    };
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_'))
    };
    match rest.strip_suffix(['!', '?']) {
        Some(word) => is_word(word),
        None => {
            ["N/A", "NV", "N/D", "GETTING_DATA"].contains(&rest)
                || rest.len() > 1 && rest.bytes().all(|byte| byte == b'#')
        }
    }
}

/// Returns true if a text resembles a number instead of a column name. Such a text has a digit after signs and points,
/// is the name of a non-finite number such as `nan`, or is a spreadsheet's error value.
pub fn looks_like_number(text: &str) -> bool {
    let text = text.trim();
    let unsigned = text.trim_start_matches(['+', '-', '.']);
    let is_word = |word: &&str| unsigned.eq_ignore_ascii_case(word);
    unsigned.starts_with(|sign: char| sign.is_ascii_digit())
        || ["nan", "inf", "infinity"].iter().any(is_word)
        || is_spreadsheet_error(text)
}
