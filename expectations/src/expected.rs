//! Expectations of a text: its lines that begin with `;!`, parsed. This module doesn't interpret them.

use crate::grammar::{Expectation, GrammarError, parse};

/// The mark at the beginning of an expectation.
const MARK: &str = ";!";

/// Returns a text without the byte order mark that some editors write at its beginning.
#[must_use]
pub fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The expectations of a text, in their order.
#[derive(Clone, Debug)]
pub struct Expectations {
    /// The name of the file; paths of references are relative to it.
    pub name: String,
    /// The lines with the mark, in order of the text. Valid lines `points N` set the weights of the lines below them,
    /// and aren't in this list.
    pub lines: Vec<ExpectedLine>,
}

/// Returns the weight in a line `points N`, given the text after `points`.
fn parse_points(rest: &str) -> Result<u32, GrammarError> {
    let number = rest.strip_prefix(char::is_whitespace).map(str::trim);
    let worth = number.and_then(|number| number.parse().ok());
    worth.filter(|worth| *worth <= MOST_POINTS).ok_or(GrammarError::Points)
}

/// The maximum weight of a line. A larger number is likely a typo. The limit also keeps sums of weights small.
const MOST_POINTS: u32 = 1000;

/// An expectation with its place in the text.
#[derive(Clone, Debug)]
pub struct ExpectedLine {
    /// The line number, from 1.
    pub line: usize,
    /// The text of the line without the mark.
    pub text: String,
    /// The weight of the line in grading: N of the last line `;! points N` above it, or 1 if there is no such line.
    pub points: u32,
    /// The parsed expectation, or the syntax error of the line.
    pub read: Result<Expectation, GrammarError>,
}

impl Expectations {
    /// Returns the expectations of a text.
    pub fn of(name: &str, text: &str) -> Expectations {
        let marked = (1..).zip(unmarked(text).lines());
        let marked =
            marked.filter_map(|(line, text)| Some((line, text.trim_start().strip_prefix(MARK)?.trim())));
        let mut points = 1;
        let mut lines = Vec::new();
        for (line, text) in marked {
            let read = match text.strip_prefix("points").map(parse_points) {
                Some(Ok(worth)) => {
                    points = worth;
                    continue;
                }
                Some(Err(error)) => Err(error),
                None => parse(text),
            };
            lines.push(ExpectedLine { line, text: text.to_owned(), points, read });
        }
        Expectations { name: name.to_owned(), lines }
    }

    /// Returns the expectations of the lines without syntax errors.
    pub(crate) fn read(&self) -> impl Iterator<Item = &Expectation> {
        self.lines.iter().filter_map(|line| line.read.as_ref().ok())
    }
}
