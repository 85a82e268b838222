//! Tests that an output written in chunks appears when it is finished, and not before.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use reviver_files::{FileKind, Replaces, UsedFiles, WriteError};

static LETTERS: FileKind = FileKind { name: "a file of letters", is: |bytes| bytes.is_ascii() };

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn an_output_appears_when_it_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let files = UsedFiles::default();
    let mut growing = files.output(&path, Replaces::Kind(&LETTERS)).unwrap().begin().unwrap();
    growing.write_all(b"half").unwrap();
    growing.flush().unwrap();
    assert!(!path.exists());
    // Until the output is finished, its path is reserved.
    assert!(matches!(files.output(&path, Replaces::Anything), Err(WriteError::Output { .. })));
    growing.write_all(b" and half").unwrap();
    growing.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "half and half");
    assert_eq!(names(folder.path()), 1);
}

#[test]
fn an_abandoned_output_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "old").unwrap();
    let mut growing = UsedFiles::default().output(&path, Replaces::Kind(&LETTERS)).unwrap().begin().unwrap();
    growing.write_all(b"new").unwrap();
    drop(growing);
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path())), ("old", 1));
    let other = folder.path().join("other");
    drop(UsedFiles::default().output(&other, Replaces::Anything).unwrap().begin().unwrap());
    assert_eq!(names(folder.path()), 1);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file", &link).unwrap();
    let mut growing = UsedFiles::default().output(&link, Replaces::Kind(&LETTERS)).unwrap().begin().unwrap();
    growing.write_all(b"new").unwrap();
    growing.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let mut growing =
        UsedFiles::default().output(Path::new("/dev/full"), Replaces::Anything).unwrap().begin().unwrap();
    growing.write_all(b"much").unwrap();
    assert!(growing.finish().unwrap_err().to_string().contains("the disk is full"));
}

#[test]
fn inputs_read_in_chunks_are_registered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "content").unwrap();
    let files = UsedFiles::default();
    let mut content = String::new();
    files.open(&path).unwrap().read_to_string(&mut content).unwrap();
    assert_eq!(content, "content");
    assert!(matches!(files.output(&path, Replaces::Anything), Err(WriteError::Input { .. })));
    assert!(files.open(folder.path()).is_err() && files.open(&folder.path().join("none")).is_err());
}
