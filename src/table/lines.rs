//! Reader for lines of fields, used for all numeric texts: `--lanes`, `--set A=@FILE`, `--tape`, `--times` and
//! `--inputs`. Supports commas, semicolons, tabs and blanks as delimiters, quotes, comments before the first line,
//! and a spreadsheet's `sep=` line. Callers decide whether a field is a number.
//!
//! A field can't contain a line end, because numbers and names don't. Therefore an unclosed quote is an error of its
//! line. Memory is bounded by one line of limited length, even for a device or a file without line ends.

use std::io::{self, BufRead, BufReader, Read};

use reviver_memory::ask;
use serde_json::json;

use super::fields::{cut, is_spreadsheet_error};
use crate::failure::{Failure, Fallible};

/// Maximum length of a line in bytes: a vector of about a million numbers.
const LONGEST_LINE: usize = 64 << 20;
/// Maximum length of a field in bytes. The longest f64 has about 1,100 characters.
const LONGEST_FIELD: usize = 4 << 10;
/// Maximum number of consecutive blank lines and comments.
const MOST_SKIPPED: u64 = 1 << 20;

/// Separator between the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// A single ASCII character.
    Character(u8),
    /// Any number of blanks and tabs.
    Blanks,
}

impl Delimiter {
    /// Detects the delimiter of a line, ignoring quoted text: a tab if there is one, otherwise a semicolon (commas may
    /// then be decimal), otherwise a comma, otherwise blanks. Blanks are also the delimiter if a part between tabs
    /// contains blanks.
    fn of(line: &str) -> Delimiter {
        let mut is_quoted = false;
        let outside: Vec<u8> = line
            .trim()
            .bytes()
            .filter(|byte| {
                is_quoted ^= *byte == b'"';
                !is_quoted && *byte != b'"'
            })
            .collect();
        let has_blanks_inside = |part: &[u8]| part.trim_ascii().contains(&b' ');
        match [b'\t', b';', b','].into_iter().find(|delimiter| outside.contains(delimiter)) {
            Some(b'\t') if outside.split(|byte| *byte == b'\t').any(has_blanks_inside) => Delimiter::Blanks,
            Some(delimiter) => Delimiter::Character(delimiter),
            None => Delimiter::Blanks,
        }
    }

    fn is(self, byte: u8) -> bool {
        match self {
            Delimiter::Character(delimiter) => byte == delimiter,
            Delimiter::Blanks => byte == b' ' || byte == b'\t',
        }
    }
}

/// Byte range of a field in its line.
#[derive(Clone, Copy, Debug)]
struct FieldSpan {
    /// Index of the field's first byte, which may be a quote or a blank.
    at: usize,
    /// Index of the first byte of the text without quotes and blanks.
    start: usize,
    /// Index after the last byte of the text without quotes and blanks.
    end: usize,
}

/// Reader of a table. Only one line at a time is in memory.
pub struct TableLines<'s> {
    file: String,
    source: BufReader<Box<dyn Read + 's>>,
    line: String,
    fields: Vec<FieldSpan>,
    /// Number of the current line, from 1.
    number: u64,
    delimiter: Option<Delimiter>,
    /// Count of blank lines and comments before the current line.
    skipped: u64,
    /// True if the last line ended with a carriage return, so that a line feed after it belongs to the same line end.
    has_returned: bool,
    has_line_end: bool,
}

