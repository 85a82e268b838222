//! Every generated file is used by a test, which checks its contents. Without this test, obsolete snapshots would
//! remain unnoticed.

use std::path::{Path, PathBuf};

use super::sources::{files, root};

fn snapshots() -> Vec<PathBuf> {
    let is_snapshot = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "snap");
    files().into_iter().filter(is_snapshot).collect()
}

/// Returns the source file of a snapshot, from its header.
fn source(snapshot: &Path) -> PathBuf {
    let text = std::fs::read_to_string(snapshot).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("source: "));
    root().join(line.unwrap_or_else(|| panic!("{} doesn't say who took it", snapshot.display())))
}

/// Returns the name of a snapshot in its source, without the screen size.
fn name(snapshot: &Path) -> String {
    let stem = snapshot.file_stem().unwrap().to_str().unwrap();
    let name = stem.rsplit("__").next().unwrap();
    let is_size = |part: &str| part.split_once('x').is_some_and(|(w, h)| is_number(w) && is_number(h));
    match name.rsplit_once('_') {
        Some((name, size)) if is_size(size) => name.to_owned(),
        _ => name.to_owned(),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|sign| sign.is_ascii_digit())
}

/// Returns true if a source contains a name as a whole, or in two parts. The parts are those before and after a `_` of
/// the name, the second part in quotes.
fn has(text: &str, name: &str) -> bool {
    let parts = name.match_indices('_').map(|(at, _)| (&name[..at], &name[at + 1..]));
    text.contains(name)
        || parts.into_iter().any(|(first, second)| text.contains(first) && is_word(text, second))
}

/// Returns true if a source contains a quoted word.
fn is_word(text: &str, word: &str) -> bool {
    text.contains(&format!("\"{word}\""))
}

#[test]
fn every_snapshot_is_taken() {
    let snapshots = snapshots();
    assert!(snapshots.len() > 50, "only {} snapshots were found", snapshots.len());
    for snapshot in snapshots {
        let (source, name) = (source(&snapshot), name(&snapshot));
        let text = std::fs::read_to_string(&source).unwrap_or_default();
        let place = snapshot.display();
        assert!(has(&text, &name), "{place} is left over: {} takes no `{name}`", source.display());
    }
}

#[test]
fn names_of_snapshots_are_read() {
    assert_eq!(name(Path::new("tui__snapshots__fib_at_work_120x40.snap")), "fib_at_work");
    assert_eq!(name(Path::new("front__inversion__inverse_of_fib.snap")), "inverse_of_fib");
    assert!(has("for name in [\"fib\"] { format!(\"inverse_of_{name}\") }", "inverse_of_fib"));
    assert!(!has("for name in [\"fib\"] { format!(\"inverse_of_{name}\") }", "inverse_of_gcd"));
}
