//! A file that is going to be written: what may be in its way, asked before and again when it is due.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::destination::Destination;
use crate::folder::folder;
use crate::identity::{Identity, standard};
use crate::register::{Purpose, Register};
use crate::write;

/// So many bytes at the beginning of a file show what it is.
const BEGINNING: u64 = 64 << 10;

/// A kind of file, which its content shows.
#[derive(Debug)]
pub struct FileKind {
    /// With its article: "a state file".
    pub name: &'static str,
    /// Whether a file is of this kind, by its first bytes: at most 64 KiB of them.
    pub is: fn(&[u8]) -> bool,
}

/// What an output may replace.
#[derive(Clone, Debug)]
pub enum Replaces {
    /// An empty file, or one of this kind.
    Kind(&'static FileKind),
    /// An empty file, or one that begins with these bytes, which only an earlier output does: the name of that kind, with its article.
    Beginning(&'static str, Vec<u8>),
    /// Whatever is there, but for the files that are in use: the user insists.
    Anything,
    /// The input that has been read under the same name, which is written again.
    Itself,
    /// Nothing at all: what is there stays.
    Nothing,
}

/// A file to write later; dropped unwritten, it leaves everything as it was.
#[derive(Debug)]
pub struct Output {
    used: Register,
    path: PathBuf,
    replaces: Replaces,
    /// What stands in the register for it; nothing if it is a stream.
    entered: Option<Identity>,
}

/// Why a file can't be written, or may not.
#[derive(Debug, Error)]
pub enum WriteError {
    #[error("{} would be overwritten, and is read here{}", path.display(), as_named(path, input))]
    Input { path: PathBuf, input: PathBuf },
    #[error("{} would be written twice{}", path.display(), as_named(path, other))]
    Output { path: PathBuf, other: PathBuf },
    #[error("{} is where {stream} goes", path.display())]
    Standard { path: PathBuf, stream: &'static str },
    #[error("{} is there already and is not {kind}", path.display())]
    OtherKind { path: PathBuf, kind: &'static str },
    #[error("{} is there already, and is kept", path.display())]
    Kept { path: PathBuf },
    #[error("can't write {}: it is write-protected", path.display())]
    Protected { path: PathBuf },
    #[error("can't write {}: {}", path.display(), in_words(path, error))]
    Io {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
}

/// Under which other name a file is in use.
fn as_named(path: &Path, other: &Path) -> String {
    if path == other {
        String::new()
    } else if other == Path::new("-") {
        " as standard input".to_owned()
    } else {
        format!(" as {}", other.display())
    }
}

fn in_words(path: &Path, error: &io::Error) -> String {
    let folder = folder(path).display();
    match error.kind() {
        ErrorKind::NotFound => format!("there is no folder {folder}"),
        ErrorKind::NotADirectory => format!("{folder} is no folder"),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => reason(error),
    }
}

/// Why the system couldn't read or write, in words that are the same on every platform where they say what to do.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::QuotaExceeded => "it would exceed the quota of disk space".to_owned(),
        ErrorKind::FileTooLarge => "the system allows no file of this size".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "its file system is read-only".to_owned(),
        _ => error.to_string(),
    }
}

impl WriteError {
    pub(crate) fn io(path: &Path, error: io::Error) -> WriteError {
        WriteError::Io { path: path.to_owned(), error }
    }

    /// Whether it is the arguments that make no sense, rather than the file system that refuses.
    pub fn is_misuse(&self) -> bool {
        !matches!(self, WriteError::Protected { .. } | WriteError::Io { .. })
    }

    /// Whether the user could insist: [`Replaces::Anything`] wouldn't be refused for this.
    pub fn yields_to_force(&self) -> bool {
        matches!(self, WriteError::OtherKind { .. } | WriteError::Protected { .. })
    }
}

impl Output {
    /// Judges a path and tries whether it could be written.
    pub(crate) fn attempt(used: Register, path: &Path, replaces: Replaces) -> Result<Output, WriteError> {
        let mut output = Output { used, path: path.to_owned(), replaces, entered: None };
        let destination = output.judged()?;
        write::attempt(&destination, output.insists()).map_err(|error| output.refused(error))?;
        let identity = destination.identity().map_err(|error| WriteError::io(path, error))?;
        if let Some(identity) = &identity {
            output.used.enter(identity.clone(), Purpose::Output(path.to_owned()));
        }
        output.entered = identity;
        Ok(output)
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file. It appears whole, or everything stays as it was; only where its folder can't be written
    /// it is written in place, and put back if that fails.
    ///
    /// # Errors
    /// What has come into the way since, or what the platform says.
    pub fn commit(mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.leave();
        let destination = self.judged()?;
        write::commit(&self.path, &destination, self.insists(), bytes).map_err(|error| self.refused(error))
    }

    /// Where pieces of the file can go until it is whole.
    pub(crate) fn grow(&self) -> Result<write::GrowingFile, WriteError> {
        // What is in the register for this output is itself.
        let destination = self.judged_besides_itself()?;
        write::grow(&self.path, &destination, self.insists()).map_err(|error| self.refused(error))
    }

    /// Puts a file that has grown in its place.
    pub(crate) fn commit_grown(mut self, file: write::GrowingFile) -> Result<(), WriteError> {
        self.leave();
        let destination = self.judged()?;
        write::finish(file, &destination, self.insists()).map_err(|error| self.refused(error))
    }

    fn insists(&self) -> bool {
        matches!(self.replaces, Replaces::Anything)
    }

    /// Where the path leads now, if the rules allow to write there, by whoever asks before the output is out of the register.
    fn judged_besides_itself(&self) -> Result<Destination, WriteError> {
        if let Some(identity) = &self.entered {
            self.used.leave(identity);
        }
        let destination = self.judged();
        if let Some(identity) = &self.entered {
            self.used.enter(identity.clone(), Purpose::Output(self.path.clone()));
        }
        destination
    }

    /// Where the path leads now, if the rules allow to write there.
    fn judged(&self) -> Result<Destination, WriteError> {
        let io = |error| WriteError::io(&self.path, error);
        let destination = Destination::of(&self.path).map_err(io)?;
        let identity =
            destination.identity().map_err(|error| WriteError::io(destination.path(&self.path), error))?;
        if let Some(identity) = identity {
            self.check_use(&identity)?;
        }
        if let Destination::File(target, _) = &destination {
            self.check_kind(target)?;
        }
        Ok(destination)
    }

    fn check_use(&self, identity: &Identity) -> Result<(), WriteError> {
        let path = self.path.clone();
        let standard = [(standard::output(), "standard output"), (standard::error(), "standard error")];
        for (file, stream) in standard {
            if file.as_ref().and_then(Identity::of_open).as_ref() == Some(identity) {
                return Err(WriteError::Standard { path, stream });
            }
        }
        match self.used.purpose(identity) {
            Some(Purpose::Input(_)) if matches!(self.replaces, Replaces::Itself) => Ok(()),
            Some(Purpose::Input(input)) => Err(WriteError::Input { path, input }),
            Some(Purpose::Output(other)) => Err(WriteError::Output { path, other }),
            None => Ok(()),
        }
    }

    fn check_kind(&self, target: &Path) -> Result<(), WriteError> {
        let mut beginning = Vec::new();
        let read = File::open(target).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
        let (kind, is) = match &self.replaces {
            Replaces::Kind(kind) => (kind.name, (kind.is)(&beginning)),
            Replaces::Beginning(kind, mark) => {
                let is_cut = beginning.len() as u64 == BEGINNING && mark.starts_with(&beginning);
                (*kind, beginning.starts_with(mark) || is_cut)
            }
            Replaces::Anything | Replaces::Itself => return Ok(()),
            Replaces::Nothing => return Err(WriteError::Kept { path: self.path.clone() }),
        };
        // What can't be read could be anything.
        if read.is_ok() && (beginning.is_empty() || is) {
            return Ok(());
        }
        Err(WriteError::OtherKind { path: self.path.clone(), kind })
    }

    fn refused(&self, error: write::Refusal) -> WriteError {
        match error {
            write::Refusal::Protected => WriteError::Protected { path: self.path.clone() },
            write::Refusal::Io(error) => WriteError::io(&self.path, error),
        }
    }

    fn leave(&mut self) {
        if let Some(identity) = self.entered.take() {
            self.used.leave(&identity);
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.leave();
    }
}