impl<'s> TableLines<'s> {
    /// Creates a reader; messages call the text `file`.
    pub fn new(file: String, source: impl Read + 's) -> TableLines<'s> {
        TableLines {
            file,
            source: BufReader::with_capacity(1 << 16, Box::new(source)),
            line: String::new(),
            fields: Vec::new(),
            number: 0,
            delimiter: None,
            skipped: 0,
            has_returned: false,
            has_line_end: true,
        }
    }

    /// Advances to the first line that is neither blank nor a comment; returns false if there is none. This line, or
    /// a `sep=` line before it, determines the delimiter.
    ///
    /// # Errors
    /// The text isn't UTF-8, a line or a field is too long, or a quote isn't closed.
    pub fn first(&mut self) -> Fallible<bool> {
        self.check_encoding()?;
        loop {
            if !self.significant(|line| line.starts_with('#') && !is_spreadsheet_error(first_field(line)))? {
                return Ok(false);
            }
            match separator(&self.line) {
                Some(delimiter) if self.delimiter.is_none() => {
                    self.delimiter = Some(Delimiter::Character(delimiter));
                }
                _ => break,
            }
        }
        self.split()?;
        Ok(true)
    }

    /// Advances to the next nonblank line; returns false at the end. In these lines `#` doesn't begin a comment,
    /// because spreadsheets write `#N/A` for missing numbers.
    ///
    /// # Errors
    /// The errors of [`TableLines::first`].
    pub fn next(&mut self) -> Fallible<bool> {
        let is_there = self.significant(|_| false)?;
        if is_there {
            self.split()?;
        }
        Ok(is_there)
    }

    /// If the current line has no delimiter, detects the delimiter again in the next line. A header with a single name
    /// doesn't show the delimiter of the numbers below it.
    pub fn reconsider_delimiter(&mut self) {
        if self.delimiter == Some(Delimiter::Blanks) && self.fields.len() <= 1 {
            self.delimiter = None;
        }
    }

    /// Returns the fields of the current line.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &str> {
        self.fields.iter().map(|field| self.line.get(field.start..field.end).unwrap_or_default())
    }

    /// Returns the number of fields in the current line.
    pub fn count(&self) -> usize {
        self.fields.len()
    }

    /// Drops an empty last field if the line has more than `wanted` fields, because some writers end each line with a
    /// delimiter.
    pub fn drop_trailing(&mut self, wanted: usize) {
        let is_empty =
            self.fields.last().is_some_and(|field| field.start == field.end && field.at == field.start);
        if is_empty && self.fields.len() > wanted {
            self.fields.pop();
        }
    }

    /// Returns true if commas separate the fields.
    pub fn is_by_commas(&self) -> bool {
        self.delimiter == Some(Delimiter::Character(b','))
    }

    /// Returns the number of the current line, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns true if lines were skipped before the current line.
    pub fn has_skipped(&self) -> bool {
        self.skipped > 0
    }

    /// Returns true if the last line read had a line end.
    pub fn has_line_end(&self) -> bool {
        self.has_line_end
    }

    /// Failure for a field of the current line, or for the whole line if there is no such field.
    pub fn fault(&self, field: Option<usize>, what: &str) -> Failure {
        let at = field.map(|n| self.fields.get(n).map_or(self.line.len(), |field| field.at));
        self.fault_at(at, what)
    }

