//! Comments and documents follow the rules of plain words that a machine can check: how a doc comment begins, how
//! long it is, how long sentences are, and which phrases have a plainer equivalent.
//!
//! Blocks of code and code spans aren't checked.

use std::path::{Path, PathBuf};

use super::sources::{files, root};

/// Words that can't begin a doc comment, which begins with its subject or a verb.
const OPENERS: [&str; 10] =
    ["what", "who", "whoever", "whether", "where", "so many", "such", "nobody", "somebody", "that which"];

/// Phrases with a plainer equivalent, each with its forms.
const AVOIDED: [&[&str]; 20] = [
    &["all the same"],
    &["as it is", "as they are"],
    &["besides"],
    &["come by", "comes by", "came by"],
    &["come to", "comes to", "came to"],
    &["for ever"],
    &["for want of"],
    &["goes back", "goes on", "go on", "goes there"],
    &["in vain"],
    &["it is told"],
    &["lie", "lies", "lay", "lying"],
    &["look at", "looks at", "looked at", "looking at"],
    &["make a step", "makes a step", "make steps", "makes steps", "made steps"],
    &["nobody", "somebody", "whoever"],
    &["of its own", "of their own"],
    &["so many"],
    &["stand", "stands", "stood", "standing"],
    &["thereby"],
    &["way back", "way there"],
    &["worth"],
];

/// Permitted faults. Each entry has a file or a folder, the beginning of the fault's message, and the reason.
const EXCEPTIONS: [(&str, &str, &str); 3] = [
    (
        "isa-spec/src/function.rs",
        "has fewer than",
        "the comments of functions are names in the manual, such as \"Bitwise or\"; equations follow",
    ),
    ("course", "says \"look at\"", "the book and the tasks ask their reader to look at something"),
    ("course", "says \"go on\"", "the book and the tasks ask their reader to continue"),
];

/// Maximum number of words in a sentence.
const LONGEST: usize = 40;

/// Minimum number of words in a doc comment.
const SHORTEST: usize = 4;

/// Consecutive lines of one kind: a comment, or a whole document.
struct Block {
    is_doc_comment: bool,
    /// Paragraphs, each with the number of its first line, counted from 1.
    paragraphs: Vec<(usize, String)>,
}

/// Returns the comments of a Rust source.
fn comments(source: &str) -> Vec<Block> {
    let lines: Vec<_> = source.lines().map(comment).collect();
    let marker = |line: &Option<(&'static str, &str)>| line.map(|(marker, _)| marker);
    let (mut first, mut blocks) = (1, Vec::new());
    for chunk in lines.chunk_by(|one, other| marker(one) == marker(other)) {
        if let Some(marker) = marker(&chunk[0]) {
            let texts = chunk.iter().map(|line| line.map_or("", |(_, text)| text));
            blocks.push(Block { is_doc_comment: marker != "//", paragraphs: paragraphs(texts, first) });
        }
        first += chunk.len();
    }
    blocks
}

/// Returns the marker and the text of a line that is a comment.
fn comment(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    ["///", "//!", "//"].into_iter().find_map(|marker| Some((marker, line.strip_prefix(marker)?)))
}

/// Joins lines to paragraphs. List items, cells of tables and headings are paragraphs too.
fn paragraphs<'t>(lines: impl Iterator<Item = &'t str>, first: usize) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_fenced, mut is_new) = (false, true);
    for (at, line) in lines.enumerate() {
        let text = line.trim();
        let is_fence = text.starts_with("```");
        is_fenced ^= is_fence;
        if is_fence || is_fenced || text.is_empty() || is_new && line.starts_with("    ") {
            is_new = true;
        } else if text.starts_with('|') {
            found.extend(plain(text).split('|').map(|cell| (first + at, cell.trim().to_owned())));
            is_new = true;
        } else if is_new || begins_item(text) {
            found.push((first + at, plain(text)));
            is_new = text.starts_with('#');
        } else if let Some((_, paragraph)) = found.last_mut() {
            *paragraph += " ";
            *paragraph += &plain(text);
        }
    }
    found
}

fn begins_item(line: &str) -> bool {
    let number = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    line.starts_with(['-', '*', '#', '>']) || number.len() < line.len() && number.starts_with(". ")
}

/// Replaces each code span by one sign, and each link by its text.
fn plain(line: &str) -> String {
    let spans = line.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "`" });
    let text: String = spans.collect();
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "]" + part.split_once(')').map_or("", |(_, rest)| rest))
}

