//! Things that are named in one place only, and who knows which crate.

use std::path::PathBuf;

use super::sources::{files, root};

/// The sources and manifests of all members, tests included.
fn sources() -> Vec<PathBuf> {
    let is_source = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "rs") || path.ends_with("Cargo.toml")
    };
    files().into_iter().filter(is_source).collect()
}

/// The files in which a crate is named, relative to the repository. The workspace's manifest says why, and
/// the test of the packages holds what is said of an advisory.
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
fn one_file_knows_the_codec() {
    for crate_name in ["bincode", "crc32fast"] {
        assert_eq!(naming(crate_name), ["isa-spec/Cargo.toml", "isa-spec/src/codec.rs"], "{crate_name}");
    }
}

#[test]
fn one_file_knows_the_terminal() {
    assert_eq!(naming("crossterm"), ["debugger/Cargo.toml", "debugger/src/tui/terminal.rs"]);
}

/// The members from the ground up. Each may know those that stand before it, but for the assembler and the
/// machine, which don't know each other; what is shipped knows no test crate.
const ORDER: [&str; 19] = [
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
    "debugger",
    "expectations",
    "pictures",
    "bennett",
    ".",
    "tests/oracle",
    "tests/lab",
    "course/builder",
];

/// The name by which a member is known to others.
fn package(member: &str) -> String {
    match member {
        "." => "reviver".to_owned(),
        "isa-spec" => "reviver-isa".to_owned(),
        "course/builder" => "reviver-book".to_owned(),
        member => format!("reviver-{}", member.rsplit('/').next().unwrap_or(member)),
    }
}

/// The members that a member is built with; what only its tests use is left out.
fn known_to(member: &str) -> Vec<String> {
    let manifest = root().join(member).join("Cargo.toml");
    let text = std::fs::read_to_string(manifest).unwrap();
    let mut heading = "";
    let mut known = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            heading = line.trim();
        } else if heading == "[dependencies]" && line.starts_with("reviver-") {
            known.extend(line.split(['.', ' ', '=']).next().map(str::to_owned));
        }
    }
    known
}

#[test]
fn crates_know_only_what_lies_below_them() {
    let rank = |name: &str| ORDER.iter().position(|member| package(member) == name).unwrap();
    for member in ORDER {
        for known in known_to(member) {
            assert!(rank(&known) < rank(&package(member)), "{member} knows {known}");
        }
    }
    assert!(!known_to("vm").contains(&package("assembler")));
    let tests = ["tests/oracle", "tests/lab"].map(package);
    assert!(known_to(".").iter().all(|known| !tests.contains(known)));
    let below = ORDER.iter().take_while(|member| **member != ".").count();
    assert_eq!(known_to(".").len(), below, "the command is built of all that is shipped");
}
