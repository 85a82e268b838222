//! The temporary files beside outputs, and what is left of those whose writer was killed: the next one that
//! writes into the folder removes it. A living writer holds a lock on its own.

use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use crate::folder::folder;
use crate::unfinished::{self, Noted};

/// Names are `.reviver-`, so many letters and digits, `.part`.
const PREFIX: &str = ".reviver-";
const LETTERS: usize = 12;
const SUFFIX: &str = ".part";

/// The permissions that a file begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMode {
    /// Those that the user's umask leaves.
    Usual,
    /// Nobody else's business yet.
    Private,
}

/// A temporary file beside an output. It is removed when it is dropped, and when the process ends in between.
#[derive(Debug)]
pub(crate) struct PartFile {
    // Dropped in this order: the note outlives the file.
    file: NamedTempFile,
    _noted: Noted,
}

impl PartFile {
    pub fn as_file(&self) -> &File {
        self.file.as_file()
    }

    pub fn as_file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Gives the file its name.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        self.file.persist(path).map(drop).map_err(|error| error.error)
    }
}

/// A new file in the folder of another.
pub(crate) fn beside(path: &Path, mode: FileMode) -> io::Result<PartFile> {
    let folder = folder(path);
    system::sweep(folder);
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(LETTERS);
    loop {
        let mut noted = None;
        let file = builder.make_in(folder, |path| {
            let file = system::create(path, mode)?;
            // Before anything else can fail.
            noted = Some(unfinished::note(path));
            Ok(file)
        })?;
        let part = PartFile { file, _noted: noted.unwrap_or_default() };
        // Between its making and its locking, somebody may have taken it for a rest.
        if system::hold(part.as_file())? {
            return Ok(part);
        }
    }
}

/// Whether a name is one of those that are given here.
fn is_ours(name: &str) -> bool {
    let middle = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX));
    middle.is_some_and(|middle| middle.len() == LETTERS && middle.bytes().all(|b| b.is_ascii_alphanumeric()))
}

#[cfg(unix)]
mod system {
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
    use std::path::Path;

    use rustix::fs::{FlockOperation, OFlags, flock};

    use super::FileMode;

    /// Creates a file that isn't there. The umask is taken from its permissions.
    pub fn create(path: &Path, mode: FileMode) -> io::Result<File> {
        let permissions = match mode {
            FileMode::Usual => 0o666,
            FileMode::Private => 0o600,
        };
        OpenOptions::new().read(true).write(true).create_new(true).mode(permissions).open(path)
    }

    /// Locks a file as long as it is open. False if it has lost its name meanwhile. A file system without
    /// locks has nobody who sweeps either.
    pub fn hold(file: &File) -> io::Result<bool> {
        flock(file, FlockOperation::LockExclusive).ok();
        Ok(file.metadata()?.nlink() > 0)
    }

    /// Removes the rests in a folder, as far as that can be done.
    pub fn sweep(folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(super::is_ours) {
                remove_dead(&entry.path()).ok();
            }
        }
    }

    /// Removes a file that nobody holds.
    fn remove_dead(path: &Path) -> io::Result<()> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        let file = OpenOptions::new().read(true).custom_flags(flags as i32).open(path)?;
        if file.metadata()?.is_file() {
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            fs::remove_file(path)?;
        }
        Ok(())
    }
}

/// A file in use can't be removed here, and there is no telling which one is.
#[cfg(not(unix))]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::path::Path;

    use super::FileMode;

    pub fn create(path: &Path, _: FileMode) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path)
    }

    pub fn hold(_: &File) -> io::Result<bool> {
        Ok(true)
    }

    pub fn sweep(_: &Path) {}
}
