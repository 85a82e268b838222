//! Suggestions after "did you mean": the nearest of the valid words. The comparison is based on spelling
//! only.

use std::fmt::Display;

/// The maximum number of characters of a word for which suggestions are searched. Names that people write are
/// shorter, and computing distances of long words takes much time.
const LONGEST: usize = 64;

/// Returns the candidate with the fewest edits from `word`, or `None` if that candidate needs more than one
/// edit for every three letters. Of several nearest candidates, returns the alphabetically first one, so that
/// the result is deterministic.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    // For a one-letter word, every other one-letter word would be near.
    if !(2..=LONGEST).contains(&letters) {
        return None;
    }
    let lower = word.to_lowercase();
    let limit = letters.div_ceil(3);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 4 * LONGEST)
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns a suggestion as a help text.
pub(crate) fn did_you_mean(meant: impl Display) -> String {
    format!("did you mean `{meant}`?")
}
