//! The expectations of a text: its lines that begin with `;!`, read. Knows places; doesn't know what they mean.

use crate::grammar::{Expectation, GrammarError, parse};

/// What stands in front of an expectation.
const MARK: &str = ";!";

/// A text without the byte order mark that some editors begin it with.
#[must_use]
pub fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The expectations of a text, in its order.
#[derive(Clone, Debug)]
pub struct Expectations {
    /// The file that they stand in, from which references are found.
    pub name: String,
    pub lines: Vec<ExpectedLine>,
}

/// An expectation and its place.
#[derive(Clone, Debug)]
pub struct ExpectedLine {
    /// From 1.
    pub line: usize,
    /// Without the mark.
    pub text: String,
    pub read: Result<Expectation, GrammarError>,
}

impl Expectations {
    /// Those of a text.
    pub fn of(name: &str, text: &str) -> Expectations {
        let marked = (1..).zip(unmarked(text).lines());
        let marked =
            marked.filter_map(|(line, text)| Some((line, text.trim_start().strip_prefix(MARK)?.trim())));
        let lines =
            marked.map(|(line, text)| ExpectedLine { line, text: text.to_owned(), read: parse(text) });
        Expectations { name: name.to_owned(), lines: lines.collect() }
    }

    /// The lines that could be read.
    pub(crate) fn read(&self) -> impl Iterator<Item = &Expectation> {
        self.lines.iter().filter_map(|line| line.read.as_ref().ok())
    }
}
