//! Type names have one meaning in each crate, and use standard terms. Crates may share a word that is the standard term
//! in each of their fields.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::sources::{SHIPPED, code, root, sources_of};

/// Words that type names don't contain, each with its standard term.
const UNCLEAR: [(&str, &str); 45] = [
    ("Activation", "inlined frame"),
    ("Admitted", "finiteness check"),
    ("Apart", "separate, or no alias"),
    ("Arrival", "return, or side exit"),
    ("Astray", "diverged"),
    ("Behind", "after"),
    ("Beside", "next to"),
    ("Elided", "restored"),
    ("Elsewhere", "other scope, or other cell"),
    ("Errand", "background task"),
    ("Excursion", "round trip"),
    ("Flight", "submission"),
    ("Follower", "observer"),
    ("Gift", "input"),
    ("Journey", "run"),
    ("Judge", "verification"),
    ("Lasting", "finiteness check"),
    ("Leg", "segment"),
    ("Lifted", "Taylor number"),
    ("Looker", "observer"),
    ("Mended", "recomputed"),
    ("Moment", "time point"),
    ("Nobody", "caller"),
    ("Onlooker", "observer"),
    ("Overwritten", "dead store"),
    ("Pause", "safepoint, or stop"),
    ("Piece", "chunk, or part"),
    ("Room", "capacity, or memory"),
    ("Route", "compiled run"),
    ("Said", "report"),
    ("Silent", "zero adjoint"),
    ("Somebody", "caller"),
    ("Spelled", "rendered"),
    ("Speller", "renderer"),
    ("Spelling", "style, or rendering"),
    ("Straighten", "CFG simplification"),
    ("Stretch", "interval"),
    ("Told", "report"),
    ("Trust", "verification report"),
    ("Vouch", "verify"),
    ("Walk", "path, or segment"),
    ("Way", "direction, or path"),
    ("Whoever", "caller"),
    ("Wish", "request"),
    ("Worth", "value"),
];

/// Returns the types that a file declares, except associated types of traits.
fn declared(code: &str) -> BTreeSet<&str> {
    code.lines().filter_map(type_of).collect()
}

/// Returns the type that a line declares.
fn type_of(line: &str) -> Option<&str> {
    let is_inner = line.starts_with(' ');
    let line = line.trim_start().strip_prefix("pub").unwrap_or(line.trim_start());
    let line = match line.strip_prefix('(') {
        Some(visibility) => visibility.split_once(')')?.1,
        None => line,
    };
    let (word, rest) = line.trim_start().split_once(' ')?;
    let declares = matches!(word, "struct" | "enum" | "trait" | "union") || word == "type" && !is_inner;
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    let name = &rest[..rest.find(|sign| !is_part(sign)).unwrap_or(rest.len())];
    (declares && !name.is_empty()).then_some(name)
}

/// Returns the shipped types by crate and name, with the files that declare them.
fn types() -> BTreeMap<(&'static str, String), BTreeSet<String>> {
    let mut types: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for (member, path) in
        SHIPPED.iter().flat_map(|member| sources_of(member).into_iter().map(move |path| (*member, path)))
    {
        let file = shown(&path);
        for name in declared(&code(&path)) {
            types.entry((member, name.to_owned())).or_default().insert(file.clone());
        }
    }
    types
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

#[test]
fn a_type_name_is_unique_in_its_crate() {
    let types = types();
    assert!(types.len() > 500, "only {} types are declared", types.len());
    let several: BTreeMap<_, _> = types.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(several.is_empty(), "{several:#?}");
}

#[test]
fn type_names_use_standard_terms() {
    let types = types();
    let names = || types.keys().map(|(_, name)| name.as_str());
    let unclear = |name: &str| UNCLEAR.iter().find(|(word, _)| has_word(name, word));
    let found: Vec<_> = names().filter_map(|name| Some((name, unclear(name)?.1))).collect();
    assert!(found.is_empty(), "types, and standard terms for a word of their names: {found:?}");
}

/// Returns true if a name in camel case contains a word, in the singular or the plural.
fn has_word(name: &str, word: &str) -> bool {
    name.match_indices(word).any(|(at, _)| {
        let rest = &name[at + word.len()..];
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        !rest.starts_with(|sign: char| sign.is_lowercase())
    })
}

#[test]
fn words_of_names_are_found() {
    assert!(has_word("LaneJourneys", "Journey") && has_word("Told", "Told") && has_word("ToldLine", "Told"));
    assert!(!has_word("Tolderance", "Told") && !has_word("Untold", "Told"));
}

#[test]
fn declarations_are_found() {
    let code = "pub(crate) struct A<T>(T);\nenum B {\n    C,\n}\nimpl A {\n    type D = B;\n}\n\
                pub type E = B;\n    pub trait F: A {\nlet type_of = 1;";
    assert_eq!(declared(code), BTreeSet::from(["A", "B", "E", "F"]));
}
