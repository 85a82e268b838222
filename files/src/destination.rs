//! Resolves an output path through symbolic links, to an existing file or to a path without a file. This
//! module opens no files.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::folder::folder;
use crate::identity::Identity;

/// The maximum number of symbolic links in a chain that is followed: 40, as on Linux.
const LONGEST_CHAIN: usize = 40;

/// The destination of an output path.
#[derive(Debug)]
pub(crate) enum Destination {
    /// A device or a pipe: data can only be written to it.
    Stream,
    /// An existing file: its canonical path and its metadata.
    File(PathBuf, Metadata),
    /// A path at which no file exists. If the output path is a dangling link, this is the path of the link's
    /// target.
    New(PathBuf),
}

impl Destination {
    /// Resolves a path through its links.
    ///
    /// # Errors
    /// Returns errors of the platform, and an error if the path can't name a file.
    pub fn of(path: &Path) -> io::Result<Destination> {
        match fs::metadata(path) {
            Ok(facts) if facts.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(facts) if !facts.is_file() => Ok(Destination::Stream),
            Ok(facts) => Ok(Destination::File(fs::canonicalize(path)?, facts)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Destination::New(end_of_links(path)?)),
            Err(error) => Err(error),
        }
    }

    /// Returns the resolved path. A stream has no resolved path: for a stream, returns `followed`, the path
    /// before resolution.
    pub fn path<'p>(&'p self, followed: &'p Path) -> &'p Path {
        match self {
            Destination::Stream => followed,
            Destination::File(path, _) | Destination::New(path) => path,
        }
    }

    /// Returns the identity of the file, or `None` for a stream.
    pub fn identity(&self) -> io::Result<Option<Identity>> {
        match self {
            Destination::Stream => Ok(None),
            Destination::File(path, facts) => Identity::there(path, facts).map(Some),
            Destination::New(path) => Identity::missing(path).map(Some),
        }
    }
}

/// Follows a chain of symbolic links and returns the path of the last target, which doesn't exist.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        // A name that ends with a separator names a folder.
        if path.file_name().is_none() || path.to_string_lossy().ends_with(std::path::is_separator) {
            return Err(ErrorKind::IsADirectory.into());
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("the path leads through too many symbolic links"))
}
