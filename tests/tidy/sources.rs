//! Sources as tokens, without comments and quoted text.

use std::path::{Path, PathBuf};

/// Shipped members, in dependency order.
pub const SHIPPED: [&str; 18] = [
    "memory",
    "isa-spec",
    "escape",
    "files",
    "vm/flow",
    "assembler",
    "vm",
    "vm/compile",
    "vm/jit",
    "vm/ctext",
    "vm/batch",
    "reviver",
    "inspect",
    "debugger",
    "expectations",
    "bennett",
    ".",
    "python",
];

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every file of the repository, except build outputs.
pub fn files() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root().to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()) {
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() && name != "target" && name != ".git" {
                folders.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found
}

/// Returns the sources of a member that are part of the shipped build.
pub fn sources_of(member: &str) -> Vec<PathBuf> {
    let folder = root().join(member).join("src");
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    files().into_iter().filter(|path| path.starts_with(&folder) && is_source(path)).collect()
}

/// Returns the code of a file, without comments, quoted text, or the tests at its end.
pub fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = shipped(&text);
    let (mut rest, mut code) = (text.as_str(), String::new());
    while let Some(first) = rest.chars().next() {
        let (kept, length) = match without_meaning(rest) {
            0 => (first, first.len_utf8()),
            length => (' ', length),
        };
        code.push(kept);
        rest = &rest[length..];
    }
    code
}

/// Returns a text without its modules of tests: declarations of files, and the module at the end.
fn shipped(text: &str) -> String {
    const TESTS: &str = "#[cfg(test)]\nmod ";
    let (mut rest, mut kept) = (text, String::new());
    while let Some((before, tests)) = rest.split_once(TESTS) {
        kept.push_str(before);
        match tests.split_once('\n') {
            Some((declared, behind)) if declared.ends_with(';') => rest = behind,
            _ => return kept,
        }
    }
    kept + rest
}

/// Returns the length in bytes of the comment or quotation at the start of a text; 0 if there is none.
fn without_meaning(text: &str) -> usize {
    let up_to =
        |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    let mut signs = text.chars();
    match (signs.next(), signs.next(), signs.next()) {
        (Some('/'), Some('/'), _) => text.find('\n').unwrap_or(text.len()),
        (Some('/'), Some('*'), _) => up_to("*/", 2),
        (Some('r'), Some('#'), Some('"')) => up_to("\"#", 3),
        (Some('"'), ..) => quoted(text, '"'),
        (Some('\''), Some('\\'), _) => quoted(text, '\''),
        (Some('\''), Some(sign), Some('\'')) => 2 + sign.len_utf8(),
        _ => 0,
    }
}

/// Returns the length in bytes of a quotation. The sign that ends the quotation may be escaped within it.
fn quoted(text: &str, end: char) -> usize {
    let mut is_escaped = true;
    for (at, sign) in text.char_indices() {
        if sign == end && !is_escaped {
            return at + sign.len_utf8();
        }
        is_escaped = sign == '\\' && !is_escaped;
    }
    text.len()
}

/// Splits code into words and signs; `::` is one sign.
pub fn tokens(code: &str) -> Vec<&str> {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let (mut found, mut rest) = (Vec::new(), code.trim_start());
    while let Some(first) = rest.chars().next() {
        let end = match first {
            _ if rest.starts_with("::") => 2,
            first if is_word(first) => rest.find(|sign| !is_word(sign)).unwrap_or(rest.len()),
            first => first.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        found.push(token);
        rest = after.trim_start();
    }
    found
}
