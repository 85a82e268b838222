//! Chapters of the book as text: a list of all chapters, or one chapter with paragraphs wrapped to the terminal's
//! width. This module doesn't load the book.

use std::fmt::Write as _;

use reviver_debugger::columns::wrapped;
use serde_json::{Map, Value as Json};

use super::json_values::Object;
use crate::course::book::Chapter;

/// Maximum columns of a line, even on wider terminals, for readability.
const MOST_COLUMNS: usize = 100;

/// Formats the list of chapters, followed by the command that shows one.
pub fn list(chapters: &[Chapter]) -> String {
    let mut text = String::new();
    for Chapter { number, title, name } in chapters {
        let called = number.map_or_else(|| name.clone(), |number| number.to_string());
        let _ = writeln!(text, "{called:>8}  {title}");
    }
    text.push_str("\n`reviver course read 1` prints the first chapter\n");
    text
}

/// Returns the chapters as a JSON object.
pub fn members(chapters: &[Chapter]) -> Object<'static> {
    let mut object = Object::default();
    object.insert("chapters", chapters.iter().map(|chapter| Json::Object(named(chapter))).collect::<Json>());
    object
}

/// Returns a chapter with its text as a JSON object.
pub fn whole(chapter: &Chapter, text: &str) -> Object<'static> {
    let mut object = Object::default();
    named(chapter).into_iter().for_each(|(name, value)| object.insert(&name, value));
    object.insert("text", text);
    object
}

fn named(Chapter { number, title, name }: &Chapter) -> Map<String, Json> {
    let mut members = Map::new();
    if let Some(number) = number {
        members.insert("number".into(), (*number).into());
    }
    members.insert("name".into(), name.clone().into());
    members.insert("title".into(), title.clone().into());
    members
}

/// Wraps paragraphs and list items of Markdown to `columns`. Programs, sessions and tables aren't wrapped.
pub fn folded(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let mut folded = String::new();
    let mut open = Paragraph::default();
    let mut is_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if is_code || is_fence || line.is_empty() || line.starts_with(['#', '|']) {
            folded.push_str(&open.close(columns));
            folded.extend([line, "\n"]);
            is_code ^= is_fence;
        } else if let Some(indent) = item(line) {
            folded.push_str(&open.close(columns));
            open = Paragraph { indent, words: line.to_owned() };
        } else {
            open.add(line);
        }
    }
    folded + &open.close(columns)
}

/// Returns the indentation of a list item's text if the line begins a list item: `- ` or `12. `.
fn item(line: &str) -> Option<usize> {
    let text = line.trim_start();
    let mark = match text.strip_prefix("- ") {
        Some(_) => 2,
        None => {
            let (number, _) = text.split_once(". ")?;
            number.parse::<u32>().ok()?;
            number.len() + 2
        }
    };
    Some(line.len() - text.len() + mark)
}

/// Paragraph that is wrapped as a unit.
#[derive(Default)]
struct Paragraph {
    /// Indentation of all rows except the first.
    indent: usize,
    words: String,
}

impl Paragraph {
    fn add(&mut self, line: &str) {
        if !self.words.is_empty() {
            self.words.push(' ');
        }
        self.words.push_str(line.trim());
    }

    /// Returns the rows, and clears the paragraph.
    fn close(&mut self, columns: usize) -> String {
        let Paragraph { indent, words } = std::mem::take(self);
        if words.is_empty() {
            return String::new();
        }
        let rows = wrapped(&held(&words), columns.min(MOST_COLUMNS).saturating_sub(indent));
        rows.join(&format!("\n{}", " ".repeat(indent))).replace(HELD, " ") + "\n"
    }
}

/// No-break space, which replaces a blank at which a line must not be wrapped.
const HELD: char = '\u{a0}';

/// Joins a word to its predecessor if at the start of a line it would be Markdown markup. For example, "21." at the
/// end of a sentence would begin a list.
fn held(words: &str) -> String {
    let is_mark = |word: &str| {
        let begins_item = item(&format!("{word} ")).is_some() || ["*", "+"].contains(&word);
        begins_item || word.starts_with(['|', '>']) || word.bytes().all(|byte| byte == b'#')
    };
    let mut held = String::new();
    for word in words.split(' ') {
        if !held.is_empty() {
            held.push(if is_mark(word) { HELD } else { ' ' });
        }
        held.push_str(word);
    }
    held
}

#[cfg(test)]
mod tests {
    use super::{folded, item};

    #[test]
    fn only_paragraphs_and_items_are_folded() {
        let text = "# A long heading\n\none two\nthree four\n\n- five six\n  seven eight\n- nine\n\n```text\nten eleven twelve\n```\n";
        let rows = "# A long heading\n\none two\nthree\nfour\n\n- five\n  six\n  seven\n  eight\n- nine\n\n```text\nten eleven twelve\n```\n";
        assert_eq!(folded(text, Some(9)), rows);
        assert_eq!(folded(text, None), text);
    }

    #[test]
    fn folding_begins_no_item_or_quotation() {
        let text = "It is the number 21. Then\nfour - five come, and > six.\n";
        for columns in 8..40 {
            let rows = folded(text, Some(columns));
            let is_mark = |row: &str| row.starts_with(['-', '>']) || item(row).is_some();
            assert!(!rows.lines().any(is_mark), "{columns}: {rows}");
            assert_eq!(rows.split_whitespace().count(), text.split_whitespace().count());
        }
    }
}
