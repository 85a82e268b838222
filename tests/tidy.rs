//! What holds for the sources as a whole: things that are named in one place only.

use std::path::{Path, PathBuf};

/// The sources and manifests of all members, tests included.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            let is_source = name.ends_with(".rs") || name == "Cargo.toml";
            if entry.file_type().unwrap().is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if is_source {
                found.push(path);
            }
        }
    }
    found
}

/// The files in which a crate is named, relative to the repository. The workspace's manifest says why, and
/// the test of the packages holds what is said of an advisory.
fn naming(crate_name: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = |path: &PathBuf| std::fs::read_to_string(path).unwrap().contains(crate_name);
    let speaks_of_it = ["Cargo.toml", "tests/packages.rs"].map(|file| root.join(file));
    let others = sources().into_iter().filter(|path| !speaks_of_it.contains(path));
    let found = others.filter(|path| *path != root.join(file!()) && names(path));
    let mut files: Vec<String> =
        found.map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect();
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
const ORDER: [&str; 8] =
    ["isa-spec", "files", "assembler", "vm", "debugger", ".", "tests/oracle", "tests/lab"];

/// The name by which a member is known to others.
fn package(member: &str) -> String {
    match member {
        "." => "reviver".to_owned(),
        "isa-spec" => "reviver-isa".to_owned(),
        member => format!("reviver-{}", member.trim_start_matches("tests/")),
    }
}

/// The members that a member is built with; what only its tests use is left out.
fn known_to(member: &str) -> Vec<String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(member).join("Cargo.toml");
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
    assert_eq!(known_to(".").len(), 5, "the command is built of all that is shipped");
}

/// The documents at the root and in `docs`, `benches` and `programs`.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["", "docs", "benches", "programs"].map(|folder| root.join(folder));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Every file of the repository, relative to it.
fn files() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut found, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() && name != "target" && name != ".git" {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(root).unwrap().display().to_string());
            }
        }
    }
    found
}

/// The names of sources that a document gives in code: `vm/src/op.rs`, `op.rs`.
fn named_sources(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches('.'));
    words.filter(|word| word.ends_with(".rs")).map(|word| word.trim_start_matches("../").to_owned()).collect()
}

#[test]
fn documents_name_sources_that_exist() {
    let files = files();
    let exists = |name: &str| {
        let within = format!("/{name}");
        files.iter().any(|file| file == name || file.ends_with(&within))
    };
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
