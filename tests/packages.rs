//! Published packages: every crate is either publishable or marked as private, and package contents suffice to build.
//! `.ci/run` checks the packages themselves; this test only queries cargo.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn cargo(arguments: &str) -> String {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let output = Command::new(cargo)
        .args(arguments.split_whitespace())
        .args(["--offline", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn metadata() -> Value {
    serde_json::from_str(&cargo("metadata --no-deps --format-version 1")).unwrap()
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_else(|| panic!("{}: no {key}", of["name"]))
}

fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().unwrap_or_else(|| panic!("{}: no {key}", of["name"]))
}

fn folder(package: &Value) -> PathBuf {
    Path::new(text(package, "manifest_path")).parent().unwrap().to_owned()
}

/// Returns the crates that are published, and those that are private.
fn crates(metadata: &Value) -> (Vec<&Value>, Vec<&Value>) {
    // `publish` is null without restrictions; an empty list forbids publication.
    list(metadata, "packages").iter().partition(|package| package["publish"].is_null())
}

#[test]
fn published_crates_are_the_default_members() {
    let metadata = metadata();
    let ids = |crates: &[&Value]| -> BTreeSet<String> {
        crates.iter().map(|package| text(package, "id").to_owned()).collect()
    };
    let (published, internal) = crates(&metadata);
    let built = list(&metadata, "workspace_default_members").iter().map(|id| id.as_str().unwrap().to_owned());
    assert_eq!(ids(&published), built.collect());
    let names: Vec<_> = internal.iter().map(|package| text(package, "name")).collect();
    assert_eq!(names, ["reviver-lab", "reviver-oracle", "reviver-book", "reviver-python"]);
    for package in internal {
        assert_eq!(list(package, "publish"), [] as [Value; 0]);
    }
}

#[test]
fn every_published_crate_is_described() {
    let metadata = metadata();
    for package in crates(&metadata).0 {
        let name = text(package, "name");
        assert!(text(package, "description").len() > 40, "{name}");
        assert_eq!(text(package, "license"), "MIT OR Apache-2.0", "{name}");
        assert!((1..=5).contains(&list(package, "keywords").len()), "{name}");
        assert!((1..=5).contains(&list(package, "categories").len()), "{name}");
        let own = format!("={}", text(package, "version"));
        for dependency in list(package, "dependencies").iter().filter(|d| d["path"].is_string()) {
            // A dependency without a version is removed from the package, so it must be for tests only.
            let (req, kind) = (text(dependency, "req"), dependency["kind"].as_str());
            let is_for_tests = req == "*" && kind == Some("dev");
            assert!(req == own || is_for_tests, "{name} needs {} {req}", dependency["name"]);
        }
    }
}

#[test]
fn packages_are_whole_and_without_tests() {
    let metadata = metadata();
    for package in crates(&metadata).0 {
        let (name, folder) = (text(package, "name"), folder(package));
        let listed = cargo(&format!("package --list --allow-dirty -p {name}"));
        let listed: BTreeSet<&str> = listed.lines().collect();
        for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "Cargo.lock"] {
            assert!(listed.contains(file), "{name} lacks {file}");
        }
        let mut expected = files(&folder, "src");
        if name == "reviver-cli" {
            expected.extend(files(&folder, "programs"));
            expected.extend(files(&folder, "docs"));
        }
        for file in expected {
            assert!(listed.contains(&*file), "{name} lacks {file}");
        }
        let tests = listed.iter().find(|file| file.starts_with("tests/") || file.starts_with("benches/"));
        assert_eq!(tests, None, "{name}");
    }
}

/// Returns the files in a folder of a crate and its subfolders, as a package lists them.
fn files(package: &Path, inside: &str) -> Vec<String> {
    let entries = std::fs::read_dir(package.join(inside)).unwrap().map(Result::unwrap);
    let inner = entries.flat_map(|entry| {
        let name = format!("{inside}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() { files(package, &name) } else { vec![name] }
    });
    inner.collect()
}

/// Crates with unsafe code, and the files that contain it.
const UNSAFE: [(&str, &[&str]); 4] = [
    ("reviver-memory", &["src/allocator.rs"]),
    ("reviver-jit", &["src/native.rs"]),
    ("reviver-batch", &["src/float_controls.rs", "src/passthrough.rs"]),
    ("reviver-python", &["src/arrow.rs"]),
];

#[test]
fn five_files_have_unsafe_code() {
    let root = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    assert!(root.contains("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"));
    for package in list(&metadata(), "packages") {
        let manifest = std::fs::read_to_string(text(package, "manifest_path")).unwrap();
        let Some((_, files)) = UNSAFE.iter().find(|(name, _)| package["name"] == *name) else {
            assert!(manifest.contains("[lints]\nworkspace = true\n"), "{}", package["name"]);
            continue;
        };
        assert!(manifest.contains("[lints.rust]\nunsafe_code = \"deny\"\n"));
        let sources = rust_files(&folder(package).join("src"));
        let allows = |path: &PathBuf| std::fs::read_to_string(path).unwrap().contains("unsafe_code");
        let mut allowing: Vec<PathBuf> = sources.into_iter().filter(allows).collect();
        allowing.sort();
        let files: Vec<PathBuf> = files.iter().map(|file| folder(package).join(file)).collect();
        assert_eq!(allowing, files);
    }
}

/// Only the allocations in `reviver_memory::ask` can be refused with an error. So no other file may call `try_reserve`.
#[test]
fn fallible_allocation_is_in_one_file() {
    for package in list(&metadata(), "packages") {
        let sources = rust_files(&folder(package).join("src"));
        let asks = |path: &&PathBuf| std::fs::read_to_string(path).unwrap().contains(".try_reserve");
        for path in sources.iter().filter(asks) {
            assert_eq!(
                path,
                &folder(package).join("src/ask.rs"),
                "this asks for memory, not `reviver_memory::ask`"
            );
            assert_eq!(package["name"], "reviver-memory");
        }
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// An advisory is accepted for one version of one crate, with its reason in `deny.toml`.
#[test]
fn the_accepted_advisory_is_of_the_used_version() {
    let read =
        |name: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let (lock, deny) = (read("Cargo.lock"), read("deny.toml"));
    let after = lock.split("name = \"bincode\"\nversion = \"").nth(1).expect("bincode is used");
    let version = after.split('"').next().unwrap();
    let accepted = deny.split("id = \"RUSTSEC-2025-0141\"").nth(1).expect("the advisory of bincode");
    assert!(accepted.contains(&format!("bincode {version} ")), "{accepted}");
}

#[test]
fn the_minimum_rust_version_is_documented() {
    let metadata = metadata();
    let versions: BTreeSet<_> =
        list(&metadata, "packages").iter().map(|package| text(package, "rust_version")).collect();
    let [version] = versions.into_iter().collect::<Vec<_>>()[..] else { panic!("several versions") };
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    assert!(readme.contains(&format!("Rust {version}")), "README.md doesn't name Rust {version}");
}
