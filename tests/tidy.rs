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
