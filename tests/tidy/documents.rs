//! Names in documents exist: source files, folders, and items in code spans.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::sources::{SHIPPED, code, files, root, sources_of, tokens};

/// Returns the documents at the root and in `docs`, `docs/internals`, `benches` and `programs`.
fn documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/internals", "benches", "programs"].map(|folder| root().join(folder));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Returns the source files in a document's code spans: `vm/src/op.rs`, `op.rs`.
fn named_sources(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let lines = without_new_files(text);
    let words = lines.split(|c: char| !is_part(c)).map(|word| word.trim_matches('.'));
    // The two sides of a patch are called `a` and `b`.
    let path = |word: &str| match word.split_once('/') {
        Some(("a" | "b", within)) => within.to_owned(),
        _ => word.trim_start_matches("../").to_owned(),
    };
    words.filter(|word| word.ends_with(".rs")).map(path).collect()
}

/// Returns a text without the lines of patches that create files.
fn without_new_files(text: &str) -> String {
    let mut before = "";
    let mut kept = Vec::new();
    for line in text.lines() {
        if before != "--- /dev/null" {
            kept.push(line);
        }
        before = line;
    }
    kept.join("\n")
}

/// Returns the texts between backticks.
pub fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Returns the folders in a document's code spans: `vm/src/explain/`.
fn named_folders(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || "_-./".contains(sign);
    let is_folder = move |span: &&str| span.len() > 1 && span.ends_with('/') && span.chars().all(is_part);
    code_spans(text).filter(is_folder).map(|span| span.trim_start_matches("../").trim_end_matches('/'))
}

/// Returns the item paths in a document's code spans: `State::adjoints`, without call arguments.
fn named_items(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let path = |span: &'_ str| span.split_once('(').map_or(span.len(), |(name, _)| name.len());
    let paths = code_spans(text).map(move |span| &span[..path(span)]).filter(|span| span.contains("::"));
    let is_name = |name: &&str| name.chars().all(|sign| sign.is_alphanumeric() || sign == '_');
    paths.map(|span| span.split("::").collect::<Vec<_>>()).filter(move |path| path.iter().all(is_name))
}

/// Returns every word of the shipped sources, and the names of their modules.
fn words_of_sources() -> BTreeSet<String> {
    let mut words = BTreeSet::from(["std".to_owned()]);
    for path in SHIPPED.iter().flat_map(|member| sources_of(member)) {
        words.extend(tokens(&code(&path)).into_iter().map(str::to_owned));
        words.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
    }
    words
}

/// Returns the documents with their texts, except the list of changes, which may name removed items.
fn texts() -> impl Iterator<Item = (PathBuf, String)> {
    let reported = documents().into_iter().filter(|path| !path.ends_with("CHANGELOG.md"));
    reported.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
}

#[test]
fn documents_name_sources_that_exist() {
    let files = files();
    let exists = |name: &str| files.iter().any(|file| file.ends_with(name));
    let mut named = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for name in named_sources(&text) {
            assert!(exists(&name), "{} names `{name}`, which isn't there", document.display());
            named += 1;
        }
    }
    assert!(named > 50, "only {named} sources are named in the documents");
}

#[test]
fn documents_name_folders_that_exist() {
    let folders: BTreeSet<PathBuf> =
        files().iter().flat_map(|file| file.ancestors().skip(1).map(PathBuf::from)).collect();
    let mut named = 0;
    for (document, text) in texts() {
        for name in named_folders(&text) {
            let exists = folders.iter().any(|folder| folder.starts_with(root()) && folder.ends_with(name));
            assert!(exists, "{} names the folder `{name}/`, which isn't there", document.display());
            named += 1;
        }
    }
    assert!(named > 20, "only {named} folders are named in the documents");
}

#[test]
fn documents_name_items_that_exist() {
    let words = words_of_sources();
    let mut named = 0;
    for (document, text) in texts() {
        for path in named_items(&text) {
            let unknown = path.iter().find(|name| !words.contains(**name));
            assert!(unknown.is_none(), "{}: {path:?} has {unknown:?}", document.display());
            named += 1;
        }
    }
    assert!(named > 5, "only {named} items are named in the documents");
}

#[test]
fn names_in_documents_are_found() {
    let text =
        "In `vm/src/explain/` and `../x/` is `State::adjoints`, not `a/b` or `a::b + c`; `f::g(x)` too.";
    assert_eq!(named_folders(text).collect::<Vec<_>>(), ["vm/src/explain", "x"]);
    assert_eq!(named_items(text).collect::<Vec<_>>(), [vec!["State", "adjoints"], vec!["f", "g"]]);
}

/// Returns the relative paths of files that a document links to.
fn linked(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let targets = targets.map(|target| target.split('#').next().unwrap_or_default());
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}

#[test]
fn documents_link_to_files_that_exist() {
    let mut links = 0;
    for (document, text) in texts() {
        let folder = document.parent().unwrap();
        for target in linked(&text) {
            assert!(folder.join(target).exists(), "{} links to {target}", document.display());
            links += 1;
        }
    }
    assert!(links > 100, "only {links} links are in the documents");
}
