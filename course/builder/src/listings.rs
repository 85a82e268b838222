//! Preprocessor for mdBook that converts program and console blocks to highlighted HTML. mdBook renders the other
//! blocks. mdBook's preprocessor `links` runs first, so the text already contains the included files.

use std::borrow::Cow;

use mdbook_preprocessor::book::{Book, Chapter};
use mdbook_preprocessor::errors::{Error, Result};
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};

use crate::{rasm, session};

/// Shortest sequence of backquotes that opens a code block.
const FENCE: &str = "```";

/// Preprocessor that highlights listings.
#[derive(Clone, Copy, Debug)]
pub struct Listings;

/// Language of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockLanguage {
    Rasm,
    Console,
}

/// Opening line of a block.
struct Opening<'l> {
    indented: bool,
    fence: &'l str,
    language: BlockLanguage,
}

impl Preprocessor for Listings {
    fn name(&self) -> &str {
        "rasm"
    }

    fn run(&self, _: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let mut failure = None;
        book.for_each_chapter_mut(|chapter| match marked(chapter) {
            Ok(text) => chapter.content = text,
            Err(error) => failure = failure.take().or(Some(error)),
        });
        failure.map_or(Ok(book), Err)
    }

    /// Returns true for HTML only, because other renderers can't use the highlighted blocks.
    fn supports_renderer(&self, renderer: &str) -> Result<bool> {
        Ok(renderer == "html")
    }
}

/// Returns a chapter's text, with its program and console blocks as highlighted HTML.
fn marked(chapter: &Chapter) -> Result<String> {
    let mut marked = String::with_capacity(chapter.content.len() * 2);
    let mut lines = chapter.content.split_inclusive('\n').enumerate();
    let mut foreign: Option<&str> = None;
    while let Some((n, line)) = lines.next() {
        let opening = if foreign.is_none() { Opening::of(line) } else { None };
        let Some(opening) = opening else {
            foreign = within_foreign(foreign, line);
            marked.push_str(line);
            continue;
        };
        let place = || format!("{}:{}", chapter.name, n + 1);
        if opening.indented {
            return Err(Error::msg(format!(
                "{}: the block is indented, so it can't be highlighted; remove the indentation",
                place()
            )));
        }
        let mut text = String::new();
        let closed = lines.by_ref().map(|(_, line)| line).any(|line| {
            let closes = closes(opening.fence, line);
            text.push_str(if closes { "" } else { line });
            closes
        });
        if !closed {
            return Err(Error::msg(format!("{}: the block has no end; write {FENCE} below it", place())));
        }
        marked.push_str(&block(opening.language, &text));
    }
    Ok(marked)
}

impl Opening<'_> {
    /// Parses a line that opens a program or console block.
    fn of(line: &str) -> Option<Opening<'_>> {
        let inside = line.trim_start_matches([' ', '\t', '>']);
        let (fence, info) = fence(inside)?;
        let language = match info.trim().split([',', ' ']).next() {
            Some("rasm") => BlockLanguage::Rasm,
            Some("console") => BlockLanguage::Console,
            _ => return None,
        };
        Some(Opening { indented: inside.len() < line.len(), fence, language })
    }
}

/// Splits a line into its leading fence and the rest.
fn fence(line: &str) -> Option<(&str, &str)> {
    let length = line.bytes().take_while(|byte| *byte == b'`').count();
    line.split_at_checked(length).filter(|(fence, _)| fence.len() >= FENCE.len())
}

fn closes(opened: &str, line: &str) -> bool {
    fence(line).is_some_and(|(fence, behind)| fence.len() >= opened.len() && behind.trim().is_empty())
}

/// Tracks blocks of other languages. `foreign` is the opening fence of the block that is open before `line`, or `None`
/// outside of such blocks. Returns the opening fence of the block that is open after `line`, or `None`.
fn within_foreign<'l>(foreign: Option<&'l str>, line: &'l str) -> Option<&'l str> {
    match foreign {
        Some(opened) => Some(opened).filter(|opened| !closes(opened, line.trim_start())),
        None => fence(line.trim_start()).map(|(fence, _)| fence),
    }
}

/// Returns a block as HTML. The class `nohighlight` keeps the page's script from highlighting the block again.
fn block(language: BlockLanguage, text: &str) -> String {
    let (class, marked): (_, Cow<'_, str>) = match language {
        BlockLanguage::Rasm => ("rasm", rasm::marked(text).into()),
        BlockLanguage::Console => ("session", session::marked(text).into()),
    };
    format!("<pre class=\"{class}\"><code class=\"nohighlight\">{marked}</code></pre>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(content: &str) -> Result<String> {
        marked(&Chapter::new("A page", content.to_owned(), "a.md", Vec::new()))
    }

    #[test]
    fn rasm_and_console_blocks_are_highlighted_and_others_unchanged() {
        let text =
            page("a\n\n```rasm\nadd a, 1\n```\n\n```text\nadd\n```\n\n```console\n$ ls\n```\nb\n").unwrap();
        assert!(text.starts_with("a\n\n<pre class=\"rasm\"><code class=\"nohighlight\"><span"), "{text}");
        assert!(text.contains("\n</code></pre>\n\n```text\nadd\n```\n\n<pre class=\"session\">"), "{text}");
        assert!(text.ends_with("</code></pre>\nb\n"), "{text}");
    }

    #[test]
    fn a_block_marked_as_failing_is_highlighted() {
        assert!(page("```rasm,fails\nadd a, a\n```\n").unwrap().contains("rasm-keyword"));
    }

    #[test]
    fn a_nested_block_is_unchanged() {
        let shown = "````markdown\n```rasm\nadd a, 1\n```\n````\n";
        assert_eq!(page(shown).unwrap(), shown);
    }

    #[test]
    fn blocks_that_cannot_be_highlighted_are_refused_with_their_line() {
        let indented = page("- a\n\n  ```rasm\n  add a, 1\n  ```\n").unwrap_err().to_string();
        assert!(indented.starts_with("A page:3: the block is indented"), "{indented}");
        let open = page("```rasm\nadd a, 1\n").unwrap_err().to_string();
        assert!(open.starts_with("A page:1: the block has no end"), "{open}");
    }
}
