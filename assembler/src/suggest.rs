//! "Did you mean": the nearest of the words that would have been right. Knows spelling only.

use std::fmt::Display;

/// No name that people write by hand is longer, and distances take time.
const LONGEST: usize = 64;

/// The candidate with the fewest edits from `word`, if it is near enough to be what was meant: at
/// most one edit in three letters. Of several that are equally near the first of the alphabet, so
/// that every run means the same one.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    // Every name of one letter is near every other.
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

/// The same as a help line.
pub(crate) fn did_you_mean(meant: impl Display) -> String {
    format!("did you mean `{meant}`?")
}
