//! The interface by which the assembler reads included files, with implementations for the disk and for
//! memory.
//!
//! This module handles paths and bytes, and doesn't interpret contents.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use reviver_files::{Content, ReadError, UsedFiles};
use reviver_isa::names::printable;

/// A source of files.
pub trait Files {
    /// Reads the file `path`, which the file named `from` includes; `from` is empty for the program itself.
    /// Returns the canonical name and the bytes of the included file, or an error message.
    fn read(&self, path: &str, from: &str) -> Result<(String, Vec<u8>), String>;

    /// Returns the path that an include in the file named `from` must contain to refer to the file named
    /// `name`. The file `from` need not exist.
    fn path(&self, name: &str, from: &str) -> String;
}

/// Files on disk, which are registered as inputs. A path is relative to the file that includes it.
impl Files for UsedFiles {
    fn read(&self, path: &str, from: &str) -> Result<(String, Vec<u8>), String> {
        let wanted = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
        let why = |error: ReadError| refusal(&wanted, &error);
        // Pipes are rejected before they are opened: opening one would block until it has a writer.
        let facts = fs::metadata(&wanted).map_err(|error| why(error.into()))?;
        if !facts.is_file() && !facts.is_dir() {
            return Err(format!("`{}` is not a regular file", shown(&wanted)));
        }
        let bytes = UsedFiles::read(self, &wanted, Content::Text).map_err(why)?;
        let name = one_name(&fs::canonicalize(&wanted).map_err(|error| why(error.into()))?);
        Ok((name, bytes))
    }

    fn path(&self, name: &str, from: &str) -> String {
        let whole = |path: &Path| fs::canonicalize(if path == Path::new("") { Path::new(".") } else { path });
        let folder = whole(Path::new(from).parent().unwrap_or(Path::new("")));
        match (whole(Path::new(name)), folder) {
            (Ok(file), Ok(folder)) => relative_path(&folder, &file),
            _ => name.to_owned(),
        }
    }
}

/// Returns a path as text for a message.
fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

fn refusal(path: &Path, error: &ReadError) -> String {
    let path = shown(path);
    match error {
        ReadError::NotFound => format!("there is no file `{path}`"),
        ReadError::Denied => format!("no permission to read `{path}`"),
        ReadError::Folder => format!("`{path}` is a directory"),
        _ => format!("`{path}` can't be read: {error}"),
    }
}

/// Files on disk, for callers that needn't know which files were read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &str, from: &str) -> Result<(String, Vec<u8>), String> {
        Files::read(&UsedFiles::default(), path, from)
    }

    fn path(&self, name: &str, from: &str) -> String {
        Files::path(&UsedFiles::default(), name, from)
    }
}

/// Returns a unique name of a file for messages: a relative path if the file is below the current directory,
/// otherwise an absolute path.
fn one_name(path: &Path) -> String {
    let here = std::env::current_dir().and_then(fs::canonicalize);
    let shown = here.ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    shown.display().to_string()
}

/// Files in memory, for tests and editors.
#[derive(Clone, Debug, Default)]
pub struct FilesInMemory {
    files: HashMap<String, Vec<u8>>,
}

impl FilesInMemory {
    /// Returns an empty set of files.
    pub fn new() -> FilesInMemory {
        FilesInMemory::default()
    }

    /// Adds a file, or replaces it.
    #[must_use]
    pub fn with(mut self, name: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> FilesInMemory {
        self.files.insert(plain(name.as_ref()), bytes.into());
        self
    }
}

impl Files for FilesInMemory {
    fn read(&self, path: &str, from: &str) -> Result<(String, Vec<u8>), String> {
        let name = plain(&Path::new(from).parent().unwrap_or(Path::new("")).join(path));
        match self.files.get(&name) {
            Some(bytes) => Ok((name, bytes.clone())),
            None => Err(format!("there is no file `{name}`")),
        }
    }

    fn path(&self, name: &str, from: &str) -> String {
        relative_path(Path::new(from).parent().unwrap_or(Path::new("")), Path::new(name))
    }
}

/// Returns the relative path from a folder to a file. Both must be absolute or relative to the same folder.
fn relative_path(folder: &Path, file: &Path) -> String {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    if file.is_absolute() && shared == 0 {
        return file.display().to_string();
    }
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let down = file.components().skip(shared);
    let parts: Vec<_> = up.chain(down).map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Returns the path without `.` and `..`.
fn plain(path: &Path) -> String {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain.display().to_string()
}
