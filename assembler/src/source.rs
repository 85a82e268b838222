//! Source files and places in them. This module handles bytes and lines, independently of tokens, and reads
//! no disk.
//!
//! Every file is kept, even an invalid one, so that a diagnostic can show the invalid place. Errors in a
//! file's bytes are reported here, once per file.

use std::string::FromUtf8Error;

use reviver_files::{Encoding, guess_encoding};
use reviver_isa::codes::ProblemCode;
use reviver_isa::names::deceiving;

use crate::diagnostic::Diagnostic;
pub use crate::span::{FileId, SourceLine, Span};

/// The maximum length of a line in bytes. Longer lines come from faulty generators, and tools don't display
/// them.
pub const LONGEST_LINE: usize = 1 << 20;

/// A line and a column for messages. Both are counted from 1, and columns are counted in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line number, from 1.
    pub line: usize,
    /// The column in characters, from 1; a tab is one character.
    pub column: usize,
}

#[derive(Clone, Debug)]
struct LoadedFile {
    name: String,
    text: String,
    /// The index of the first byte of each line. The list is never empty, because an empty file has one line.
    line_starts: Vec<u32>,
    problem: Option<Box<Diagnostic>>,
}

/// The source files of an assembly.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<LoadedFile>,
}

impl Sources {
    /// Returns an empty set of files.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a file. Errors in its bytes are reported by parsing.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.register(name.into(), text.into().into_bytes())
    }

    /// Adds a file of untrusted bytes. Returns an error if the bytes are not valid text. The file is added
    /// even then, so that the error can show its place.
    pub fn add_bytes(&mut self, name: impl Into<String>, bytes: Vec<u8>) -> Result<FileId, Box<Diagnostic>> {
        let file = self.register(name.into(), bytes);
        self.problem(file).map_or(Ok(file), |problem| Err(Box::new(problem.clone())))
    }

    fn register(&mut self, name: String, bytes: Vec<u8>) -> FileId {
        let file = FileId(self.files.len() as u32);
        let (text, problem) = match readable(file, bytes) {
            Ok(text) => (text, None),
            Err(unreadable) => (unreadable.shown, Some(unreadable.problem)),
        };
        let line_starts = line_starts(&text);
        let problem = problem.or_else(|| long_line(file, &text, &line_starts)).map(Box::new);
        self.files.push(LoadedFile { name, text, line_starts, problem });
        file
    }

    fn file(&self, file: FileId) -> Option<&LoadedFile> {
        self.files.get(file.0 as usize)
    }

    /// Returns true if a file has been added.
    pub fn has(&self, file: FileId) -> bool {
        self.file(file).is_some()
    }

    /// Returns the error in a file's bytes, if there is one.
    pub fn problem(&self, file: FileId) -> Option<&Diagnostic> {
        self.file(file)?.problem.as_deref()
    }

    /// Returns the files that have been added.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
    }

    /// Returns the file with this name.
    pub fn find(&self, name: &str) -> Option<FileId> {
        self.files().find(|file| self.name(*file) == name)
    }

    /// Returns a file's name, or an empty text for an unknown file.
    pub fn name(&self, file: FileId) -> &str {
        self.file(file).map_or("", |f| &f.name)
    }

    /// Returns a file's text, or an empty text for an unknown file.
    pub fn file_text(&self, file: FileId) -> &str {
        self.file(file).map_or("", |f| &f.text)
    }

    /// Returns the text of a span, or an empty text for an invalid span.
    pub fn text(&self, span: Span) -> &str {
        self.file_text(span.file).get(span.range()).unwrap_or("")
    }

    /// Returns the number of lines. An empty file has one empty line.
    pub fn lines(&self, file: FileId) -> usize {
        self.file(file).map_or(0, |f| f.line_starts.len())
    }

    /// Returns the line of a byte in a file, counted from 1.
    pub fn line(&self, file: FileId, byte: u32) -> usize {
        self.file(file).map_or(1, |f| f.line_starts.partition_point(|start| *start <= byte).max(1))
    }

    /// Returns the position of a span's beginning.
    pub fn position(&self, span: Span) -> Position {
        let line = self.line(span.file, span.start);
        let before = Span { start: self.line_span(span.file, line).start, end: span.start, ..span };
        Position { line, column: self.text(before).chars().count() + 1 }
    }

    /// Returns the span of a part of a line, given its first and last column, counted from 1 in characters. If
    /// `columns` is `None`, the part is the statement on the line. Returns `None` if the text has no such part.
    pub fn columns(&self, file: FileId, line: u32, columns: Option<(u32, u32)>) -> Option<Span> {
        let line = usize::try_from(line).ok().filter(|line| (1..=self.lines(file)).contains(line))?;
        let whole = self.line_span(file, line);
        let text = self.text(whole);
        let byte = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at) as u32;
        let (start, end) = match columns {
            Some((first, last)) => (byte(first.saturating_sub(1) as usize), byte(last as usize)),
            None => {
                let statement = text.split(';').next().unwrap_or_default();
                let start = statement.len() - statement.trim_start().len();
                (start as u32, (start + statement.trim().len()) as u32)
            }
        };
        (start < end).then_some(Span { file, start: whole.start + start, end: whole.start + end })
    }

    /// Returns the span of a line (counted from 1), without its line end.
    pub fn line_span(&self, file: FileId, line: usize) -> Span {
        let Some(source) = self.file(file) else {
            return Span { file, start: 0, end: 0 };
        };
        let whole = source.text.len() as u32;
        let start = source.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(whole);
        let end = source.line_starts.get(line).map_or(whole, |next| next - 1);
        let span = Span { file, start, end };
        let carriage_return = self.text(span).ends_with('\r');
        Span { end: end - u32::from(carriage_return), ..span }
    }
}

