//! The arguments of commands: numbers, and what follows `if` and `log`. Knows no command.

use super::CommandError;
use super::table::Command;
use crate::session::PointOptions;

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
}

/// What a point is set with: `PLACE if CONDITION log MESSAGE`, every part optional. Returns the place.
pub fn point_options(rest: &str, temporary: bool) -> (&str, PointOptions) {
    let (rest, log) = split_at_word(rest, "log");
    let (place, condition) = split_at_word(rest, "if");
    let owned = |text: Option<&str>| text.map(str::to_owned);
    (place, PointOptions { temporary, condition: owned(condition), log: owned(log) })
}

/// What stands before a word and behind it, if it is there.
pub fn split_at_word<'a>(text: &'a str, word: &str) -> (&'a str, Option<&'a str>) {
    let is_word = |&(at, _): &(usize, &str)| {
        let (before, behind) = (&text[..at], &text[at + word.len()..]);
        (before.is_empty() || before.ends_with(char::is_whitespace))
            && (behind.is_empty() || behind.starts_with(char::is_whitespace))
    };
    match text.match_indices(word).find(is_word) {
        Some((at, _)) => (text[..at].trim(), Some(text[at + word.len()..].trim())),
        None => (text.trim(), None),
    }
}
