//! The arguments of commands: numbers, points, and what follows `if` and `log`. Knows no command.

use super::console::{Command, CommandError};
use crate::points::Point;
use crate::session::{MomentName, PointOptions, SessionError};

impl Command {
    /// An error about the command's arguments.
    pub fn wrong(&self, message: impl Into<String>) -> CommandError {
        CommandError::Usage { message: message.into(), usage: self.usage }
    }

    /// Nothing may follow.
    pub fn nothing(&self, rest: &str) -> Result<(), CommandError> {
        match rest {
            "" => Ok(()),
            _ => Err(self.wrong(format!("`{rest}` is not expected after `{}`", self.name))),
        }
    }

    /// Something must follow.
    pub fn something<'a>(&self, rest: &'a str, what: &str) -> Result<&'a str, CommandError> {
        match rest {
            "" => Err(self.wrong(format!("`{}` takes {what}", self.name))),
            _ => Ok(rest),
        }
    }

    /// A number of times; 1 where nothing is said.
    pub fn count<T: std::str::FromStr + From<u8>>(&self, rest: &str) -> Result<T, CommandError> {
        match rest {
            "" => Ok(T::from(1)),
            _ => self.number(rest),
        }
    }

    /// A number in the spelling of the language: `10_000`.
    pub fn number<T: std::str::FromStr>(&self, text: &str) -> Result<T, CommandError> {
        let plain = text.replace('_', "");
        plain.parse().map_err(|_| self.wrong(format!("`{text}` is not a number that fits here")))
    }

    /// A moment: a step, a percentage, `start`, `end` or a mark.
    pub fn moment(&self, text: &str) -> Result<MomentName, CommandError> {
        Ok(match text {
            "start" | "begin" => MomentName::Start,
            "end" => MomentName::End,
            percent if percent.ends_with('%') => {
                let number: f64 = self.number(percent.trim_end_matches('%').trim())?;
                if !(0.0..=100.0).contains(&number) {
                    return Err(self.wrong(format!("`{percent}` is not between 0 and 100 %")));
                }
                MomentName::Percent(number)
            }
            step if step.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                MomentName::Step(self.number(step)?)
            }
            mark => MomentName::Mark(mark.to_owned()),
        })
    }
}

impl Command {
    /// What a point is set with: `PLACE if CONDITION log MESSAGE`, every part optional. Returns the place.
    ///
    /// # Errors
    /// A message with an `if` in it: it may be meant as the condition.
    pub fn point_options<'a>(&self, rest: &'a str) -> Result<(&'a str, PointOptions), CommandError> {
        let (rest, log) = split_at_word(rest, "log");
        let (place, condition) = split_at_word(rest, "if");
        if condition.is_none() && log.is_some_and(|log| split_at_word(log, "if").1.is_some()) {
            return Err(self.wrong("`if` stands before `log`: what follows `log` is the message"));
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok((place, PointOptions { temporary: false, condition: owned(condition), log: owned(log) }))
    }

    /// The numbers of the points that are meant, `1 3-5`; where nothing is said, of all.
    ///
    /// # Errors
    /// No number, or no such point.
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

/// What stands before a word and behind it, if it is there.
pub(super) fn split_at_word<'a>(text: &'a str, word: &str) -> (&'a str, Option<&'a str>) {
    let at = places_of_word(text, word).next();
    split_at(text, at, word)
}

/// The same, where it stands last.
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

/// Where a word stands in a text.
fn places_of_word(text: &str, word: &str) -> impl Iterator<Item = usize> {
    let is_word = move |at: &usize| {
        let (before, behind) = (&text[..*at], &text[*at + word.len()..]);
        (before.is_empty() || before.ends_with(char::is_whitespace))
            && (behind.is_empty() || behind.starts_with(char::is_whitespace))
    };
    text.match_indices(word).map(|(at, _)| at).filter(is_word)
}

/// Texts between commas that stand in no brackets.
pub(super) fn between_commas(text: &str) -> Vec<&str> {
    let mut depth = 0_i64;
    let separates = |c: char| {
        depth += i64::from(matches!(c, '(' | '[')) - i64::from(matches!(c, ')' | ']'));
        c == ',' && depth <= 0
    };
    text.split(separates).map(str::trim).collect()
}

/// What stands before a `#` that begins a word.
pub(crate) fn without_comment(line: &str) -> &str {
    let starts = |(at, _): &(usize, &str)| *at == 0 || line[..*at].ends_with(char::is_whitespace);
    line.match_indices('#').find(starts).map_or(line, |(at, _)| &line[..at])
}

/// The first word of a text, and what follows it.
pub(super) fn split_word(line: &str) -> (&str, &str) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word, rest.trim())
}
