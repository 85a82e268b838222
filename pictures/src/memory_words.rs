//! Words about memory graphs: notes on rows that cancel each other, and descriptions for readers who don't see the
//! picture.

use std::ops::RangeInclusive;

use crate::memory_graph::{MemoryGraph, MemoryRow};

/// Returns, for each row, whether it is a part of a statement that cancels another one.
pub(crate) fn cancelled_rows(graph: &MemoryGraph) -> Vec<bool> {
    // The number of pairs that contain a row is the sum of all changes up to this row.
    let mut changes = vec![0_i64; graph.rows.len() + 1];
    for rows in graph.pairs.iter().flat_map(|pair| [&pair.first, &pair.second]) {
        changes.get_mut(*rows.start()).into_iter().for_each(|change| *change += 1);
        changes.get_mut(rows.end() + 1).into_iter().for_each(|change| *change -= 1);
    }
    let mut around = 0;
    let sums = changes.iter().take(graph.rows.len()).map(|change| {
        around += change;
        around > 0
    });
    sums.collect()
}

/// Returns the notes on the rows: each statement that is cancelled names the statement that cancels it, in its first
/// row.
pub(crate) fn notes(graph: &MemoryGraph) -> Vec<Option<String>> {
    let mut notes = vec![None; graph.rows.len()];
    for pair in &graph.pairs {
        let texts = [
            (&pair.first, format!("undone by {}", numbers(&pair.second))),
            (&pair.second, format!("undoes {}", numbers(&pair.first))),
        ];
        for (rows, text) in texts {
            notes.get_mut(*rows.start()).into_iter().for_each(|note| *note = Some(text.clone()));
        }
    }
    notes
}

/// Returns the numbers of rows, which count from 1.
fn numbers(rows: &RangeInclusive<usize>) -> String {
    let (first, last) = (rows.start() + 1, rows.end() + 1);
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

impl MemoryGraph {
    /// Returns the description of the graph: its cells, its statements with their accesses, and the pairs.
    pub fn words(&self) -> String {
        let names: Vec<&str> = self.lines.iter().map(|line| line.name.as_str()).collect();
        let rows = self.rows.iter().enumerate().map(|(n, row)| self.row_in_words(n, row));
        let rows: Vec<String> = rows.collect();
        let pairs = self
            .pairs
            .iter()
            .map(|pair| format!("{} is undone by {}. ", numbers(&pair.first), numbers(&pair.second)));
        let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        let pairs: String = pairs.collect();
        format!(
            "Memory of {}: {}{}{}; {}. {}{}. {pairs}",
            self.name,
            count(self.lines.len(), "line"),
            if names.is_empty() { "" } else { ": " },
            names.join(", "),
            count(self.rows.len(), "row"),
            count(self.pairs.len(), "cancelling pair"),
            if rows.is_empty() { String::new() } else { format!(". {}", rows.join("; ")) },
        )
    }

    fn row_in_words(&self, n: usize, row: &MemoryRow) -> String {
        let named = |wanted: fn(&crate::memory_graph::MemoryMark) -> bool| {
            let marks = row.marks.iter().filter(|mark| wanted(mark));
            let names = marks.filter_map(|mark| self.lines.get(mark.line)).map(|line| line.name.as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        let (changed, read) = (named(|mark| mark.changes), named(|mark| mark.reads));
        let mut words = format!("{}: {}", n + 1, row.text);
        for (verb, names) in [("changes", changed), ("reads", read)] {
            if !names.is_empty() {
                words += &format!(", {verb} {names}");
            }
        }
        words
    }
}
