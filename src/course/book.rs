//! The embedded course book: its chapters as text with listings expanded, and the programs that the book runs. A
//! picture is replaced by its description. Another module wraps lines.

use std::path::Path;

use include_dir::{Dir, include_dir};

use crate::failure::{Failure, Fallible};

static PAGES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/course/book/src");
static OWN_PROGRAMS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/course/book/programs");
static PROGRAMS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/programs");

/// Embedded folders of programs, by their paths in the repository.
const PROGRAM_FOLDERS: [(&str, &Dir<'static>); 2] =
    [("course/book/programs", &OWN_PROGRAMS), ("programs", &PROGRAMS)];
/// Prefixes of paths in listings, each with the embedded folder that it refers to.
const LISTED: [(&str, &Dir<'static>); 2] = [("../programs", &OWN_PROGRAMS), ("../../../programs", &PROGRAMS)];
/// Page with the table of contents.
const SUMMARY: &str = "SUMMARY.md";

/// Chapter of the book.
#[derive(Debug)]
pub struct Chapter {
    /// Chapter number; `None` for pages before the first chapter or after the last.
    pub number: Option<u32>,
    /// Title without the chapter number.
    pub title: String,
    /// File name without extension: `05-garbage`.
    pub name: String,
}

impl Chapter {
    /// Returns true if an argument names this chapter: `5`, `05-garbage`, or the path in the sources.
    pub fn is_called(&self, argument: &str) -> bool {
        let name = argument.rsplit('/').next().unwrap_or(argument).trim_end_matches(".md");
        name == self.name || self.number.is_some_and(|number| name.parse() == Ok(number))
    }

    /// Returns the chapter's text in Markdown.
    ///
    /// # Errors
    /// A listing refers to a program that doesn't exist.
    pub fn text(&self) -> Fallible<String> {
        let mut text = String::new();
        for line in without_comments(page(&format!("{}.md", self.name))?).lines() {
            match (listed(line), picture(line)) {
                (Some(wanted), _) => text.push_str(&listing(wanted)?),
                (None, Some(words)) => text.push_str(&format!("[picture: {words}]\n")),
                (None, None) => text.extend([line, "\n"]),
            }
        }
        Ok(text)
    }
}

/// Returns all chapters, in order.
///
/// # Errors
/// The embedded book has no table of contents.
pub fn chapters() -> Fallible<Vec<Chapter>> {
    Ok(page(SUMMARY)?.lines().filter_map(chapter).collect())
}

/// Returns the files of the programs that the book runs, with their paths relative to the folder in which the book's
/// commands are entered.
pub fn programs() -> impl Iterator<Item = (String, &'static [u8])> {
    PROGRAM_FOLDERS.into_iter().flat_map(|(at, folder)| {
        let mut found = Vec::new();
        files_below(folder, &mut found);
        found.into_iter().map(move |(path, bytes)| (format!("{at}/{path}"), bytes))
    })
}

fn files_below(folder: &Dir<'static>, found: &mut Vec<(String, &'static [u8])>) {
    found.extend(folder.files().map(|file| (slashed(file.path()), file.contents())));
    folder.dirs().for_each(|inner| files_below(inner, found));
}

/// Returns a path with forward slashes, as in the book.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

fn page(name: &str) -> Fallible<&'static str> {
    PAGES.get_file(name).and_then(|file| file.contents_utf8()).ok_or_else(|| broken(name))
}

/// Parses a line of the summary: `- [5. Garbage and Bennett's trick](05-garbage.md)`.
fn chapter(line: &str) -> Option<Chapter> {
    let (_, rest) = line.split_once('[')?;
    let (title, target) = rest.split_once("](")?;
    let name = target.strip_suffix(".md)")?.to_owned();
    let numbered = title.split_once(". ").and_then(|(number, title)| Some((number.parse().ok()?, title)));
    let (number, title) = numbered.map_or((None, title), |(number, title)| (Some(number), title));
    Some(Chapter { number, title: title.to_owned(), name })
}

/// Removes HTML comments, which hold the commands that draw pictures.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut left = text;
    while let Some((before, behind)) = left.split_once("<!--") {
        kept.push_str(before);
        // Removing a comment paragraph must not leave two blank lines.
        left = behind.split_once("-->").map_or("", |(_, behind)| behind).trim_start_matches('\n');
    }
    kept + left
}

/// Returns the path and the line range in a listing line, for example `../programs/sort.rasm:23:33` in
/// `{{#include ../programs/sort.rasm:23:33}}`.
fn listed(line: &str) -> Option<&str> {
    line.trim().strip_prefix("{{#include ")?.strip_suffix("}}")
}

/// Returns the description (alternative text) of a picture, if the line contains a picture.
fn picture(line: &str) -> Option<&str> {
    line.trim().strip_prefix("![")?.split_once("](").map(|(words, _)| words)
}

/// Returns the lines of a program that `wanted` selects, in the notation of mdBook: `path`, `path:from:to`,
/// `path:from:`.
fn listing(wanted: &str) -> Fallible<String> {
    let mut parts = wanted.split(':');
    let path = parts.next().unwrap_or(wanted);
    let mut number = || parts.next().and_then(|number| number.parse::<usize>().ok());
    let (from, to) = (number().unwrap_or(1), number().unwrap_or(usize::MAX));
    let file = LISTED.iter().find_map(|(at, folder)| {
        let inner = path.strip_prefix(at)?.strip_prefix('/')?;
        folder.get_file(inner)?.contents_utf8()
    });
    let text = file.ok_or_else(|| broken(path))?;
    let lines = text.lines().skip(from.saturating_sub(1)).take(to.saturating_sub(from).saturating_add(1));
    Ok(lines.flat_map(|line| [line, "\n"]).collect())
}

/// Failure for an embedded book with a missing file.
fn broken(path: &str) -> Failure {
    Failure::load(format_args!("the book in this program is broken: {path} is missing"))
}
