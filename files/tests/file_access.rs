//! Tests that no other crate of the workspace opens files: so every input is known to the writer, and every
//! output appears whole.

use std::fs;
use std::path::{Path, PathBuf};

/// Fragments of source text by which code opens or changes files.
const DOORS: [&str; 13] = [
    "fs::read(",
    "fs::read_to_string",
    "fs::write",
    "fs::copy",
    "fs::rename",
    "fs::remove",
    "fs::hard_link",
    "fs::set_permissions",
    "File::",
    "OpenOptions",
    "tempfile",
    "use std::fs::{",
    "use std::fs::*",
];

/// Folders whose code may open files, with the reasons.
const EXEMPT: [(&str, &str); 4] = [
    ("files/src", "this crate"),
    ("vm/batch/src/trials", "a module of tests"),
    ("course/builder/src", "builds the book, of which the command has no part"),
    ("tests/lab/src", "compiles C programs for tests"),
];

/// Returns the source folders of all crates of the workspace.
fn crates(root: &Path) -> Vec<PathBuf> {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = [")).unwrap();
    let members = members.split('"').skip(1).step_by(2);
    members.chain(["."]).map(|member| root.join(member).join("src")).collect()
}

/// Returns all Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inner = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    inner.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

#[test]
fn only_this_crate_opens_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    let mut read = 0;
    let is_exempt = |path: &PathBuf| EXEMPT.iter().any(|(folder, _)| path.starts_with(root.join(folder)));
    for folder in crates(root) {
        for path in sources(&folder).into_iter().filter(|path| !is_exempt(path)) {
            let text = fs::read_to_string(&path).unwrap();
            // Unit tests may create files themselves.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let named = lines.filter(|line| DOORS.iter().any(|door| line.contains(door)));
            found.extend(named.map(|line| format!("{}: {}", path.display(), line.trim())));
            read += 1;
        }
    }
    assert!(read > 500, "only {read} sources were found");
    assert_eq!(found, [""; 0]);
}
