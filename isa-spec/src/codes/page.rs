//! Codes as text: the page of one code, a list of all codes, and a document with all pages. This module is
//! independent of particular codes.

use std::fmt::Write as _;

use super::{CodeEntry, CodeEvidence, CodeTrial};
use crate::names::printable;

/// The line width, in characters.
const WIDTH: usize = 80;

/// The beginning of `docs/errors.md`, before the entries.
const BEGINNING: &str = "# Codes of errors, warnings, traps and losses

This page lists the codes of errors, warnings, traps and losses. A *loss* is an event that may make a derivative wrong. The page is
generated from the codes' own entries, and a test checks it. `reviver explain CODE` prints an entry, and `reviver explain` lists all.
A message shows its code in brackets (`error[E20]`, `warning[W03]`, `trap[T22]`, `warning[L01]`); with `--json` the code is the
member `code`. A code never changes its meaning. The name of a code can be used too: `reviver explain index-outside`.

Each entry has the smallest program that causes its code and no other code, with the program's output. The corrected
program follows. If only the command is wrong, the corrected command follows instead.
";

/// The kinds of codes, by first letter.
const KINDS: [(char, &str); 4] = [
    ('E', "Errors: the text isn't assembled"),
    ('W', "Warnings: the text is doubtful, or certain to trap"),
    ('T', "Traps: a run can't continue"),
    ('L', "Losses: derivatives may be wrong"),
];

/// Returns an entry for a terminal, with the output of its command.
pub fn page(entry: &CodeEntry, printed: &str) -> String {
    let CodeEntry { code, words, account } = entry;
    let mut text = format!("{code} {words}: {}\n\n", account.title);
    paragraph(&mut text, account.meaning);
    match &account.evidence {
        CodeEvidence::Programs { shown, recomputed } => {
            let _ = writeln!(text, "\nThe smallest program that causes it:\n");
            trial(&mut text, entry, shown);
            printed.lines().for_each(|line| text.extend([format!("    {line}").trim_end(), "\n"]));
            text.push('\n');
            paragraph(&mut text, account.cure);
            match shown.text == recomputed.text {
                true => {
                    let _ =
                        writeln!(text, "\nCorrected command:\n\n    $ {}", recomputed.typed(&entry.file()));
                }
                false => {
                    let _ = writeln!(text, "\nCorrected program:\n");
                    trial(&mut text, entry, recomputed);
                }
            }
        }
        CodeEvidence::NotShown(why) => {
            text.push('\n');
            paragraph(&mut text, &format!("There is no example: {why}."));
            text.push('\n');
            paragraph(&mut text, account.cure);
        }
    }
    text
}

/// Returns a list of all entries, one per line.
pub fn overview(entries: impl Iterator<Item = &'static CodeEntry> + Clone) -> String {
    let widest = entries.clone().map(|entry| entry.words.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (letter, title) in KINDS {
        let _ = writeln!(text, "{title}\n");
        for entry in entries.clone().filter(|entry| entry.code.starts_with(letter)) {
            let _ = writeln!(text, "  {}  {:<widest$}  {}", entry.code, entry.words, entry.account.title);
        }
        text.push('\n');
    }
    text.push_str("`reviver explain CODE` explains a code.\n");
    text
}

/// Returns all entries as a document, each with the output of its command.
pub fn document(
    entries: impl Iterator<Item = &'static CodeEntry> + Clone,
    printed: impl Fn(&CodeEntry) -> String,
) -> String {
    let mut text = BEGINNING.to_owned();
    for (letter, title) in KINDS {
        let _ = write!(text, "\n## {title}\n");
        for entry in entries.clone().filter(|entry| entry.code.starts_with(letter)) {
            section(&mut text, entry, &printed(entry));
        }
    }
    text
}

fn section(text: &mut String, entry: &CodeEntry, printed: &str) {
    let CodeEntry { code, words, account } = entry;
    let _ = write!(text, "\n### {code} {words}\n\n*{}.* {}\n", account.title, account.meaning);
    match &account.evidence {
        CodeEvidence::Programs { shown, recomputed } => {
            fenced(text, entry, shown, printed);
            let _ = write!(text, "\n{}\n", account.cure);
            match shown.text == recomputed.text {
                true => {
                    let _ = write!(text, "\n```text\n$ {}\n```\n", recomputed.typed(&entry.file()));
                }
                false => fenced(text, entry, recomputed, ""),
            }
        }
        CodeEvidence::NotShown(why) => {
            let _ = write!(text, "\nThere is no example: {why}. {}\n", account.cure);
        }
    }
}

fn fenced(text: &mut String, entry: &CodeEntry, trial: &CodeTrial, printed: &str) {
    let _ = write!(text, "\n```text\n");
    lines(trial).for_each(|line| text.extend([&line, "\n"]));
    let _ = write!(text, "$ {}\n{printed}```\n", trial.typed(&entry.file()));
}

fn trial(text: &mut String, entry: &CodeEntry, trial: &CodeTrial) {
    lines(trial).for_each(|line| text.extend(["    ", &line, "\n"]));
    let _ = writeln!(text, "\n    $ {}", trial.typed(&entry.file()));
}

/// Returns the program's lines with unprintable characters escaped.
fn lines(trial: &CodeTrial) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    trial.text.lines().map(printable)
}

fn paragraph(text: &mut String, words: &str) {
    let mut column = 0;
    for word in words.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > WIDTH {
            text.push('\n');
            column = 0;
        }
        if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
}
