//! Which of the functions that there are a text calls. Knows no shader, and nothing of what a function does.

use std::collections::BTreeSet;

use super::{pairs, singles};

/// Every function, each behind those that it calls or in front of them: WGSL doesn't mind.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    pairs::ALL.iter().chain(singles::ALL).copied()
}

/// The functions that a text names, and those that they name.
pub(super) fn needed(text: &str) -> String {
    let mut found = BTreeSet::new();
    let mut texts = vec![text];
    while let Some(text) = texts.pop() {
        for (name, function) in all().filter(|(name, _)| names(text).any(|other| other == *name)) {
            if found.insert(name) {
                texts.push(function);
            }
        }
    }
    all().filter(|(name, _)| found.contains(name)).map(|(_, function)| function).collect()
}

/// What may be the name of a function here.
fn names(text: &str) -> impl Iterator<Item = &str> {
    const BEGINS: [&str; 3] = ["pair_", "opaque_", "single_"];
    text.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')
        .filter(|name| BEGINS.iter().any(|begin| name.starts_with(begin)))
}
