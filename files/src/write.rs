//! How bytes get to their destination: a new file beside it that takes its name, or the file itself where that can't
//! be. Asks nobody whether they should.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek as _, Write as _};
use std::path::Path;

use reviver_memory::ask;

use crate::destination::Destination;
use crate::folder::folder;
use crate::rests::{self, FileMode, PartFile};

/// Why nothing was written.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The file is there, and this user may not write it.
    Protected,
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Io(error)
    }
}

/// Tries what writing to a destination needs, and leaves nothing behind. `insists`: a file's protection doesn't
/// count, where its folder can be written.
pub(crate) fn attempt(destination: &Destination, insists: bool) -> Result<(), Refusal> {
    match destination {
        // Opening a pipe waits for its reader.
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

/// Writes a file. `path` is how a stream is opened.
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

/// A file on its way to a destination.
#[derive(Debug)]
pub(crate) enum GrowingFile {
    /// A device or a pipe, which has what was written.
    Stream(File),
    /// A new file beside the destination.
    Beside(PartFile),
    /// A file elsewhere, where there can be none beside the destination.
    Apart(File),
}

/// Begins a file. `path` is how a stream is opened.
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

/// Gives a file that is whole its place.
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

/// Replaces a file by a new one with its owner and permissions; where that can't be had, writes into it.
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

/// Fills a new file, and gives it the name of the old one. After a crash the name leads to the old content or
/// to the new one.
fn renamed(mut new: PartFile, path: &Path, bytes: &[u8]) -> io::Result<()> {
    new.as_file_mut().write_all(bytes)?;
    named(new, path)
}

/// Gives a whole file its name.
fn named(new: PartFile, path: &Path) -> io::Result<()> {
    new.as_file().sync_all()?;
    new.persist(path)?;
    // The rename itself is durable once the folder is.
    if let Ok(folder) = File::open(folder(path)) {
        folder.sync_all().ok();
    }
    Ok(())
}

/// Writes into a file that can't be replaced. If that fails, what was there is put back as well as it can be.
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

/// Whether a file that is there may be written by this user.
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

/// Whether a new file could be given the owner and the group of the old one.
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