    /// Returns advice for a field that isn't a number, if the text shows what was meant, such as a decimal comma.
    pub fn hint(text: &str) -> Option<&'static str> {
        let is_decimal = |text: &str| {
            text.split_once(',').is_some_and(|(whole, rest)| {
                let whole = whole.trim_start_matches(['+', '-']);
                let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
                is_digits(whole) && !rest.is_empty() && rest.starts_with(|sign: char| sign.is_ascii_digit())
            })
        };
        if is_spreadsheet_error(text) {
            Some("a spreadsheet writes this if it has no number: correct or delete the line")
        } else if is_decimal(text) {
            Some("write a decimal point instead of the decimal comma")
        } else {
            None
        }
    }

    fn fault_at(&self, at: Option<usize>, what: &str) -> Failure {
        let column = at.map(|at| self.line.get(..at).map_or(0, |before| before.chars().count()) + 1);
        fault(&self.file, self.number, column, what)
    }

    /// Refuses input that isn't UTF-8 text, judged by its first bytes, and skips a byte order mark.
    fn check_encoding(&mut self) -> Fallible {
        let file = &self.file;
        let beginning = self.source.fill_buf().map_err(|error| unreadable(file, &error))?;
        let refused = |what: &str, help: &str| {
            Err(Failure::usage(format_args!("{file}: {what}, and UTF-8 text is expected")).help(help))
        };
        if beginning.starts_with(b"\xff\xfe") || beginning.starts_with(b"\xfe\xff") {
            return refused("this is UTF-16 text", "save it as UTF-8; a spreadsheet calls that “CSV UTF-8”");
        }
        if beginning.starts_with(b"PK\x03\x04") {
            return refused(
                "this is an archive",
                "save a sheet of a spreadsheet as CSV, and give an archive of arrays the ending `.npz`",
            );
        }
        if beginning.starts_with(b"\x1f\x8b") {
            return refused(
                "this is compressed by gzip",
                "decompress it with `gunzip -c FILE | reviver …`, and give `-` as the file",
            );
        }
        if beginning.starts_with(b"\xef\xbb\xbf") {
            self.source.consume(3);
        }
        Ok(())
    }

    /// Advances to the next line that isn't blank, and that `skips` doesn't skip.
    fn significant(&mut self, skips: impl Fn(&str) -> bool) -> Fallible<bool> {
        self.skipped = 0;
        while self.line()? {
            let line = self.line.trim();
            if !line.is_empty() && !skips(line) {
                return Ok(true);
            }
            self.skipped += 1;
            if self.skipped > MOST_SKIPPED {
                let what = format!("more than {MOST_SKIPPED} blank lines and comments follow each other");
                return Err(self.fault_at(None, &what));
            }
        }
        Ok(false)
    }

    /// Reads a line, which ends with a line feed, a carriage return, or both; returns false at the end of the text.
    fn line(&mut self) -> Fallible<bool> {
        let mut bytes = std::mem::take(&mut self.line).into_bytes();
        bytes.clear();
        let is_there = loop {
            let chunk = match self.source.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(&self.file, &error)),
            };
            if chunk.is_empty() {
                self.has_line_end = bytes.is_empty() && self.has_line_end;
                break !bytes.is_empty();
            }
            if std::mem::take(&mut self.has_returned) && chunk.first() == Some(&b'\n') {
                self.source.consume(1);
                continue;
            }
            let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, used) = (end.unwrap_or(chunk.len()), end.map_or(chunk.len(), |end| end + 1));
            self.has_returned = end.and_then(|end| chunk.get(end)) == Some(&b'\r');
            let piece = chunk.get(..piece).unwrap_or_default();
            if bytes.len() + piece.len() > LONGEST_LINE {
                let what = format!("this line has more than {} MiB, the maximum length", LONGEST_LINE >> 20);
                return Err(
                    fault(&self.file, self.number + 1, None, &what).help("check that the file has line ends")
                );
            }
            ask::more(&mut bytes, piece.len()).map_err(|error| {
                fault(&self.file, self.number + 1, None, "this line doesn't fit into memory")
                    .caused_by(&error)
            })?;
            bytes.extend_from_slice(piece);
            self.source.consume(used);
            if end.is_some() {
                self.has_line_end = true;
                break true;
            }
        };
        self.number += u64::from(is_there);
        self.fields.clear();
        self.line = match String::from_utf8(bytes) {
            Ok(line) => line,
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let before = error.as_bytes().get(..valid).unwrap_or_default();
                let column = String::from_utf8_lossy(before).chars().count() + 1;
                let failure = fault(&self.file, self.number, Some(column), "this is not UTF-8 text");
                return Err(failure.help("save the file as UTF-8"));
            }
        };
        Ok(is_there)
    }

    /// Splits the current line into fields.
    fn split(&mut self) -> Fallible {
        let delimiter = *self.delimiter.get_or_insert_with(|| Delimiter::of(&self.line));
        let mut fields = std::mem::take(&mut self.fields);
        let split = split(&self.line, delimiter, &mut fields);
        self.fields = fields;
        split.map_err(|(at, what)| self.fault_at(Some(at), what))
    }
}

