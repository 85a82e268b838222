//! The temporary files beside outputs, and what is left of those whose writer was killed: the next one that
//! writes into the folder removes it. A living writer holds a lock on its own.

use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use crate::folder::folder;

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

/// A new file in the folder of another.
pub(crate) fn beside(path: &Path, mode: FileMode) -> io::Result<NamedTempFile> {
    let folder = folder(path);
    system::sweep(folder);
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(LETTERS);
    if mode == FileMode::Usual {
        system::usual(&mut builder);
    }
    loop {
        let file = builder.tempfile_in(folder)?;
        // Between its making and its locking, somebody may have taken it for a rest.
        if system::hold(file.as_file())? {
            return Ok(file);
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
    use std::fs::{self, File, OpenOptions, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
    use std::path::Path;

    use rustix::fs::{FlockOperation, OFlags, flock};
    use tempfile::Builder;

    /// Permissions that the umask is taken from.
    pub fn usual(builder: &mut Builder<'_, '_>) {
        builder.permissions(Permissions::from_mode(0o666));
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
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use tempfile::Builder;

    pub fn usual(_: &mut Builder<'_, '_>) {}

    pub fn hold(_: &File) -> io::Result<bool> {
        Ok(true)
    }

    pub fn sweep(_: &Path) {}
}
