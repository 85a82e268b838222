//! Every key that the command writes into JSON is documented.

use std::collections::BTreeSet;

use super::documents::code_spans;
use super::sources::{root, sources_of};

/// Returns the quoted words in key positions: `insert("key"`, `("key".into(), …)`, `"key": …`.
fn keys(source: &str) -> BTreeSet<&str> {
    let mut keys = BTreeSet::new();
    for (at, _) in source.match_indices('"') {
        let Some((word, behind)) = source[at + 1..].split_once('"') else { continue };
        let before = source[..at].trim_end();
        let is_inserted = before.ends_with("insert(") || before.ends_with("detail(");
        let is_paired = [".into(),", ".to_owned(),"].iter().any(|end| behind.starts_with(end));
        let is_key = is_inserted || is_paired && before.ends_with('(') || behind.starts_with(": ");
        if is_key && !word.is_empty() && word.chars().all(|sign| sign.is_ascii_lowercase() || sign == '_') {
            keys.insert(word);
        }
    }
    keys
}

#[test]
fn each_key_is_documented() {
    let document = std::fs::read_to_string(root().join("docs/json.md")).unwrap();
    let words = |span| str::split(span, |sign: char| !(sign.is_ascii_lowercase() || sign == '_'));
    let known: BTreeSet<&str> = code_spans(&document).flat_map(words).collect();
    // Only the command's sources are searched: libraries and the debugger print no JSON for other programs.
    let folders = ["src/output", "src/commands", "src/failure.rs"].map(|folder| root().join(folder));
    let sources = sources_of(".").into_iter().filter(|path| folders.iter().any(|own| path.starts_with(own)));
    let mut found = 0;
    for path in sources {
        let source = std::fs::read_to_string(&path).unwrap();
        let unknown: Vec<&str> = keys(&source).into_iter().filter(|key| !known.contains(key)).collect();
        assert!(unknown.is_empty(), "{}: docs/json.md lacks {unknown:?}", path.display());
        found += keys(&source).len();
    }
    assert!(found > 100, "{found} keys: others are spelled in another way");
}
