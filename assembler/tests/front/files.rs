//! Tests of reading included files.

use std::fs;
use std::path::Path;

use reviver_assembler::files::{Disk, Files, FilesInMemory};

/// A temporary directory for one test, which is removed at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("reviver-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("lib")).expect("a temporary directory");
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn paths_are_relative_to_the_including_file() {
    let folder = Folder::new("relative");
    fs::write(folder.path("lib/a.rasm"), "; a\n").expect("written");
    fs::write(folder.path("b.rasm"), "; b\n").expect("written");
    let (a, bytes) = Disk.read("lib/a.rasm", &folder.path("main.rasm")).expect("it is there");
    assert_eq!(bytes, b"; a\n");
    let (b, bytes) = Disk.read("../b.rasm", &a).expect("it is there");
    assert_eq!(bytes, b"; b\n");
    let (again, _) = Disk.read("./lib/../b.rasm", &folder.path("main.rasm")).expect("it is there");
    assert_eq!(b, again, "one file has one name");
}

#[test]
fn a_path_that_is_no_regular_file_is_reported() {
    let folder = Folder::new("none");
    let main = folder.path("main.rasm");
    let missing = Disk.read("none.rasm", &main).expect_err("it is missing");
    assert_eq!(missing, format!("there is no file `{}`", folder.path("none.rasm")));
    let directory = Disk.read("lib", &main).expect_err("it is a directory");
    assert_eq!(directory, format!("`{}` is a directory", folder.path("lib")));
    if Path::new("/dev/zero").exists() {
        assert_eq!(Disk.read("/dev/zero", &main), Err("`/dev/zero` is not a regular file".into()));
    }
}

#[test]
fn files_in_memory() {
    let files = FilesInMemory::new().with("lib/a.rasm", "; a\n").with("b.rasm", "; b\n");
    assert_eq!(files.read("lib/a.rasm", "main.rasm"), Ok(("lib/a.rasm".into(), b"; a\n".to_vec())));
    assert_eq!(files.read("../b.rasm", "lib/a.rasm"), Ok(("b.rasm".into(), b"; b\n".to_vec())));
    assert_eq!(files.read("c.rasm", "lib/a.rasm"), Err("there is no file `lib/c.rasm`".into()));
}
