//! A file that will be written. Conflicts with other files of the command are checked twice: when the output
//! is requested and before it is written.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::destination::Destination;
use crate::folder::folder;
use crate::identity::{Identity, standard};
use crate::register::{Purpose, Register};
use crate::write;

/// The number of bytes at the beginning of a file that are read to recognize its kind.
const BEGINNING: u64 = 64 << 10;

/// A kind of file that is recognized by its content.
#[derive(Debug)]
pub struct FileKind {
    /// The name with its article: "a state file".
    pub name: &'static str,
    /// Returns true if a file is of this kind, given at most its first 64 KiB.
    pub is: fn(&[u8]) -> bool,
}

/// The condition under which an output may replace an existing file.
#[derive(Clone, Debug)]
pub enum Replaces {
    /// Only an empty file or one of this kind may be replaced.
    Kind(&'static FileKind),
    /// Only an empty file, or a file that begins with these bytes, may be replaced. Only outputs of one kind
    /// begin with these bytes. The text is the name of the kind with its article, such as "a picture".
    Beginning(&'static str, Vec<u8>),
    /// Any file may be replaced, except files that the command uses. Callers choose this variant if the user asks for
    /// it.
    Anything,
    /// The input that was read under the same name may be overwritten.
    Itself,
    /// No existing file may be replaced.
    Nothing,
}

/// A file to be written later. If the `Output` is dropped before it is written, no file changes.
#[derive(Debug)]
pub struct Output {
    used: Register,
    path: PathBuf,
    replaces: Replaces,
    /// The output's identity in the register; `None` if it is a stream.
    entered: Option<Identity>,
}

/// The reasons why a file can't or must not be written.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum WriteError {
    #[error("{} would be overwritten, but the command reads it{}", path.display(), as_named(path, input))]
    Input { path: PathBuf, input: PathBuf },
    #[error("{} would be written twice{}", path.display(), as_named(path, other))]
    Output { path: PathBuf, other: PathBuf },
    #[error("{} is the file to which {stream} is redirected", path.display())]
    Standard { path: PathBuf, stream: &'static str },
    #[error("{} already exists and is not {kind}", path.display())]
    OtherKind { path: PathBuf, kind: &'static str },
    #[error("{} already exists, and is kept", path.display())]
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

/// Returns the end of a message: the other name under which a file is in use. Returns an empty text if the
/// names are equal.
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
        ErrorKind::NotADirectory => format!("{folder} is not a folder"),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => reason(error),
    }
}

/// Returns the reason of an input or output error in words. Errors that the user can act on have the same
/// text on every platform.
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

    /// Returns true if the error is in the arguments rather than in the file system.
    pub fn is_misuse(&self) -> bool {
        !matches!(self, WriteError::Protected { .. } | WriteError::Io { .. })
    }

    /// Returns true if [`Replaces::Anything`] would avoid this error, so that a message can suggest an option
    /// that forces the replacement.
    pub fn yields_to_force(&self) -> bool {
        matches!(self, WriteError::OtherKind { .. } | WriteError::Protected { .. })
    }
}

impl Output {
    /// Checks an output path, tests whether it can be written, and enters the output in the register.
    pub(crate) fn attempt(used: Register, path: &Path, replaces: Replaces) -> Result<Output, WriteError> {
        let mut output = Output { used, path: path.to_owned(), replaces, entered: None };
        let destination = output.checked_destination()?;
        write::attempt(&destination, output.insists()).map_err(|error| output.refused(error))?;
        let identity = destination.identity().map_err(|error| WriteError::io(path, error))?;
        if let Some(identity) = &identity {
            output.used.enter(identity.clone(), Purpose::Output(path.to_owned()));
        }
        output.entered = identity;
        Ok(output)
    }

    /// The path as the caller gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file. The file appears whole, or nothing changes. If new files can't be created in its
    /// folder, the file is overwritten in place and restored on failure.
    ///
    /// # Errors
    /// Returns an error if the destination became unavailable meanwhile, or if the platform reports one.
    pub fn commit(mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.leave();
        let destination = self.checked_destination()?;
        write::commit(&self.path, &destination, self.insists(), bytes).map_err(|error| self.refused(error))
    }

    /// Opens a temporary file to which the chunks of the output are written.
    pub(crate) fn grow(&self) -> Result<write::GrowingFile, WriteError> {
        // This output's own entry in the register must not count as a conflict.
        let destination = self.checked_besides_itself()?;
        write::grow(&self.path, &destination, self.insists()).map_err(|error| self.refused(error))
    }

    /// Moves a completely written temporary file to its destination.
    pub(crate) fn commit_grown(mut self, file: write::GrowingFile) -> Result<(), WriteError> {
        self.leave();
        let destination = self.checked_destination()?;
        write::finish(file, &destination, self.insists()).map_err(|error| self.refused(error))
    }

    fn insists(&self) -> bool {
        matches!(self.replaces, Replaces::Anything)
    }

    /// Resolves and checks the path like [`Output::checked_destination`]. During the check, the output's own
    /// entry is removed from the register, because the entry would count as a conflict.
    fn checked_besides_itself(&self) -> Result<Destination, WriteError> {
        if let Some(identity) = &self.entered {
            self.used.leave(identity);
        }
        let destination = self.checked_destination();
        if let Some(identity) = &self.entered {
            self.used.enter(identity.clone(), Purpose::Output(self.path.clone()));
        }
        destination
    }

    /// Resolves the path again, and checks that the output may be written to the resolved path. Returns an
    /// error for a file in use, and for a file that `replaces` protects.
    fn checked_destination(&self) -> Result<Destination, WriteError> {
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
        // An unreadable file could be of any kind, so it isn't replaced.
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
