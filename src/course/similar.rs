//! Search for programs of different students that are equal except for names and layout.

use std::collections::BTreeMap;

use reviver_assembler::used::is_of_the_language;

use super::place::CourseFolder;
use super::set::Exercise;
use super::words::{NamelessWord, nameless};
use crate::read;

/// Two folders whose programs for one exercise are equal except for names and layout.
#[derive(Debug)]
pub struct SimilarPair {
    /// Indices of both folders in the list of folders.
    pub folders: (usize, usize),
    pub exercise: &'static Exercise,
    /// Number of words that the programs add to the initial program.
    pub own_words: usize,
}

/// Returns all pairs of folders with equal programs. Programs that add fewer than `least` words to the initial program
/// are skipped, because they may be equal by chance.
pub fn pairs(folders: &[CourseFolder], exercises: &'static [Exercise], least: usize) -> Vec<SimilarPair> {
    let mut pairs = Vec::new();
    for exercise in exercises {
        let start = nameless(&exercise.start, is_of_the_language);
        let mut groups: BTreeMap<Vec<NamelessWord>, Vec<usize>> = BTreeMap::new();
        for (n, folder) in folders.iter().enumerate() {
            let path = folder.program(exercise);
            // `report` lists unreadable files.
            let Some(text) = path.is_file().then(|| read::text(&path).ok()).flatten() else { continue };
            groups.entry(nameless(&text, is_of_the_language)).or_default().push(n);
        }
        for (words, group) in groups {
            let own_words = own(&words, &start);
            if own_words < least {
                continue;
            }
            for (at, &one) in group.iter().enumerate() {
                let others = group.iter().skip(at + 1);
                pairs.extend(others.map(|&other| SimilarPair { folders: (one, other), exercise, own_words }));
            }
        }
    }
    pairs
}

/// Counts the words that a program adds to the initial program. Words at the beginning and at the end that are the same
/// in both programs aren't counted.
fn own(words: &[NamelessWord], start: &[NamelessWord]) -> usize {
    let same = |(a, b): &(&NamelessWord, &NamelessWord)| a == b;
    let before = words.iter().zip(start).take_while(same).count();
    let (words, start) = (words.get(before..).unwrap_or_default(), start.get(before..).unwrap_or_default());
    let after = words.iter().rev().zip(start.iter().rev()).take_while(same).count();
    words.len() - after
}