fn line_starts(text: &str) -> Vec<u32> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect()
}

/// Bytes that are not valid source text: the part that can be shown, and the error.
struct Unreadable {
    shown: String,
    problem: Diagnostic,
}

fn unreadable<T>(shown: String, problem: Diagnostic) -> Result<T, Box<Unreadable>> {
    Err(Box::new(Unreadable { shown, problem }))
}

fn readable(file: FileId, bytes: Vec<u8>) -> Result<String, Box<Unreadable>> {
    if u32::try_from(bytes.len()).is_err() {
        let nowhere = Span { file, start: 0, end: 0 };
        let problem = Diagnostic::error(
            ProblemCode::UnreadableText,
            "this file is larger than 4 GiB",
            nowhere,
            "too large to assemble",
        );
        return unreadable(String::new(), problem);
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let shown = String::from("\u{fffd}");
        let place = Span { file, start: 0, end: shown.len() as u32 };
        let problem = Diagnostic::error(
            ProblemCode::UnreadableText,
            "this file is not UTF-8 but UTF-16",
            place,
            "the byte order mark of UTF-16",
        );
        return unreadable(shown, problem.help(Encoding::Utf16.help()));
    }
    let text = String::from_utf8(bytes).or_else(|error| not_utf8(file, &error))?;
    // Some editors write a byte order mark at the beginning, which is invisible.
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    match misplaced(file, &text) {
        Some(problem) => unreadable(text, problem),
        None => Ok(text),
    }
}

fn not_utf8(file: FileId, error: &FromUtf8Error) -> Result<String, Box<Unreadable>> {
    let valid = error.utf8_error().valid_up_to();
    let rest = error.as_bytes().get(valid..).unwrap_or_default();
    let byte = rest.first().copied().unwrap_or_default();
    let line_end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    let mut shown =
        error.as_bytes().get(..valid).map(String::from_utf8_lossy).unwrap_or_default().into_owned();
    shown.push_str(&String::from_utf8_lossy(rest.get(..line_end).unwrap_or_default()));
    let replacement = char::REPLACEMENT_CHARACTER.len_utf8();
    let place = Span { file, start: valid as u32, end: (valid + replacement) as u32 };
    let encoding = guess_encoding(error.as_bytes());
    let problem = Diagnostic::error(
        ProblemCode::UnreadableText,
        format!("this file is not UTF-8{}", encoding.instead()),
        place,
        format!("the byte {byte:#04x} is not UTF-8 here"),
    )
    .help(encoding.help());
    unreadable(shown, problem)
}

/// Returns an error for characters that no source file may contain, not even in comments and quotes. The
/// displayed text must be the assembled text.
fn misplaced(file: FileId, text: &str) -> Option<Diagnostic> {
    let mut found = text.char_indices().filter(|(at, c)| is_misplaced(text, *at, *c));
    let (at, character) = found.next()?;
    let name = deceiving(character)?;
    let place = Span { file, start: at as u32, end: (at + character.len_utf8()) as u32 };
    let label = match found.count() {
        0 => "here".to_owned(),
        more => format!("here, and {more} more in this file"),
    };
    let encoding = guess_encoding(text.as_bytes());
    let message = match character {
        '\0' if encoding == Encoding::Utf16 => "this file is not UTF-8 but UTF-16".to_owned(),
        '\0' => "this file holds a NUL byte".to_owned(),
        _ => format!("this file holds the character U+{:04X} ({name})", u32::from(character)),
    };
    let help = match character {
        '\0' if encoding == Encoding::Utf16 => encoding.help(),
        '\0' => "choose a text file instead of an image or another binary file",
        '\r' => "end the line with a line feed, or with a carriage return and a line feed",
        _ => "delete the character: with it, the text on a screen differs from the text that is assembled",
    };
    Some(Diagnostic::error(ProblemCode::UnreadableText, message, place, label).help(help))
}

fn is_misplaced(text: &str, at: usize, character: char) -> bool {
    let ends_line = character == '\r' && text.as_bytes().get(at + 1) == Some(&b'\n');
    !ends_line && deceiving(character).is_some()
}

fn long_line(file: FileId, text: &str, line_starts: &[u32]) -> Option<Diagnostic> {
    let ends = line_starts.iter().skip(1).map(|next| next - 1).chain([text.len() as u32]);
    let (start, end) = line_starts
        .iter()
        .copied()
        .zip(ends)
        .find(|(start, end)| (end.saturating_sub(*start)) as usize > LONGEST_LINE)?;
    let place = Span { file, start, end: start };
    let problem = Diagnostic::error(
        ProblemCode::UnreadableText,
        "this line is longer than 1 MiB",
        place,
        format!("{} bytes", end - start),
    );
    Some(problem.help("split the line: lists in braces may span several lines"))
}
