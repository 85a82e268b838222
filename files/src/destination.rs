//! Where an output path leads: through links, to what is there or isn't yet. Opens nothing.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::folder::folder;
use crate::identity::Identity;

/// Links that lead to links, as many as Linux follows.
const LONGEST_CHAIN: usize = 40;

/// What an output path leads to.
#[derive(Debug)]
pub(crate) enum Destination {
    /// A device or a pipe, which is only written to.
    Stream,
    /// A file, by its own path, and what is known of it.
    File(PathBuf, Metadata),
    /// Nothing yet, at this path: that of the link's target where a link leads nowhere.
    New(PathBuf),
}

impl Destination {
    /// Follows a path.
    ///
    /// # Errors
    /// What the platform says; a path that can name no file.
    pub fn of(path: &Path) -> io::Result<Destination> {
        match fs::metadata(path) {
            Ok(facts) if facts.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(facts) if !facts.is_file() => Ok(Destination::Stream),
            Ok(facts) => Ok(Destination::File(fs::canonicalize(path)?, facts)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Destination::New(end_of_links(path)?)),
            Err(error) => Err(error),
        }
    }

    /// Its own path; that of a stream is the one that was followed.
    pub fn path<'p>(&'p self, followed: &'p Path) -> &'p Path {
        match self {
            Destination::Stream => followed,
            Destination::File(path, _) | Destination::New(path) => path,
        }
    }

    /// Which file it is; a stream is no file.
    pub fn identity(&self) -> io::Result<Option<Identity>> {
        match self {
            Destination::Stream => Ok(None),
            Destination::File(path, facts) => Identity::there(path, facts).map(Some),
            Destination::New(path) => Identity::missing(path).map(Some),
        }
    }
}

/// Where the links of a path end that lead to nothing.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        // A name with a separator behind it is a folder's.
        if path.file_name().is_none() || path.to_string_lossy().ends_with(std::path::is_separator) {
            return Err(ErrorKind::IsADirectory.into());
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}
