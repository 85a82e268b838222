//! Parses command arguments: numbers, time points, and the options of a point after `if` and `log`.

use super::console::{Command, CommandError};
use crate::points::Point;
use crate::session::{PointOptions, SessionError, TimePointName};

impl Command {
    /// Creates an error about the command's arguments, which also shows the usage of the command.
    pub fn wrong(&self, message: impl Into<String>) -> CommandError {
        CommandError::Usage { message: message.into(), usage: self.usage }
    }

    /// Returns an error unless `rest` is empty.
    pub fn nothing(&self, rest: &str) -> Result<(), CommandError> {
        match rest {
            "" => Ok(()),
            _ => Err(self.wrong(format!("`{rest}` is not expected after `{}`", self.name))),
        }
    }

    /// Returns `rest`. If `rest` is empty, returns the error that an argument is missing; `what` describes this
    /// argument.
    pub fn something<'a>(&self, rest: &'a str, what: &str) -> Result<&'a str, CommandError> {
        match rest {
            "" => Err(self.wrong(format!("`{}` takes {what}", self.name))),
            _ => Ok(rest),
        }
    }

    /// Parses a repeat count; the default is 1.
    pub fn count<T: std::str::FromStr + From<u8>>(&self, rest: &str) -> Result<T, CommandError> {
        match rest {
            "" => Ok(T::from(1)),
            _ => self.number(rest),
        }
    }

    /// Parses a number as the language writes it, for example `10_000`.
    pub fn number<T: std::str::FromStr>(&self, text: &str) -> Result<T, CommandError> {
        let plain = text.replace('_', "");
        plain.parse().map_err(|_| self.wrong(format!("`{text}` is no number, or is out of range")))
    }

    /// Parses a time point: a step, a percentage, `start`, `end` or a mark.
    pub fn time_point(&self, text: &str) -> Result<TimePointName, CommandError> {
        Ok(match text {
            "start" | "begin" => TimePointName::Start,
            "end" => TimePointName::End,
            percent if percent.ends_with('%') => {
                let number: f64 = self.number(percent.trim_end_matches('%').trim())?;
                if !(0.0..=100.0).contains(&number) {
                    return Err(self.wrong(format!("`{percent}` is not between 0 and 100 %")));
                }
                TimePointName::Percent(number)
            }
            step if step.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                TimePointName::Step(self.number(step)?)
            }
            mark => TimePointName::Mark(mark.to_owned()),
        })
    }
}

impl Command {
    /// Parses a place and the options of a point: `PLACE if CONDITION log MESSAGE`. Each part may be missing.
    ///
    /// # Errors
    /// The log message contains an `if`; the user may have meant this `if` as the beginning of the condition.
    pub fn point_options<'a>(&self, rest: &'a str) -> Result<(&'a str, PointOptions), CommandError> {
        let (rest, log) = split_at_word(rest, "log");
        let (place, condition) = split_at_word(rest, "if");
        if condition.is_none() && log.is_some_and(|log| split_at_word(log, "if").1.is_some()) {
            return Err(self.wrong("write `if` before `log`: the text after `log` is the message"));
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok((place, PointOptions { temporary: false, condition: owned(condition), log: owned(log) }))
    }

    /// Parses numbers of points, such as `1 3-5`. Returns the numbers in ascending order. An empty text means all
    /// points.
    ///
    /// # Errors
    /// A part of the text is no number or range, or there is no such point.
    pub fn points(&self, rest: &str, points: &[Point]) -> Result<Vec<u32>, CommandError> {
        let mut chosen: Vec<u32> = Vec::new();
        for word in rest.split_whitespace() {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let (first, last): (u32, u32) = (self.number(first)?, self.number(last)?);
            let found = points.iter().map(|point| point.id).filter(|id| (first..=last).contains(id));
            let before = chosen.len();
            chosen.extend(found);
            if chosen.len() == before {
                return Err(SessionError::NoPoint(first).into());
            }
        }
        if rest.is_empty() {
            chosen.extend(points.iter().map(|point| point.id));
        }
        chosen.sort_unstable();
        chosen.dedup();
        Ok(chosen)
    }
}

/// Splits a text at the first occurrence of a word, if there is one.
pub(super) fn split_at_word<'a>(text: &'a str, word: &str) -> (&'a str, Option<&'a str>) {
    let at = places_of_word(text, word).next();
    split_at(text, at, word)
}

/// Splits a text at the last occurrence of a word, if there is one.
pub(super) fn split_at_last_word<'a>(text: &'a str, word: &str) -> (&'a str, Option<&'a str>) {
    let at = places_of_word(text, word).last();
    split_at(text, at, word)
}

fn split_at<'a>(text: &'a str, at: Option<usize>, word: &str) -> (&'a str, Option<&'a str>) {
    match at {
        Some(at) => (text[..at].trim(), Some(text[at + word.len()..].trim())),
        None => (text.trim(), None),
    }
}

/// Returns the positions of a word in a text.
fn places_of_word(text: &str, word: &str) -> impl Iterator<Item = usize> {
    let is_word = move |at: &usize| {
        let (before, behind) = (&text[..*at], &text[*at + word.len()..]);
        (before.is_empty() || before.ends_with(char::is_whitespace))
            && (behind.is_empty() || behind.starts_with(char::is_whitespace))
    };
    text.match_indices(word).map(|(at, _)| at).filter(is_word)
}

/// Splits a text at commas outside brackets.
pub(super) fn between_commas(text: &str) -> Vec<&str> {
    let mut depth = 0_i64;
    let separates = |c: char| {
        depth += i64::from(matches!(c, '(' | '[')) - i64::from(matches!(c, ')' | ']'));
        c == ',' && depth <= 0
    };
    text.split(separates).map(str::trim).collect()
}

/// Returns the text before a `#` that begins a word.
pub(crate) fn without_comment(line: &str) -> &str {
    let starts = |(at, _): &(usize, &str)| *at == 0 || line[..*at].ends_with(char::is_whitespace);
    line.match_indices('#').find(starts).map_or(line, |(at, _)| &line[..at])
}

/// Splits off the first word of a text.
pub(super) fn split_word(line: &str) -> (&str, &str) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word, rest.trim())
}
