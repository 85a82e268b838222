//! The files that a command reads, and the outputs that it requests. All of them are registered in one
//! register.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::identity::{Identity, standard};
use crate::output::{Output, Replaces, WriteError};
use crate::read::{Content, ReadError, bounded};
use crate::register::{Purpose, Register};

/// The files that a command reads or is going to write. Clones share one register.
#[derive(Clone, Debug, Default)]
pub struct UsedFiles {
    register: Register,
}

impl UsedFiles {
    /// Reads a whole file, and registers it as an input.
    ///
    /// # Errors
    /// Returns an error if the file can't be read or is larger than its type of content allows.
    pub fn read(&self, path: &Path, content: Content) -> Result<Vec<u8>, ReadError> {
        let (file, facts) = self.entered(path)?;
        bounded(file, length(&facts), content)
    }

    /// Opens a file to be read in chunks, and registers it as an input.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn open(&self, path: &Path) -> Result<OpenInput, ReadError> {
        self.entered(path).map(|(file, _)| OpenInput(file))
    }

    /// Opens a file; a folder is an error. An ordinary file is registered as an input.
    fn entered(&self, path: &Path) -> Result<(File, Metadata), ReadError> {
        let file = File::open(path)?;
        let facts = file.metadata()?;
        if facts.is_dir() {
            return Err(ReadError::Folder);
        }
        if facts.is_file() {
            self.register.enter(Identity::there(path, &facts)?, Purpose::Input(path.to_owned()));
        }
        Ok((file, facts))
    }

    /// Opens standard input to be read in chunks. If it is redirected from a file, that file is registered as
    /// an input.
    pub fn open_standard_input(&self) -> impl Read + use<> {
        if let Some(identity) = standard::input().as_ref().and_then(Identity::of_open) {
            self.register.enter(identity, Purpose::Input("-".into()));
        }
        std::io::stdin()
    }

    /// Reads standard input to its end. If it is redirected from a file, that file is registered as an input.
    ///
    /// # Errors
    /// The same as those of [`UsedFiles::read`].
    pub fn read_standard_input(&self, content: Content) -> Result<Vec<u8>, ReadError> {
        let file = standard::input();
        if let Some(identity) = file.as_ref().and_then(Identity::of_open) {
            self.register.enter(identity, Purpose::Input("-".into()));
        }
        let facts = file.and_then(|file| file.metadata().ok());
        bounded(std::io::stdin().lock(), facts.as_ref().and_then(length), content)
    }

    /// Requests a file to write later. Conflicts are checked now: whether the path is an input or another
    /// output, whether an existing file may be replaced, and whether the folder exists and can be written.
    ///
    /// # Errors
    /// Returns the conflict, or the error of the file system.
    pub fn output(&self, path: &Path, replaces: Replaces) -> Result<Output, WriteError> {
        Output::attempt(self.register.clone(), path, replaces)
    }
}

/// A file that is read in chunks, from any position.
#[derive(Debug)]
pub struct OpenInput(File);

impl Read for OpenInput {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Seek for OpenInput {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// Returns the length of an ordinary file. A length of 0 counts as unknown (`None`), because files that the
/// system generates on reading report 0.
fn length(facts: &Metadata) -> Option<u64> {
    Some(facts.len()).filter(|length| facts.is_file() && *length > 0)
}
