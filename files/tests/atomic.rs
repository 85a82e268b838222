//! Tests that a file is replaced as a whole: a concurrent reader sees the complete old content or the
//! complete new one. Permissions are kept.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use reviver_files::{Content, FileKind, Replaces, UsedFiles, WriteError};

static LETTERS: FileKind = FileKind { name: "a file of letters", is: |bytes| bytes.is_ascii() };

fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    UsedFiles::default().output(path, Replaces::Kind(&LETTERS))?.commit(bytes)
}

#[test]
fn open_files_keep_their_old_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    write(&path, b"old").unwrap();
    let mut open = File::open(&path).unwrap();
    write(&path, b"new content").unwrap();
    let mut kept = String::new();
    open.rewind().unwrap();
    open.read_to_string(&mut kept).unwrap();
    assert_eq!((kept.as_str(), fs::read_to_string(&path).unwrap().as_str()), ("old", "new content"));
}

#[cfg(unix)]
#[test]
fn another_name_of_a_file_keeps_its_old_content() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("file"), folder.path().join("other"));
    fs::write(&path, "old").unwrap();
    fs::hard_link(&path, &other).unwrap();
    write(&path, b"new").unwrap();
    assert_eq!((fs::read(&path).unwrap(), fs::read(&other).unwrap()), (b"new".to_vec(), b"old".to_vec()));
    assert_ne!(fs::metadata(&path).unwrap().ino(), fs::metadata(&other).unwrap().ino());
}

#[test]
fn a_reader_never_sees_half_a_file() {
    const LENGTH: usize = 1 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    write(&path, &vec![b'a'; LENGTH]).unwrap();
    let is_done = AtomicBool::new(false);
    let reads = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !is_done.load(Ordering::Relaxed) {
                let seen = fs::read(&path).unwrap();
                assert_eq!(seen.len(), LENGTH, "a torn file");
                assert!(seen.iter().all(|byte| *byte == seen[0]), "a mixed file");
                reads += 1;
            }
            reads
        });
        for n in 0..100 {
            write(&path, &vec![b'a' + n % 26; LENGTH]).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert!(reads > 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for mode in [0o600, 0o640, 0o755, 0o666, 0o4711] {
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode, "{mode:o}");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::remove_file(&path).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn only_unfinished_files_of_ended_processes_are_removed() {
    use rustix::fs::{FlockOperation, flock};
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (dead, living) = (".reviver-abcdefABC123.part", ".reviver-living000000.part");
    let strangers = [
        ".reviver-abc.part",
        ".reviver-notes",
        ".reviver-abcdefABC12.part",
        "x.part",
        ".reviver-abcdef_BC123.part",
    ];
    for name in strangers.into_iter().chain([dead, living]) {
        fs::write(path(name), "half").unwrap();
    }
    std::os::unix::fs::symlink(path("x.part"), path(".reviver-linked000000.part")).unwrap();
    let held = File::open(path(living)).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    write(&path("file"), b"new").unwrap();
    assert!(!path(dead).exists(), "nobody writes it any more");
    for name in strangers.into_iter().chain([living, "file"]) {
        assert!(path(name).exists(), "{name}");
    }
    drop(held);
    write(&path("file"), b"newer").unwrap();
    assert!(!path(living).exists());
}

#[test]
fn an_output_differs_from_inputs_and_other_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    fs::write(&input, "text").unwrap();
    let used = UsedFiles::default();
    used.read(&input, Content::Text).unwrap();
    let around = folder.path().join(".").join("input");
    for replaces in [Replaces::Kind(&LETTERS), Replaces::Anything] {
        assert!(matches!(used.output(&around, replaces.clone()), Err(WriteError::Input { .. })));
        let first = used.output(&output, replaces.clone()).unwrap();
        assert!(matches!(used.output(&output, replaces.clone()), Err(WriteError::Output { .. })));
        drop(first);
        used.output(&output, replaces).unwrap().commit(b"one").unwrap();
    }
    used.output(&input, Replaces::Itself).unwrap().commit(b"TEXT").unwrap();
    // A file that became an input after the request is detected when the output is written.
    let late = used.output(&output, Replaces::Anything).unwrap();
    used.read(&output, Content::Data).unwrap();
    assert!(matches!(late.commit(b"two"), Err(WriteError::Input { .. })));
    assert_eq!((fs::read(&input).unwrap(), fs::read(&output).unwrap()), (b"TEXT".to_vec(), b"one".to_vec()));
}

#[cfg(target_os = "linux")]
#[test]
fn reading_ends() {
    let used = UsedFiles::default();
    for content in [Content::Text, Content::Data] {
        let error = used.read(Path::new("/dev/zero"), content).unwrap_err();
        assert!(error.to_string().contains("more than 256 MiB"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let sparse = folder.path().join("sparse");
    File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
    let error = used.read(&sparse, Content::Text).unwrap_err();
    assert!(error.to_string().contains("the maximum size of a text"), "{error}");
}
