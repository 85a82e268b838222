//! The identity of the file that a path leads to. The identity is the same for all spellings of the path, and
//! for all links to the file. This module reads no file contents.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

use crate::folder::folder;

/// The key that identifies a file on this system: device and inode, or the canonical path on platforms
/// without inodes.
#[cfg(unix)]
type FileNumber = (u64, u64);
#[cfg(not(unix))]
type FileNumber = std::path::PathBuf;

/// The identity of a file, whether or not it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    There(FileNumber),
    /// A file that doesn't exist yet: the number of its folder and its name within the folder.
    Missing(FileNumber, OsString),
}

impl Identity {
    /// Returns the identity of an existing file, given its path and metadata.
    pub fn there(path: &Path, facts: &Metadata) -> io::Result<Identity> {
        number(path, facts).map(Identity::There)
    }

    /// Returns the identity of a file that doesn't exist yet.
    pub fn missing(path: &Path) -> io::Result<Identity> {
        let (folder, name) = (folder(path), path.file_name().unwrap_or_default());
        Ok(Identity::Missing(number(folder, &fs::metadata(folder)?)?, name.to_owned()))
    }

    /// Returns the identity of an open file; `None` if the platform has no file numbers or the file isn't an
    /// ordinary one.
    pub fn of_open(file: &File) -> Option<Identity> {
        let facts = file.metadata().ok().filter(Metadata::is_file)?;
        number_of_open(&facts).map(Identity::There)
    }
}

#[cfg(unix)]
fn number(_: &Path, facts: &Metadata) -> io::Result<FileNumber> {
    use std::os::unix::fs::MetadataExt as _;
    Ok((facts.dev(), facts.ino()))
}

#[cfg(unix)]
fn number_of_open(facts: &Metadata) -> Option<FileNumber> {
    number(Path::new(""), facts).ok()
}

/// Returns the canonical path, because this platform has no file numbers. Two hard links to one file
/// therefore count as different files.
#[cfg(not(unix))]
fn number(path: &Path, _: &Metadata) -> io::Result<FileNumber> {
    fs::canonicalize(path)
}

#[cfg(not(unix))]
fn number_of_open(_: &Metadata) -> Option<FileNumber> {
    None
}

/// The files that the standard streams are redirected to or from, each as a separate handle.
#[cfg(unix)]
pub(crate) mod standard {
    use std::fs::File;
    use std::io::{stderr, stdin, stdout};
    use std::os::fd::{AsFd, BorrowedFd};

    fn file(stream: BorrowedFd<'_>) -> Option<File> {
        stream.try_clone_to_owned().ok().map(File::from)
    }

    pub fn input() -> Option<File> {
        file(stdin().as_fd())
    }

    pub fn output() -> Option<File> {
        file(stdout().as_fd())
    }

    pub fn error() -> Option<File> {
        file(stderr().as_fd())
    }
}

#[cfg(not(unix))]
pub(crate) mod standard {
    use std::fs::File;

    pub fn input() -> Option<File> {
        None
    }

    pub fn output() -> Option<File> {
        None
    }

    pub fn error() -> Option<File> {
        None
    }
}
