//! Terminal width of text, and wrapping of text at word boundaries. This module doesn't depend on the screen.

use ratatui::text::Span;

/// Returns the number of terminal columns of a text.
pub fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// Wraps a text between words into lines of at most `most` columns. A longer word is a line by itself; it
/// isn't broken.
pub fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Wraps a line into rows of at most `most` columns, between words if possible. If the line is a row of a table,
/// its continuation rows are indented to the start of the last table column; at least two blanks precede each
/// table column. For any other line, continuation rows are indented by two columns more than the line.
pub fn hanging(line: &str, most: usize) -> Vec<String> {
    // No character has more columns than bytes, so a line of at most `most` bytes needs no measuring.
    if line.len() <= most || width(line) <= most || most == 0 {
        return vec![line.to_owned()];
    }
    let begins_column = |(at, c): &(usize, char)| {
        let before = line.get(..*at).unwrap_or_default();
        *c != ' ' && before.ends_with("  ") && !before.trim().is_empty() && width(before) <= most / 2
    };
    let blanks = line.len() - line.trim_start().len();
    let (begin, indent) = match line.char_indices().rfind(begins_column) {
        Some((at, _)) => (at, width(line.get(..at).unwrap_or_default())),
        None => (blanks, (blanks + 2).min(most / 2)),
    };
    let (first, mut left) = broken(line, most, begin);
    let mut rows = vec![first.to_owned()];
    while !left.is_empty() {
        let (row, rest) = broken(left, most - indent, 0);
        rows.push(" ".repeat(indent) + row);
        left = rest;
    }
    rows
}

/// Splits a text into a part that fits into `most` columns, and the rest. The text is split at the last blank that
/// is after byte `begin` and fits into these columns, if there is one. The first part has at least one character.
fn broken(text: &str, most: usize, begin: usize) -> (&str, &str) {
    let mut used = 0;
    let over = text.char_indices().find(|(_, c)| {
        used += width(c.encode_utf8(&mut [0; 4]));
        used > most
    });
    let Some((end, _)) = over else { return (text, "") };
    let first = text.chars().next().map_or(0, char::len_utf8);
    let (head, tail) = text.split_at(end.max(first));
    let blank = head.rfind(' ').filter(|at| *at > begin && !tail.starts_with(' '));
    let (row, rest) = text.split_at(blank.unwrap_or(head.len()));
    (row, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_line_is_complete() {
        assert_eq!(hanging("  from sum = 1, term = 2", 14), ["  from sum =", "    1, term =", "    2"]);
        assert_eq!(hanging("abcdefghij", 4), ["abcd", "  ef", "  gh", "  ij"]);
        assert_eq!(hanging("abcd efgh", 4), ["abcd", "  ef", "  gh"]);
        assert_eq!(hanging("漢字漢字", 1), ["漢", "字", "漢", "字"]);
        assert_eq!(hanging("fits", 4), ["fits"]);
        assert_eq!(hanging("", 0), [""]);
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("came from above or below", 11), ["came from", "above or", "below"]);
        assert_eq!(wrapped("antidisestablishment now", 5), ["antidisestablishment", "now"]);
        assert_eq!(wrapped("a b", 0), ["a", "b"]);
    }

    #[test]
    fn events_are_in_their_column() {
        assert_eq!(hanging("step [N]   Make one step", 24), ["step [N]   Make one step"]);
        let lines = ["step [N]   Make one", "           step"];
        assert_eq!(hanging("step [N]   Make one step", 22), lines);
        assert_eq!(hanging("   a b c d", 6), ["   a b", "   c d"]);
        assert_eq!(hanging("one two three", 8), ["one two", "  three"]);
        assert_eq!(hanging("a  b", 0), ["a  b"]);
    }
}
