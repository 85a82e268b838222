//! Hints of an exercise: which of them fits. They are tried in order; the last one fits always.

use std::collections::BTreeSet;

use serde::Deserialize;
use thiserror::Error;

/// A hint, which grows: what is wrong, where to look, what to read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExerciseHint {
    #[serde(default)]
    pub when: HintCondition,
    pub what: String,
    #[serde(rename = "where")]
    pub place: String,
    /// The chapter of the book, as its path in the sources.
    pub lesson: String,
}

/// When a hint fits: all that is said here must hold.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct HintCondition {
    /// A text that occurs in the message of a trap, or of an error of the assembler.
    pub trap: Option<String>,
    /// How a line begins that isn't met.
    pub fails: Option<String>,
    /// A word of the language that the text uses.
    pub uses: Option<String>,
    /// Whether the text is what it was at the start.
    pub start: Option<bool>,
}

/// What is known of an attempt.
#[derive(Debug, Default)]
pub struct Attempt {
    /// What traps and the assembler said.
    pub messages: Vec<String>,
    /// The lines that aren't met.
    pub failing: Vec<String>,
    /// The words of the language that the text uses.
    pub words: BTreeSet<String>,
    pub is_start: bool,
}

/// Why a text has no hints.
#[derive(Debug, Error)]
pub enum NoHints {
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    #[error("hint {0} has no condition, so those behind it are never given: the last one alone has none")]
    Unreachable(usize),
    #[error("the last hint has a condition: where none fits, there must be one nevertheless")]
    NoLast,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HintTables {
    hint: Vec<ExerciseHint>,
}

/// Reads hints.
///
/// # Errors
/// A text that has another form, or hints that are never given.
pub fn parse(text: &str) -> Result<Vec<ExerciseHint>, NoHints> {
    let HintTables { hint: hints } = toml::from_str(text)?;
    let is_last = |hint: &ExerciseHint| hint.when == HintCondition::default();
    match hints.iter().position(is_last) {
        Some(first) if first + 1 == hints.len() => Ok(hints),
        Some(first) => Err(NoHints::Unreachable(first + 1)),
        None => Err(NoHints::NoLast),
    }
}

/// The first hint that fits, and its number, from 1.
pub fn fitting<'h>(hints: &'h [ExerciseHint], attempt: &Attempt) -> Option<(usize, &'h ExerciseHint)> {
    (1..).zip(hints).find(|(_, hint)| hint.when.holds(attempt))
}

impl HintCondition {
    fn holds(&self, attempt: &Attempt) -> bool {
        let said = |text: &String| attempt.messages.iter().any(|message| message.contains(text));
        let fails = |text: &String| attempt.failing.iter().any(|line| line.starts_with(&**text));
        self.trap.as_ref().is_none_or(said)
            && self.fails.as_ref().is_none_or(fails)
            && self.uses.as_ref().is_none_or(|word| attempt.words.contains(word))
            && self.start.is_none_or(|start| start == attempt.is_start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(conditions: &[&str]) -> Result<Vec<ExerciseHint>, NoHints> {
        let tables = conditions.iter().map(|when| {
            let when = if when.is_empty() { String::new() } else { format!("when = {{ {when} }}\n") };
            format!("[[hint]]\n{when}what = \"a\"\nwhere = \"b\"\nlesson = \"c\"\n")
        });
        parse(&tables.collect::<String>())
    }

    #[test]
    fn the_first_hint_that_fits_is_given() {
        let hints =
            hints(&["start = true", "trap = \"join\", fails = \"run\"", "uses = \"erase\"", ""]).unwrap();
        let number = |attempt: &Attempt| fitting(&hints, attempt).map(|(number, _)| number);
        let mut attempt = Attempt { is_start: true, ..Attempt::default() };
        assert_eq!(number(&attempt), Some(1));
        attempt.is_start = false;
        attempt.messages.push("the join can't hold".into());
        assert_eq!(number(&attempt), Some(4), "all conditions of a hint must hold");
        attempt.failing.push("run n=1 -> a=2".into());
        assert_eq!(number(&attempt), Some(2));
        attempt.messages.clear();
        attempt.words.insert("erase".into());
        assert_eq!(number(&attempt), Some(3));
    }

    #[test]
    fn hints_that_are_never_given_are_refused() {
        let error = |conditions: &[&str]| hints(conditions).unwrap_err().to_string();
        assert!(error(&["", "start = true"]).contains("hint 1 has no condition"));
        assert!(error(&["start = true"]).contains("the last hint has a condition"));
        assert!(error(&["starts = true", ""]).contains("unknown field"));
        assert!(parse("[[hint]]\nwhat = \"a\"\n").is_err());
    }
}
