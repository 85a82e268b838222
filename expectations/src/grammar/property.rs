//! Properties that every run of a file must have, such as `no garbage` and `at most N steps`.

use std::fmt;

use reviver_assembler::suggest::nearest;
use reviver_assembler::used::is_of_the_language;
use reviver_isa::function::Function;
use reviver_isa::language::{DIRECTIVES, KEYWORDS};
use reviver_isa::update::Update;

use super::GrammarError;
use super::numbers::count;

/// A condition that must hold for every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Property {
    /// Each run can be undone, and restores its initial state bit for bit.
    Restored,
    /// Only results remain at the end. Cells declared as garbage must be at their initial values, too.
    NoGarbage,
    /// No run erases a bit, for example by `overwrite`, `erase` or `fi forgotten`.
    ErasesNothing,
    /// Each run can be undone without a history.
    NoHistory,
    /// The maximum number of steps in one direction.
    AtMost(u64),
    /// A word of the language that must not occur in the text and its includes.
    UsesNo(String),
}

/// The properties whose lines consist of fixed words.
const FIXED: [(&str, Property); 4] = [
    ("restored", Property::Restored),
    ("no garbage", Property::NoGarbage),
    ("erases nothing", Property::ErasesNothing),
    ("history 0 bytes", Property::NoHistory),
];

/// Beginnings of valid lines, for suggestions after a typo.
const BEGINNINGS: [&str; 12] = [
    "run",
    "back",
    "grad",
    "hessian",
    "jacobian",
    "same as",
    "restored",
    "no garbage",
    "erases nothing",
    "history 0 bytes",
    "at most N steps",
    "uses no",
];

pub(super) fn parse(text: &str) -> Result<Property, GrammarError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["at", "most", steps, "steps" | "step"] => count(steps).map(Property::AtMost),
        ["uses", "no", word] => used(plain(word)?),
        [] => Err(GrammarError::Nothing),
        ["uses", ..] => Err(GrammarError::UsesNo),
        ["at", ..] => Err(GrammarError::AtMost),
        [.., last] if FIXED.iter().any(|(said, _)| words.join(" ").starts_with(&format!("{said} "))) => {
            Err(GrammarError::Superfluous(last.to_owned()))
        }
        _ => {
            let joined = words.join(" ");
            let fixed = FIXED.into_iter().find(|(said, _)| *said == joined);
            fixed.map(|(_, property)| property).ok_or_else(|| unknown(&joined))
        }
    }
}

/// Returns a word without surrounding backquotes. Users copy words with backquotes from documents.
fn plain(word: &str) -> Result<&str, GrammarError> {
    let plain = word.strip_prefix('`').and_then(|word| word.strip_suffix('`')).unwrap_or(word);
    if plain.contains('`') { Err(GrammarError::UsesNo) } else { Ok(plain) }
}

fn used(word: &str) -> Result<Property, GrammarError> {
    if is_of_the_language(word) {
        return Ok(Property::UsesNo(word.to_owned()));
    }
    let rows = Update::ALL.iter().map(|row| row.name()).chain(Function::ALL.iter().map(|row| row.name()));
    let near = nearest(word, rows.chain(KEYWORDS.iter().chain(DIRECTIVES).copied()));
    Err(GrammarError::NoSuchWord { word: word.to_owned(), near: near.map(str::to_owned) })
}

fn unknown(text: &str) -> GrammarError {
    let first = text.split(' ').next().unwrap_or_default().to_owned();
    let near = nearest(text, BEGINNINGS).or_else(|| nearest(&first, BEGINNINGS));
    GrammarError::Unknown { first, near: near.map(str::to_owned) }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::AtMost(steps) => write!(f, "at most {steps} steps"),
            Property::UsesNo(word) => write!(f, "uses no {word}"),
            fixed => {
                let said = FIXED.iter().find(|(_, property)| property == fixed);
                f.write_str(said.map_or("", |(said, _)| said))
            }
        }
    }
}
