//! Hints of an exercise: which of them fits. They are tried in order; the last one fits always. Two mistakes are the same in every exercise, and have a
//! hint of their own: a text that is no program, and garbage that is left.

use std::collections::BTreeSet;
use std::sync::LazyLock;

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
    /// The lines that aren't met, but for those that are about something else than garbage and have only that against them.
    pub failing: Vec<String>,
    /// Whether it is a program at all.
    pub is_program: bool,
    /// Whether garbage is all that is wrong with it.
    pub has_only_garbage: bool,
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

/// A hint that fits.
#[derive(Clone, Copy, Debug)]
pub struct FittingHint<'h> {
    /// Its number among those of the exercise, from 1; none where it is one for every exercise.
    pub number: Option<usize>,
    pub hint: &'h ExerciseHint,
}

static NO_PROGRAM: LazyLock<ExerciseHint> = LazyLock::new(|| {
    ExerciseHint {
    when: HintCondition::default(),
    what: "This is no program yet: the assembler doesn't understand it.".to_owned(),
    place: "The line that the message names. `reviver check` says the same of it, and no more is tried before it is mended.".to_owned(),
    lesson: "course/book/src/03-instructions.md".to_owned(),
}
});

static GARBAGE: LazyLock<ExerciseHint> = LazyLock::new(|| ExerciseHint {
    when: HintCondition::default(),
    what: "Something is left over: cells that are no result don't end at 0.".to_owned(),
    place: "The cells that the message names. Undo what made their value, once it isn't needed any more."
        .to_owned(),
    lesson: "course/book/src/05-garbage.md".to_owned(),
});

/// The first hint that fits. One for every exercise comes behind those that are about just this mistake in just this exercise, and in front of those
/// that would only guess.
pub fn fitting<'h>(hints: &'h [ExerciseHint], attempt: &Attempt) -> Option<FittingHint<'h>> {
    let common = |hint| FittingHint { number: None, hint };
    let own = (1..).zip(hints).map(|(number, hint)| FittingHint { number: Some(number), hint });
    let mut fitting = own.filter(|FittingHint { hint, .. }| hint.when.holds(attempt));
    if !attempt.is_program {
        let is_about_it =
            |own: &FittingHint<'_>| own.hint.when.trap.is_some() || own.hint.when.start.is_some();
        return fitting.find(is_about_it).or_else(|| Some(common(&NO_PROGRAM)));
    }
    let first = fitting.next()?;
    let is_guess = first.hint.when == HintCondition::default();
    Some(if is_guess && attempt.has_only_garbage { common(&GARBAGE) } else { first })
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
        let number = |attempt: &Attempt| fitting(&hints, attempt).and_then(|fitting| fitting.number);
        let mut attempt = Attempt { is_start: true, is_program: true, ..Attempt::default() };
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
    fn mistakes_of_every_exercise_have_their_hints() {
        let hints = hints(&["trap = \"misspelt\"", "fails = \"run\"", ""]).unwrap();
        let number = |attempt: &Attempt| fitting(&hints, attempt).unwrap().number;
        let mut attempt = Attempt { failing: vec!["run n=1".into()], ..Attempt::default() };
        assert_eq!(number(&attempt), None, "what can't be assembled isn't judged by its runs");
        attempt.messages.push("misspelt".into());
        assert_eq!(number(&attempt), Some(1));
        let garbage = Attempt { is_program: true, has_only_garbage: true, ..Attempt::default() };
        assert_eq!(number(&garbage), None);
        assert_eq!(number(&Attempt { failing: vec!["run n=1".into()], ..garbage }), Some(2));
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
