//! Writes bytes to a destination. Usually the bytes are written to a temporary file next to the destination,
//! and the temporary file is renamed. If that isn't possible, the destination is overwritten in place. The
//! caller has checked that the destination may be replaced.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek as _, Write as _};
use std::path::Path;

use reviver_memory::ask;

use crate::destination::Destination;
use crate::folder::folder;
use crate::rests::{self, FileMode, PartFile};

/// The reasons why nothing was written.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The file exists, and this user must not write it.
    Protected,
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Io(error)
    }
}

/// Tests whether a destination can be written, without changing anything. If `insists` is true, write
/// protection of the file is ignored, provided that its folder can be written.
pub(crate) fn attempt(destination: &Destination, insists: bool) -> Result<(), Refusal> {
    match destination {
        // Opening a pipe waits for its reader, so streams aren't tested.
        Destination::Stream => Ok(()),
        Destination::New(path) => Ok(tempfile::tempfile_in(folder(path)).map(drop)?),
        Destination::File(path, _) => {
            let is_writable = is_writable(path)?;
            if !is_writable && !insists {
                return Err(Refusal::Protected);
            }
            match tempfile::tempfile_in(folder(path)) {
                Err(error) if !(is_writable && is_denied(&error)) => Err(Refusal::Io(error)),
                _ => Ok(()),
            }
        }
    }
}

/// Writes a file. If the destination is a stream, `path` is opened.
pub(crate) fn commit(
    path: &Path,
    destination: &Destination,
    insists: bool,
    bytes: &[u8],
) -> Result<(), Refusal> {
    match destination {
        Destination::Stream => {
            let mut stream = OpenOptions::new().write(true).open(path)?;
            Ok(stream.write_all(bytes).and_then(|()| stream.flush())?)
        }
        Destination::New(path) => Ok(renamed(rests::beside(path, FileMode::Usual)?, path, bytes)?),
        Destination::File(path, old) => {
            if !insists && !is_writable(path)? {
                return Err(Refusal::Protected);
            }
            Ok(replace(path, old, bytes)?)
        }
    }
}

/// An output that is being written in chunks.
#[derive(Debug)]
pub(crate) enum GrowingFile {
    /// A device or a pipe: chunks are written to it directly.
    Stream(File),
    /// A temporary file next to the destination.
    Beside(PartFile),
    /// A temporary file elsewhere, if none can be created next to the destination.
    Apart(File),
}

/// Begins an output that is written in chunks. If the destination is a stream, `path` is opened.
pub(crate) fn grow(path: &Path, destination: &Destination, insists: bool) -> Result<GrowingFile, Refusal> {
    match destination {
        Destination::Stream => Ok(GrowingFile::Stream(OpenOptions::new().write(true).open(path)?)),
        Destination::New(path) => Ok(GrowingFile::Beside(rests::beside(path, FileMode::Usual)?)),
        Destination::File(path, old) => {
            if !insists && !is_writable(path)? {
                return Err(Refusal::Protected);
            }
            match rests::beside(path, FileMode::Private) {
                Err(error) if is_denied(&error) => Ok(GrowingFile::Apart(tempfile::tempfile()?)),
                Err(error) => Err(error.into()),
                Ok(new) if takes_owner(new.as_file(), old)? => Ok(GrowingFile::Beside(new)),
                Ok(_) => Ok(GrowingFile::Apart(tempfile::tempfile()?)),
            }
        }
    }
}

/// Moves a complete output to its destination.
pub(crate) fn finish(file: GrowingFile, destination: &Destination, insists: bool) -> Result<(), Refusal> {
    match (file, destination) {
        (GrowingFile::Stream(mut stream), _) => Ok(stream.flush()?),
        (GrowingFile::Beside(new), Destination::New(path)) => Ok(named(new, path)?),
        (_, Destination::File(path, _)) if !insists && !is_writable(path)? => Err(Refusal::Protected),
        (GrowingFile::Beside(new), Destination::File(path, old)) => {
            new.as_file().set_permissions(old.permissions())?;
            Ok(named(new, path)?)
        }
        (GrowingFile::Apart(mut file), Destination::File(path, _) | Destination::New(path)) => {
            let mut bytes = Vec::new();
            file.rewind()?;
            ask::read_to_end(&mut file, &mut bytes)?;
            Ok(in_place(path, &bytes)?)
        }
        (GrowingFile::Beside(_) | GrowingFile::Apart(_), Destination::Stream) => {
            Err(io::Error::other("it has become a device or a pipe meanwhile").into())
        }
    }
}

impl GrowingFile {
    fn file(&mut self) -> &mut File {
        match self {
            GrowingFile::Stream(file) | GrowingFile::Apart(file) => file,
            GrowingFile::Beside(file) => file.as_file_mut(),
        }
    }
}

impl io::Write for GrowingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl io::Seek for GrowingFile {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file().seek(to)
    }
}

/// Replaces a file by a new one with the same owner and permissions. If that isn't possible, overwrites the
/// old file in place.
fn replace(path: &Path, old: &Metadata, bytes: &[u8]) -> io::Result<()> {
    let new = match rests::beside(path, FileMode::Private) {
        Err(error) if is_denied(&error) => return in_place(path, bytes),
        new => new?,
    };
    if !takes_owner(new.as_file(), old)? {
        drop(new);
        return in_place(path, bytes);
    }
    new.as_file().set_permissions(old.permissions())?;
    renamed(new, path, bytes)
}

/// Writes a temporary file and renames it to the destination. If the system crashes meanwhile, the path leads
/// to the complete old content or to the complete new one.
fn renamed(mut new: PartFile, path: &Path, bytes: &[u8]) -> io::Result<()> {
    new.as_file_mut().write_all(bytes)?;
    named(new, path)
}

/// Renames a complete temporary file to its destination.
fn named(new: PartFile, path: &Path) -> io::Result<()> {
    new.as_file().sync_all()?;
    new.persist(path)?;
    // The rename is durable only after the folder is synchronized.
    if let Ok(folder) = File::open(folder(path)) {
        folder.sync_all().ok();
    }
    Ok(())
}

/// Overwrites a file that can't be replaced by a new one. If writing fails, the old content is restored as
/// far as possible.
fn in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut old = Vec::new();
    ask::read_to_end(&mut file, &mut old)?;
    let outcome = overwrite(&mut file, bytes);
    if outcome.is_err() {
        overwrite(&mut file, &old).ok();
    }
    outcome
}

fn overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

/// Returns true if this user may write an existing file.
fn is_writable(path: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_denied(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied
}

/// Gives a new file the owner and the group of the old file. Returns false if this user isn't permitted to
/// change them.
#[cfg(unix)]
fn takes_owner(new: &File, old: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let own = new.metadata()?;
    let owner = Some(old.uid()).filter(|uid| *uid != own.uid());
    let group = Some(old.gid()).filter(|gid| *gid != own.gid());
    match owner.is_none() && group.is_none() {
        true => Ok(true),
        false => match fchown(new, owner, group) {
            Ok(()) => Ok(true),
            Err(error) if is_denied(&error) => Ok(false),
            Err(error) => Err(error),
        },
    }
}

#[cfg(not(unix))]
fn takes_owner(_: &File, _: &Metadata) -> io::Result<bool> {
    Ok(true)
}
