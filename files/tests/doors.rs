//! Tests that no other crate of the workspace opens files: so every input is known to the writer, and every
//! output appears whole.

use std::fs;
use std::path::{Path, PathBuf};

/// Source texts that open or change files.
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
    for folder in ["src", "assembler/src", "debugger/src", "isa-spec/src", "vm/src"] {
        for path in sources(&root.join(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            // Unit tests may create files themselves.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let named = lines.filter(|line| DOORS.iter().any(|door| line.contains(door)));
            found.extend(named.map(|line| format!("{}: {}", path.display(), line.trim())));
            read += 1;
        }
    }
    assert!(read > 100, "the sources lie elsewhere: {read} files");
    assert_eq!(found, [""; 0]);
}
