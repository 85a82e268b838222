//! Escapes text from outside for the medium on which it is printed.
//!
//! | medium | function | what it escapes |
//! |---|---|---|
//! | a line on a terminal | [`line()`] | control characters, tabs and line ends; changes of the writing direction |
//! | several lines | [`text`], [`TextWriter`] | as [`line()`], but line ends are kept |
//! | lines with our own colours | [`styled`] | as [`text`], but SGR sequences are kept |
//! | a cell of a CSV file | [`csv_cell`] | as [`line()`]; a formula of a spreadsheet gets a leading quote |
//! | an object of JSON | [`JsonWriter`] | as [`text`], in JSON's own escape syntax: parsers get the original |
//! | XML, JUnit, SVG | [`xml_characters`], [`xml_text`] | as [`text`], but tabs are kept; also U+FFFE and U+FFFF |
//!
//! [`xml_text`] also escapes markup. The control and direction characters are defined in one place,
//! [`reviver_isa::names::deceiving`].

#![deny(missing_docs)]

mod writer;

use std::borrow::Cow;

use reviver_isa::names::{deceiving, printable};

pub use writer::{EscapingWriter, JsonWriter, TextWriter};

/// Escapes text that must stay within one line: line ends and tabs are escaped, too.
pub fn line(text: &str) -> Cow<'_, str> {
    printable(text)
}

/// Escapes text of several lines that has no colours. Line ends are kept; tabs are escaped.
pub fn text(text: &str) -> Cow<'_, str> {
    replaced(text, is_no_text, spelled)
}

/// Escapes text of several lines to which we have added colours (SGR sequences). Escape text from outside
/// before you colour it: afterwards, an SGR sequence from outside can't be distinguished from one of ours.
pub fn styled(text: &str) -> Cow<'_, str> {
    if !text.contains(is_no_text) {
        return Cow::Borrowed(text);
    }
    let (mut escaped, mut left) = (String::with_capacity(text.len()), text);
    while let Some(at) = left.find(SGR) {
        let (before, sequence) = left.split_at(at);
        escaped.push_str(&self::text(before));
        let length = sgr_length(sequence);
        let (kept, rest) = sequence.split_at(length.unwrap_or(SGR.len()));
        match length {
            Some(_) => escaped.push_str(kept),
            None => escaped.push_str(&self::text(kept)),
        }
        left = rest;
    }
    escaped.push_str(&self::text(left));
    Cow::Owned(escaped)
}

/// The beginning of each SGR sequence (the sequences that set colours).
const SGR: &str = "\x1b[";

/// Returns the length in bytes of the SGR sequence at the beginning of a text, if there is one: numbers,
/// semicolons and an `m`.
fn sgr_length(text: &str) -> Option<usize> {
    let parameters = text.get(SGR.len()..)?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters.get(end..)?.starts_with('m').then_some(SGR.len() + end + 1)
}

/// Escapes text for a cell of a CSV file. Spreadsheets evaluate text that begins with `=`, `+`, `-` or `@`; a
/// leading quote prevents that. Not for numbers, which may begin with a sign.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    match is_formula {
        true => Cow::Owned(format!("'{}", line(text))),
        false => line(text),
    }
}

/// Escapes the characters that XML 1.0 forbids, and characters that change the writing direction. Use it for
/// text that an XML library writes: the library escapes the markup.
pub fn xml_characters(text: &str) -> Cow<'_, str> {
    replaced(text, is_no_xml, spelled)
}

/// Escapes text for an XML element or attribute: the same characters as [`xml_characters`], and markup.
pub fn xml_text(text: &str) -> Cow<'_, str> {
    let is_special = |c| matches!(c, '&' | '<' | '>' | '"') || is_no_xml(c);
    replaced(text, is_special, |c, out| match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        other => spelled(other, out),
    })
}

/// Returns true if [`text`] must escape a character: tabs, other control characters except line ends, and
/// characters that change the writing direction.
fn is_no_text(c: char) -> bool {
    c == '\t' || deceiving(c).is_some()
}

fn is_no_xml(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}') || deceiving(c).is_some()
}

/// Appends a character's escape sequence in the syntax of Rust, such as `\u{1b}`.
fn spelled(c: char, out: &mut String) {
    out.extend(c.escape_default());
}

/// Returns the text with each special character replaced by its escape.
fn replaced(
    text: &str,
    is_special: impl Fn(char) -> bool,
    spell: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    if !text.contains(&is_special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_special(c) {
            true => spell(c, &mut out),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\x1b[2Jb\u{9b}8m\u{202e}\tc\rd\x7f\0";

    #[test]
    fn escaped_lines_contain_no_control_characters() {
        let escaped = r"a\u{1b}[2Jb\u{9b}8m\u{202e}\tc\rd\u{7f}\u{0}";
        assert_eq!(line(HOSTILE), escaped);
        assert_eq!(text(HOSTILE), escaped);
        assert_eq!(line("one\ntwo"), r"one\ntwo");
        assert_eq!(text("one\ntwo"), "one\ntwo");
        assert!(matches!(text("größer, 大"), Cow::Borrowed(_)));
    }

    #[test]
    fn only_colour_sequences_are_kept() {
        let ours = "\x1b[1;31mred\x1b[0m\x1b[m\n";
        assert_eq!(styled(ours), ours);
        for (sequence, escaped) in [
            ("\x1b[2J", r"\u{1b}[2J"),
            ("\x1b[31", r"\u{1b}[31"),
            ("\x1b[", r"\u{1b}["),
            ("\x1b]0;title\x07", r"\u{1b}]0;title\u{7}"),
            ("\x1b[?25l", r"\u{1b}[?25l"),
            ("\u{9b}31m", r"\u{9b}31m"),
            ("\x1b[3\u{202e}m", r"\u{1b}[3\u{202e}m"),
        ] {
            assert_eq!(styled(&format!("\x1b[32m{sequence}")), format!("\x1b[32m{escaped}"));
        }
    }

    #[test]
    fn cells_of_csv_are_no_formulas() {
        for (field, cell) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-x", "'-x"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", r"\t=1"),
            ("\r=1", r"\r=1"),
            ("＝1", "'＝1"),
            ("a=1", "a=1"),
            ("", ""),
        ] {
            assert_eq!(csv_cell(field), cell);
        }
    }

    #[test]
    fn xml_contains_only_allowed_characters() {
        assert_eq!(xml_characters("a\0b\u{ffff}\u{fffe}\n\tc"), "a\\u{0}b\\u{ffff}\\u{fffe}\n\tc");
        assert_eq!(xml_text("<&\">\x1b"), "&lt;&amp;&quot;&gt;\\u{1b}");
    }
}
