//! Abbreviations of the language: records, views, whole arrays, and procedures that keep a history. They are replaced when a program is loaded, so later
//! parts know only cells and elements.

use crate::diagnostic::Diagnostic;
use crate::tree::Body;
use crate::{arrays, history, records, views};

/// Replaces the abbreviations in the trees of a program, one for each file. Returns the errors.
pub fn replace(trees: &mut [Body]) -> Vec<Diagnostic> {
    replace_all(trees).1
}

/// Replaces the abbreviations. Returns the indices of the trees that had records, and the errors.
pub(crate) fn replace_all(trees: &mut [Body]) -> (Vec<usize>, Vec<Diagnostic>) {
    views::expand(trees);
    let (with_records, mut problems) = records::expand(trees);
    problems.extend(arrays::expand(trees));
    problems.extend(history::expand(trees));
    (with_records, problems)
}
