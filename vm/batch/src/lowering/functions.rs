//! Selects the helper functions that a text calls. This module is independent of the computations in shaders and helper
//! functions.

use std::collections::BTreeSet;

use super::{pairs, singles};

/// Returns all helper functions; WGSL accepts them in any order.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    pairs::ALL.iter().chain(singles::ALL).copied()
}

/// Returns the texts of the helper functions that `text` calls, directly or indirectly.
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

/// Returns the identifiers in a text that may be names of helper functions.
fn names(text: &str) -> impl Iterator<Item = &str> {
    const BEGINS: [&str; 3] = ["pair_", "opaque_", "single_"];
    text.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')
        .filter(|name| BEGINS.iter().any(|begin| name.starts_with(begin)))
}
