//! Choice of the hint that fits an attempt. An exercise's hints are tried in order; the last one always fits. Some
//! mistakes are possible in every exercise and have common hints: syntax errors, too many steps, too much memory, a
//! missing cell, and leftover garbage.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;
use thiserror::Error;

use super::score::FailureReason;

/// Hint in three parts: the problem, the place, and the chapter to read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExerciseHint {
    #[serde(default)]
    pub when: HintCondition,
    pub what: String,
    #[serde(rename = "where")]
    pub place: String,
    /// Chapter of the book, as its path in the sources.
    pub lesson: String,
}

/// Condition under which a hint fits. A part that is `None` holds for every attempt. All other parts must hold for
/// the attempt.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct HintCondition {
    /// Text that occurs in the message of a trap, or of an assembler error.
    pub trap: Option<String>,
    /// Beginning of an expectation line that isn't met.
    pub fails: Option<String>,
    /// Word that the program uses, such as an instruction's name.
    pub uses: Option<String>,
    /// True if the program must be the initial one, false if it must be changed.
    pub start: Option<bool>,
}

/// Facts about an attempt.
#[derive(Debug, Default)]
pub struct Attempt {
    /// Messages of traps and of the assembler.
    pub messages: Vec<String>,
    /// Expectation lines that aren't met. Lines that fail only because of garbage are left out, except lines about
    /// garbage.
    pub failing: Vec<String>,
    /// True if garbage is the only fault.
    pub has_only_garbage: bool,
    /// Words of the language that the program uses.
    pub words: BTreeSet<String>,
    pub is_start: bool,
    /// Reason for the failure; `None` for the initial program.
    pub reason: Option<FailureReason>,
}

/// Error in a file of hints.
#[derive(Debug, Error)]
pub enum NoHints {
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    #[error(
        "hint {0} has no condition, so later hints are never given: only the last hint can have no condition"
    )]
    Unreachable(usize),
    #[error("the last hint has a condition, so possibly no hint fits: the last hint must have no condition")]
    NoLast,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HintTables {
    hint: Vec<ExerciseHint>,
}

/// Parses the hints of an exercise.
///
/// # Errors
/// The text isn't a valid list of hints, or a hint can never be given.
pub fn parse(text: &str) -> Result<Vec<ExerciseHint>, NoHints> {
    let HintTables { hint: hints } = toml::from_str(text)?;
    let is_last = |hint: &ExerciseHint| hint.when == HintCondition::default();
    match hints.iter().position(is_last) {
        Some(first) if first + 1 == hints.len() => Ok(hints),
        Some(first) => Err(NoHints::Unreachable(first + 1)),
        None => Err(NoHints::NoLast),
    }
}

/// Hint that fits an attempt.
#[derive(Clone, Copy, Debug)]
pub struct FittingHint<'h> {
    /// Number of the hint in the exercise's list, from 1; `None` for a common hint.
    pub number: Option<usize>,
    pub hint: &'h ExerciseHint,
}

/// Creates a common hint: the problem `what`, the place, and the chapter to read.
fn common(what: &str, place: &str, chapter: &str) -> ExerciseHint {
    ExerciseHint {
        when: HintCondition::default(),
        what: what.to_owned(),
        place: place.to_owned(),
        lesson: format!("course/book/src/{chapter}.md"),
    }
}

static NO_PROGRAM: LazyLock<ExerciseHint> = LazyLock::new(|| {
    common(
        "This isn't a program yet: the assembler rejects it.",
        "The line that the message names. `reviver check` reports the same error. Nothing else is tested until it is corrected.",
        "03-instructions",
    )
});

static TOO_LARGE: LazyLock<ExerciseHint> = LazyLock::new(|| {
    common(
        "The text exceeds a limit of the assembler: its macros expand to too many lines, or its expressions are nested too deeply.",
        "The line that the message names. Each use of a macro copies its lines, and the lines of macros that it uses; a procedure (`.proc`, `call`) is assembled once.",
        "06-procedures",
    )
});

static OTHERS_FILE: LazyLock<ExerciseHint> = LazyLock::new(|| {
    common(
        "The program includes a file that isn't allowed.",
        "The line with `.include` that the message names. Files in the exercise's folder are allowed, except solutions.",
        "06-procedures",
    )
});

