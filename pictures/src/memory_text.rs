//! Memory graphs as text, for terminals: the statements on the left, and the lines of the cells on the right.

use crate::canvas::cut;
use crate::memory_graph::{LONGEST_NAME, LONGEST_TEXT, MemoryGraph, MemoryLine, MemoryRow};
use crate::memory_words::{cancelled_rows, notes};

/// The meaning of the characters.
pub const LEGEND: &str =
    "□ changes, ● reads, ▣ changes and reads, ║ array; ~ and a note: statements that cancel each other\n";

impl MemoryGraph {
    /// Returns the graph as text.
    pub fn text(&self) -> String {
        let (cancelled, notes) = (cancelled_rows(self), notes(self));
        let digits = self.rows.len().to_string().len();
        let texts: Vec<String> = self.rows.iter().map(written).collect();
        let widest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        let names: Vec<String> = self.lines.iter().map(|line| cut(&line.name, LONGEST_NAME)).collect();
        let columns: Vec<usize> = names.iter().map(|name| name.chars().count() + 2).collect();
        let mut text = format!("{}\n", self.name);
        let header: String =
            names.iter().zip(&columns).map(|(name, width)| format!("{name:^width$}")).collect();
        text += format!("{:1$}{header}", "", digits + 3 + widest).trim_end();
        text.push('\n');
        for (n, (row, statement)) in self.rows.iter().zip(&texts).enumerate() {
            let sign = if cancelled.get(n).copied().unwrap_or(false) { '~' } else { ' ' };
            let marks = self.marks(n, row, &columns);
            let note = notes.get(n).cloned().flatten().unwrap_or_default();
            let line = format!("{:>digits$} {sign}{statement:<widest$} {marks} {note}", n + 1);
            text += line.trim_end();
            text.push('\n');
        }
        text
    }

    /// Returns the characters of a row on the lines.
    fn marks(&self, n: usize, row: &MemoryRow, columns: &[usize]) -> String {
        let (first, last) = (row.marks.first(), row.marks.last());
        let (first, last) = (first.map_or(usize::MAX, |mark| mark.line), last.map_or(0, |mark| mark.line));
        let mut text = String::new();
        for (at, (line, width)) in self.lines.iter().zip(columns).enumerate() {
            let before = if first < at && at <= last { "─" } else { " " };
            let after = if first <= at && at < last { "─" } else { " " };
            let left = (width - 1) / 2;
            text += &before.repeat(left);
            text.push(character(row, at).unwrap_or_else(|| passing(line, n, first < at && at < last)));
            text += &after.repeat(width - 1 - left);
        }
        text
    }
}

fn written(row: &MemoryRow) -> String {
    format!("{}{}", "  ".repeat(row.depth), cut(&row.text, LONGEST_TEXT))
}

fn character(row: &MemoryRow, line: usize) -> Option<char> {
    let mark = row.marks.iter().find(|mark| mark.line == line)?;
    Some(match (mark.changes, mark.reads) {
        (true, true) => '▣',
        (true, false) => '□',
        _ => '●',
    })
}

/// Returns the character of a line at a row without a mark on it.
fn passing(line: &MemoryLine, row: usize, is_crossed: bool) -> char {
    let exists = line.lives.is_empty() || line.lives.iter().any(|rows| rows.contains(&row));
    match (exists, line.is_array, is_crossed) {
        (false, _, true) => '─',
        (false, _, false) => ' ',
        (true, true, true) => '╫',
        (true, true, false) => '║',
        (true, false, true) => '┼',
        (true, false, false) => '│',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_graph::{Cancellation, MemoryMark};

    #[test]
    fn lines_and_marks_are_characters() {
        let line = |name: &str, is_array, lives| MemoryLine { name: name.to_owned(), is_array, lives };
        let mark = |line, changes, reads| MemoryMark { line, changes, reads };
        let row = |text: &str, depth, marks| MemoryRow { text: text.to_owned(), depth, marks };
        let graph = MemoryGraph {
            name: "main".to_owned(),
            lines: vec![line("a", false, vec![]), line("B", true, vec![]), line("t", false, vec![0..=2])],
            rows: vec![
                row("local t = a", 0, vec![mark(0, false, true), mark(2, true, false)]),
                row("x", 1, vec![mark(1, true, true)]),
                row("delocal t = a", 0, vec![mark(0, false, true), mark(2, true, false)]),
                row("not a", 0, vec![mark(0, true, false)]),
            ],
            frames: Vec::new(),
            pairs: vec![Cancellation { first: 0..=0, second: 2..=2 }],
        };
        let expected = "\
main
                  a  B  t
1 ~local t = a    ●──╫──□  undone by 3
2    x            │  ▣  │
3 ~delocal t = a  ●──╫──□  undoes 1
4  not a          □  ║
";
        assert_eq!(graph.text(), expected, "{}", graph.text());
    }
}
