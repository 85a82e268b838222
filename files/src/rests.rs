//! Temporary files next to outputs. A process that was killed leaves its temporary files behind; the next
//! process that writes into the folder removes them. The files of a live process are kept, because the process
//! holds a lock on them.

use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use crate::folder::folder;
use crate::unfinished::{self, Noted};

/// The beginning of the name of a temporary file. After it, the name has 12 letters or digits, and `.part`.
const PREFIX: &str = ".reviver-";
const LETTERS: usize = 12;
const SUFFIX: &str = ".part";

/// The initial permissions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMode {
    /// The permissions that the user's umask allows.
    Usual,
    /// Readable and writable by the owner only.
    Private,
}

/// A temporary file next to an output. The file is removed on drop; a process that ends early removes the file,
/// too.
#[derive(Debug)]
pub(crate) struct PartFile {
    // Fields drop in this order: first the file, then its entry in the list of unfinished files.
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

    /// Renames the file to its final path.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        self.file.persist(path).map(drop).map_err(|error| error.error)
    }
}

/// Creates a temporary file in the folder of another file.
pub(crate) fn beside(path: &Path, mode: FileMode) -> io::Result<PartFile> {
    let folder = folder(path);
    system::sweep(folder);
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(LETTERS);
    loop {
        let mut noted = None;
        let file = builder.make_in(folder, |path| {
            let file = system::create(path, mode)?;
            // The file is noted before anything else, because any later call may fail.
            noted = Some(unfinished::note(path));
            Ok(file)
        })?;
        let part = PartFile { file, _noted: noted.unwrap_or_default() };
        // Another process may have removed the file as stale between its creation and its lock.
        if system::hold(part.as_file())? {
            return Ok(part);
        }
    }
}

/// Returns true if a name has the form of our temporary files.
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

    /// Creates a file, and fails if it exists. The umask is subtracted from the permissions of `mode`.
    pub fn create(path: &Path, mode: FileMode) -> io::Result<File> {
        let permissions = match mode {
            FileMode::Usual => 0o666,
            FileMode::Private => 0o600,
        };
        OpenOptions::new().read(true).write(true).create_new(true).mode(permissions).open(path)
    }

    /// Locks a file until it is closed. Returns false if the file was removed before it was locked. A failure
    /// to lock isn't reported: on a file system without locks, stale files aren't removed either.
    pub fn hold(file: &File) -> io::Result<bool> {
        flock(file, FlockOperation::LockExclusive).ok();
        Ok(file.metadata()?.nlink() > 0)
    }

    /// Removes the stale temporary files of a folder and ignores failures.
    pub fn sweep(folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(super::is_ours) {
                remove_dead(&entry.path()).ok();
            }
        }
    }

    /// Removes a temporary file, unless a process holds a lock on it.
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

/// The same functions for platforms that can't remove open files. On these platforms, stale files can't be
/// distinguished from files in use, so no file is removed.
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