/// Splits a paragraph after each sign that ends a sentence, if the text after the sign begins a sentence.
fn sentences(paragraph: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    for (at, _) in paragraph.match_indices(' ') {
        let begins = |sign: char| sign.is_uppercase() || "`([*".contains(sign);
        let before = paragraph[..at].trim_end_matches(['*', ')', '"']);
        if before.ends_with(['.', '!', '?', ':', ';']) && paragraph[at + 1..].starts_with(begins) {
            found.push(&paragraph[start..at]);
            start = at + 1;
        }
    }
    found.push(&paragraph[start..]);
    found
}

/// Returns the words of a text in lower case, each between blanks.
fn words(text: &str) -> String {
    let is_part = |sign: char| sign.is_alphanumeric() || "-'".contains(sign);
    let words = text.split(|sign| !is_part(sign)).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |all, word| all + &word.to_lowercase() + " ")
}

/// Returns true if a comment is a unit, a formula or code, which may be short.
fn is_formula(text: &str) -> bool {
    text.contains(|sign: char| sign.is_ascii_digit() || "`=+*/^≤≥<∂·".contains(sign))
}

/// Returns the faults of a block, each with its line.
fn faults(block: &Block) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    if let Some((first, opening)) = block.paragraphs.first().filter(|_| block.is_doc_comment) {
        let begins = |opener: &&str| words(opening).starts_with(&format!(" {opener} "));
        if OPENERS.iter().any(begins) {
            faults.push((*first, format!("begins without its subject: {opening}")));
        }
        let is_short = block.paragraphs.len() == 1 && opening.split_whitespace().count() < SHORTEST;
        if is_short && !is_formula(opening) {
            faults.push((*first, format!("has fewer than {SHORTEST} words: {opening}")));
        }
    }
    for (line, paragraph) in &block.paragraphs {
        faults.extend(
            sentences(paragraph).into_iter().flat_map(faults_of_sentence).map(|fault| (*line, fault)),
        );
    }
    faults
}

fn faults_of_sentence(sentence: &str) -> Vec<String> {
    let words = words(sentence);
    let avoided = AVOIDED.iter().copied().flatten().filter(|phrase| words.contains(&format!(" {phrase} ")));
    let mut faults: Vec<String> = avoided.map(|phrase| format!("says \"{phrase}\": {sentence}")).collect();
    let count = sentence.split_whitespace().count();
    if count > LONGEST {
        faults.push(format!("has a sentence of {count} words: {sentence}"));
    }
    faults
}

/// Returns the faults of a file as messages.
fn faults_of_file(path: &Path) -> Vec<String> {
    let name = path.strip_prefix(root()).unwrap().display().to_string();
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = match name.ends_with(".rs") {
        true => comments(&text),
        false => vec![Block { is_doc_comment: false, paragraphs: paragraphs(text.lines(), 1) }],
    };
    let is_excepted = |fault: &str| {
        EXCEPTIONS
            .iter()
            .any(|(place, start, _)| Path::new(&name).starts_with(place) && fault.starts_with(start))
    };
    let faults = blocks.iter().flat_map(faults).filter(|(_, fault)| !is_excepted(fault));
    faults.map(|(line, fault)| format!("{name}:{line} {fault}")).collect()
}

/// Returns the sources and documents to which the rules apply. This file names the phrases.
fn checked() -> impl Iterator<Item = PathBuf> {
    let is_text = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs" || ending == "md");
    let this = root().join(file!());
    files().into_iter().filter(move |path| is_text(path) && *path != this)
}

#[test]
fn comments_and_documents_are_in_plain_words() {
    let faults: Vec<String> = checked().flat_map(|path| faults_of_file(&path)).collect();
    assert!(faults.is_empty(), "{}\n{} faults", faults.join("\n"), faults.len());
}

#[test]
fn faults_are_found() {
    let source = "/// Whether it is open.\nlet a = 1;\n/// Bytes.\n/// `N` bytes.\n\n    // It lies in memory: see\n    // `lies`.\n";
    let lines = |text| comments(text).iter().flat_map(faults).map(|(line, _)| line).collect::<Vec<_>>();
    assert_eq!(lines(source), [1, 6]);
    assert_eq!(lines("/// Bytes.\n"), [1]);
    assert_eq!(lines(&format!("// A {}b. A b.\n", "word ".repeat(LONGEST))), [1]);
    let table = paragraphs("| a | `b|c` |\n\nd\n[e](f) g\n- h".lines(), 1);
    let texts: Vec<&str> =
        table.iter().map(|(_, text)| text.as_str()).filter(|text| !text.is_empty()).collect();
    assert_eq!(texts, ["a", "`", "d [e] g", "- h"]);
}