/// Failure for a place in a file.
pub fn fault(file: &str, line: u64, column: Option<usize>, what: &str) -> Failure {
    let place = match column {
        Some(column) => format!("{file}:{line}:{column}"),
        None => format!("{file}:{line}"),
    };
    Failure::usage(format_args!("{place}: {what}"))
        .detail("place", json!({ "file": file, "line": line, "column": column }))
}

fn unreadable(file: &str, error: &io::Error) -> Failure {
    Failure::load(format_args!("can't read {file}: {error}")).caused_by(error)
}

/// Splits a line into fields without surrounding blanks and quotes. The error has the byte index of the malformed
/// field.
fn split(line: &str, delimiter: Delimiter, fields: &mut Vec<FieldSpan>) -> Result<(), (usize, &'static str)> {
    let bytes = line.as_bytes();
    let end = line.trim_end_matches(' ').len();
    let is_blank =
        |byte: u8| matches!(byte, b' ' | b'\t') && (delimiter == Delimiter::Blanks || !delimiter.is(byte));
    let skip_blanks = |mut at: usize| {
        while bytes.get(at).is_some_and(|byte| is_blank(*byte)) {
            at += 1;
        }
        at
    };
    let mut at = skip_blanks(0);
    loop {
        if delimiter == Delimiter::Blanks && at >= end {
            return Ok(());
        }
        let (span, after) = match bytes.get(at) {
            Some(b'"') => {
                let close = closing_quote(bytes, at).ok_or((at, "this quote isn't closed on its line"))?;
                let after = skip_blanks(close + 1);
                let is_over = bytes.get(after).is_none_or(|byte| delimiter.is(*byte));
                let is_blank = delimiter == Delimiter::Blanks && after > close + 1;
                if !is_over && !is_blank {
                    return Err((after, "a delimiter is missing after a closing quote"));
                }
                (trimmed(line, at, at + 1, close), after)
            }
            _ => {
                let length = bytes.get(at..).unwrap_or_default().iter().position(|byte| delimiter.is(*byte));
                let stop = length.map_or(bytes.len(), |length| at + length);
                (
                    trimmed(line, at, at, stop),
                    if delimiter == Delimiter::Blanks { skip_blanks(stop) } else { stop },
                )
            }
        };
        if span.end - span.start > LONGEST_FIELD {
            return Err((at, "this field has more than 4,096 bytes, too many for a number or name"));
        }
        fields.push(span);
        match delimiter {
            Delimiter::Blanks => at = after,
            Delimiter::Character(_) if after >= bytes.len() => return Ok(()),
            Delimiter::Character(_) => at = skip_blanks(after + 1),
        }
    }
}

/// Returns the position of the closing quote; a doubled quote is a quote in the text.
fn closing_quote(bytes: &[u8], at: usize) -> Option<usize> {
    let mut from = at + 1;
    loop {
        let close = from + bytes.get(from..)?.iter().position(|byte| *byte == b'"')?;
        if bytes.get(close + 1) != Some(&b'"') {
            return Some(close);
        }
        from = close + 2;
    }
}

fn trimmed(line: &str, at: usize, from: usize, to: usize) -> FieldSpan {
    let text = line.get(from..to).unwrap_or_default();
    let start = from + (text.len() - text.trim_start().len());
    FieldSpan { at, start, end: start + text.trim().len() }
}

/// Returns the text of a line before its first delimiter.
fn first_field(line: &str) -> &str {
    line.split([',', ';', '\t']).next().unwrap_or_default().trim().trim_matches('"')
}

/// Returns the delimiter in a spreadsheet's line such as `sep=;`.
fn separator(line: &str) -> Option<u8> {
    let line = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    let (word, separator) = line.split_at_checked(4)?;
    match separator.as_bytes() {
        [byte] if word.eq_ignore_ascii_case("sep=") && byte.is_ascii() && !byte.is_ascii_alphanumeric() => {
            Some(*byte)
        }
        _ => None,
    }
}

/// Formats a field for a message.
pub fn shown_field(text: &str) -> String {
    reviver_isa::names::printable(&cut(text)).into_owned()
}
