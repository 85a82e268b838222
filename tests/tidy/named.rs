//! Names that may only occur in one place, and dependencies between crates.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::sources::{files, root};

/// Returns the sources and manifests of all members, including tests.
fn sources() -> Vec<PathBuf> {
    let is_source = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "rs") || path.ends_with("Cargo.toml")
    };
    files().into_iter().filter(is_source).collect()
}

/// Returns the files that name a crate, relative to the repository. The workspace's manifest and the test of the
/// packages are exempt.
fn naming(crate_name: &str) -> Vec<String> {
    let names = |path: &PathBuf| std::fs::read_to_string(path).unwrap().contains(crate_name);
    let speaks_of_it = ["Cargo.toml", "tests/packages.rs"].map(|file| root().join(file));
    let others = sources().into_iter().filter(|path| !speaks_of_it.contains(path));
    let found = others.filter(|path| *path != root().join(file!()) && names(path));
    let mut files: Vec<String> =
        found.map(|path| path.strip_prefix(root()).unwrap().display().to_string()).collect();
    files.sort();
    files
}

#[test]
fn one_file_uses_the_codec() {
    for crate_name in ["bincode", "crc32fast"] {
        assert_eq!(naming(crate_name), ["isa-spec/Cargo.toml", "isa-spec/src/codec.rs"], "{crate_name}");
    }
}

#[test]
fn one_file_uses_the_terminal() {
    assert_eq!(naming("crossterm"), ["debugger/Cargo.toml", "debugger/src/tui/terminal.rs"]);
}

#[test]
fn output_does_not_depend_on_the_options_of_the_command_line() {
    let names_options = |path: &str| path.starts_with("src/output/");
    let found: Vec<String> = naming("crate::cli").into_iter().filter(|path| names_options(path)).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// Members in dependency order. Each may depend on earlier ones, but the assembler and the machine don't depend on
/// each other. Shipped members don't depend on test crates.
const ORDER: [&str; 22] = [
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
    "pictures",
    "bennett",
    ".",
    "tests/oracle",
    "tests/lab",
    "course/builder",
    "python",
];

/// Returns the package name of a member.
fn package(member: &str) -> String {
    match member {
        "." => "reviver-cli".to_owned(),
        "reviver" => "reviver".to_owned(),
        "isa-spec" => "reviver-isa".to_owned(),
        "course/builder" => "reviver-book".to_owned(),
        member => format!("reviver-{}", member.rsplit('/').next().unwrap_or(member)),
    }
}

/// Returns the members that a member depends on, without dev-dependencies.
fn known_to(member: &str) -> Vec<String> {
    let manifest = root().join(member).join("Cargo.toml");
    let text = std::fs::read_to_string(manifest).unwrap();
    let mut heading = "";
    let mut known = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            heading = line.trim();
        } else if heading == "[dependencies]" && line.starts_with("reviver") {
            known.extend(line.split(['.', ' ', '=']).next().map(str::to_owned));
        }
    }
    known
}

/// Returns the members that a member depends on, directly or indirectly.
fn built_into(member: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = known_to(member);
    while let Some(next) = open.pop() {
        let member = ORDER.iter().find(|member| package(member) == next).unwrap();
        if found.insert(next) {
            open.extend(known_to(member));
        }
    }
    found
}

#[test]
fn crates_depend_only_on_lower_ones() {
    let rank = |name: &str| ORDER.iter().position(|member| package(member) == name).unwrap();
    for member in ORDER {
        for known in known_to(member) {
            assert!(rank(&known) < rank(&package(member)), "{member} knows {known}");
        }
    }
    assert!(!known_to("vm").contains(&package("assembler")));
    let tests = ["tests/oracle", "tests/lab"].map(package);
    assert!(known_to(".").iter().all(|known| !tests.contains(known)));
    let below = ORDER.iter().take_while(|member| **member != ".");
    assert_eq!(
        built_into("."),
        below.map(|member| package(member)).collect(),
        "the command is built of all that is shipped"
    );
}