static TOO_MANY_STEPS: LazyLock<ExerciseHint> = LazyLock::new(|| {
    common(
        "A run exceeds the step limit: probably a loop doesn't end.",
        "The condition of the loop's `until`: which value would make it true, and does the body ever reach that value? Step through two iterations with `reviver debug`.",
        "04-branches",
    )
});

static TOO_MUCH_MEMORY: LazyLock<ExerciseHint> = LazyLock::new(|| {
    common(
        "A run exceeds the memory limit.",
        "Check the sizes of arrays. Look for a loop that pushes without end, and for a procedure that calls itself without end.",
        "10-memory",
    )
});

static MISSING_CELL: LazyLock<ExerciseHint> = LazyLock::new(|| {
    common(
        "A cell that the exercise gives or expects isn't declared, or has another class or shape.",
        "The declarations at the top: don't change their names, their directives (`.in`, `.out`, `.inout`) or their sizes.",
        "03-instructions",
    )
});

static GARBAGE: LazyLock<ExerciseHint> = LazyLock::new(|| {
    common(
        "Garbage is left: cells that aren't results don't end at 0.",
        "The cells that the message names. Undo the statements that computed these cells when their values are no longer needed.",
        "05-garbage",
    )
});

/// Returns the hint for a failure that must be fixed first, such as a syntax error; `None` for other failures. The
/// hint is the same in all exercises.
fn fundamental(reason: FailureReason) -> Option<&'static ExerciseHint> {
    match reason {
        FailureReason::CheatingInclude => Some(&OTHERS_FILE),
        FailureReason::TooMuch => Some(&TOO_LARGE),
        FailureReason::Syntax => Some(&NO_PROGRAM),
        FailureReason::Steps => Some(&TOO_MANY_STEPS),
        FailureReason::Memory => Some(&TOO_MUCH_MEMORY),
        FailureReason::MissingCell => Some(&MISSING_CELL),
        FailureReason::Unreadable
        | FailureReason::Time
        | FailureReason::Output
        | FailureReason::Crash
        | FailureReason::Trap
        | FailureReason::WrongValue
        | FailureReason::Garbage
        | FailureReason::Property => None,
    }
}

/// Returns the first hint that fits. The common hint for a syntax error, too many steps, too much memory or a missing
/// cell has priority over the exercise's hints, unless a hint of the exercise matches the assembler's message. The
/// garbage hint comes before the exercise's last hint, which is only a guess.
pub fn fitting<'h>(hints: &'h [ExerciseHint], attempt: &Attempt) -> Option<FittingHint<'h>> {
    let common = |hint| FittingHint { number: None, hint };
    let own = (1..).zip(hints).map(|(number, hint)| FittingHint { number: Some(number), hint });
    let mut fitting = own.filter(|FittingHint { hint, .. }| hint.when.holds(attempt));
    if let Some(hint) = attempt.reason.and_then(fundamental) {
        let is_about_it = |own: &FittingHint<'_>| own.hint.when.trap.is_some();
        let own =
            if attempt.reason == Some(FailureReason::Syntax) { fitting.find(is_about_it) } else { None };
        return own.or_else(|| Some(common(hint)));
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
    fn mistakes_of_every_exercise_have_their_hints() {
        let hints = hints(&["trap = \"misspelt\"", "fails = \"run\"", ""]).unwrap();
        let number = |attempt: &Attempt| fitting(&hints, attempt).unwrap().number;
        let because =
            |reason| Attempt { failing: vec!["run n=1".into()], reason: Some(reason), ..Attempt::default() };
        let mut attempt = because(FailureReason::Syntax);
        assert_eq!(number(&attempt), None, "what can't be assembled isn't judged by its runs");
        attempt.messages.push("misspelt".into());
        assert_eq!(number(&attempt), Some(1));
        for reason in [FailureReason::Steps, FailureReason::Memory, FailureReason::MissingCell] {
            assert_eq!(number(&because(reason)), None, "{reason:?} hides what else is wrong");
        }
        assert_eq!(number(&because(FailureReason::WrongValue)), Some(2));
        let garbage = Attempt { has_only_garbage: true, ..Attempt::default() };
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
