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

/// The number of a line `points N`.
fn parse_points(rest: &str) -> Result<u32, GrammarError> {
    let number = rest.strip_prefix(char::is_whitespace).map(str::trim);
    let worth = number.and_then(|number| number.parse().ok());
    worth.filter(|worth| *worth <= MOST_POINTS).ok_or(GrammarError::Points)
}

/// More would be a slip, and their sums stay small.
const MOST_POINTS: u32 = 1000;

/// An expectation and its place.
#[derive(Clone, Debug)]
pub struct ExpectedLine {
    /// From 1.
    pub line: usize,
    /// Without the mark.
    pub text: String,
    /// The weight of the line where programs are graded: that of the last line `;! points N` above it, or 1.
    pub points: u32,
    pub read: Result<Expectation, GrammarError>,
}

impl Expectations {
    /// Those of a text.
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

    /// The lines that could be read.
    pub(crate) fn read(&self) -> impl Iterator<Item = &Expectation> {
        self.lines.iter().filter_map(|line| line.read.as_ref().ok())
    }
}
