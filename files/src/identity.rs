//! Which file a path leads to, however it is spelled and through whatever links. Reads no content.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

use crate::folder::folder;

/// What tells one file of the system from all others.
#[cfg(unix)]
type FileNumber = (u64, u64);
#[cfg(not(unix))]
type FileNumber = std::path::PathBuf;

/// A file, there or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    There(FileNumber),
    /// Not there yet: its folder, and its name in that.
    Missing(FileNumber, OsString),
}

impl Identity {
    /// The file at a path, with the facts about it.
    pub fn there(path: &Path, facts: &Metadata) -> io::Result<Identity> {
        number(path, facts).map(Identity::There)
    }

    /// A file that isn't there yet.
    pub fn missing(path: &Path) -> io::Result<Identity> {
        let (folder, name) = (folder(path), path.file_name().unwrap_or_default());
        Ok(Identity::Missing(number(folder, &fs::metadata(folder)?)?, name.to_owned()))
    }

    /// The file behind an open one; none where the platform doesn't tell, or if it is no ordinary file.
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

/// Two names of one file by hard links are told apart here.
#[cfg(not(unix))]
fn number(path: &Path, _: &Metadata) -> io::Result<FileNumber> {
    fs::canonicalize(path)
}

#[cfg(not(unix))]
fn number_of_open(_: &Metadata) -> Option<FileNumber> {
    None
}

/// The files that the standard streams are redirected to or from, as open files of their own.
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
