//! Dependencies between the files of a crate have no cycles, so that each file can be read with the files that it
//! uses.
//!
//! A file uses another if it names that file's module in a path that starts with `crate`, `super` or `self`. Visibility
//! (`pub(super)`) doesn't count. A `pub use` of a child module by its bare name isn't checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::sources::{code, root, sources_of, tokens};

/// Crates without dependency cycles between files.
const FREE: [&str; 17] = [
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
];

/// Returns a crate's code by module path, such as `session::scan`; the root is the empty path.
fn modules(member: &str) -> BTreeMap<String, String> {
    let folder = root().join(member).join("src");
    sources_of(member).iter().map(|path| (module_of(&folder, path), code(path))).collect()
}

fn module_of(folder: &Path, path: &Path) -> String {
    let within = path.strip_prefix(folder).unwrap().with_extension("");
    let mut names: Vec<&str> = within.iter().map(|name| name.to_str().unwrap()).collect();
    if matches!(names.last(), Some(&("mod" | "lib" | "main"))) {
        names.pop();
    }
    names.join("::")
}

/// Returns the modules that a module's code uses.
fn known_to<'m>(module: &str, code: &str, all: &'m BTreeMap<String, String>) -> BTreeSet<&'m str> {
    let paths = paths(module, &tokens(code));
    let modules = paths.iter().filter_map(|path| {
        let lengths = (1..=path.len()).rev();
        lengths.filter_map(|length| all.get_key_value(&path[..length].join("::"))).next()
    });
    modules.map(|(name, _)| name.as_str()).filter(|name| *name != module).collect()
}

/// Returns the paths in a module's code that begin with `crate`, `super` or `self`, resolved to paths from the
/// crate's root.
fn paths(module: &str, tokens: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut here: Vec<String> =
        module.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let (mut depth, mut inline) = (0, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if inline.pop_if(|start| *start == depth).is_some() {
                    here.pop();
                }
            }
            "mod" if tokens.get(at + 2) == Some(&"{") => {
                here.push(tokens[at + 1].to_owned());
                inline.push(depth);
            }
            "crate" | "super" | "self" if begins_path(tokens, at) => {
                found.extend(
                    behind(tokens, &mut at.clone(), &[]).into_iter().map(|path| resolved(&here, &path)),
                );
            }
            _ => {}
        }
    }
    found
}

/// Returns true if a path starts at the token with index `at`. The token must not be in the middle of a path, and not
/// in a visibility such as `pub(super)`.
fn begins_path(tokens: &[&str], at: usize) -> bool {
    let before = |distance: usize| at.checked_sub(distance).map(|at| tokens[at]);
    let is_visibility = before(1) == Some("(") && before(2) == Some("pub") || before(1) == Some("in");
    !is_visibility && before(1) != Some("::")
}

/// Returns the paths that start at the token with index `at`, each with the prefix `before`. Each item of a list in
/// braces is a separate path.
fn behind<'t>(tokens: &[&'t str], at: &mut usize, before: &[&'t str]) -> Vec<Vec<&'t str>> {
    let mut path = before.to_vec();
    while let Some(token) = tokens.get(*at) {
        if *token == "{" {
            return listed(tokens, at, &path);
        }
        path.push(token);
        *at += 1;
        if tokens.get(*at) != Some(&"::") {
            break;
        }
        *at += 1;
    }
    vec![path]
}

/// Returns the paths of a list in braces.
fn listed<'t>(tokens: &[&'t str], at: &mut usize, before: &[&'t str]) -> Vec<Vec<&'t str>> {
    let mut found = Vec::new();
    while tokens.get(*at).is_some_and(|token| *token != "}") {
        // The token is the opening brace, a comma, or another token after the last path, such as `as`.
        let is_another = matches!(tokens[*at], "{" | ",");
        *at += 1;
        if is_another && tokens.get(*at) != Some(&"}") {
            found.extend(behind(tokens, at, before));
        }
    }
    *at += 1;
    found
}

/// Resolves a path in the module `here` to a path from the root of the crate.
fn resolved(here: &[String], path: &[&str]) -> Vec<String> {
    let mut full = if path.first() == Some(&"crate") { Vec::new() } else { here.to_vec() };
    for name in path {
        match *name {
            "crate" | "self" => {}
            "super" => drop(full.pop()),
            name => full.push(name.to_owned()),
        }
    }
    full
}

/// Returns the modules in cycles, each with the modules that it uses.
fn circles(member: &str) -> Vec<String> {
    let modules = modules(member);
    let known: BTreeMap<&str, BTreeSet<&str>> =
        modules.iter().map(|(name, code)| (name.as_str(), known_to(name, code, &modules))).collect();
    let in_circle = |name: &&&str| reached(&known, name).contains(**name);
    known.keys().filter(in_circle).map(|name| format!("{member}: {name} knows {:?}", known[name])).collect()
}

/// Returns all modules that a module uses, directly or indirectly.
fn reached<'m>(known: &BTreeMap<&'m str, BTreeSet<&'m str>>, from: &str) -> BTreeSet<&'m str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = known[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(known[next].iter().copied());
        }
    }
    reached
}

#[test]
fn files_have_no_circular_imports() {
    let found: Vec<String> = FREE.iter().flat_map(|member| circles(member)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn cycles_are_found() {
    let texts = [
        ("a", "use crate::{b::Thing, c};"),
        ("b", "pub(super) fn f() { super::c::g() }"),
        ("c", "mod inner { use super::super::a::Other; }"),
        ("d", "pub(in crate::a) struct S; impl S { fn f(&self) {} }"),
    ];
    let modules: BTreeMap<String, String> =
        texts.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    let known = |name: &str| known_to(name, &modules[name], &modules);
    assert_eq!(known("a"), BTreeSet::from(["b", "c"]));
    assert_eq!(known("b"), BTreeSet::from(["c"]));
    assert_eq!(known("c"), BTreeSet::from(["a"]));
    assert_eq!(known("d"), BTreeSet::new());
}
