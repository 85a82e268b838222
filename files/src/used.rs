//! What a command reads, and asks for to write: all of it is entered in one register.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::identity::{Identity, standard};
use crate::output::{Output, Replaces, WriteError};
use crate::read::{Content, ReadError, bounded};
use crate::register::{Purpose, Register};

/// The files that a command reads and is going to write. Clones share one register.
#[derive(Clone, Debug, Default)]
pub struct UsedFiles {
    register: Register,
}

impl UsedFiles {
    /// Reads a whole file, and enters it as an input.
    ///
    /// # Errors
    /// A file that can't be read, or has more than its content may have.
    pub fn read(&self, path: &Path, content: Content) -> Result<Vec<u8>, ReadError> {
        let (file, facts) = self.entered(path)?;
        bounded(file, length(&facts), content)
    }

    /// Opens a file to be read piece by piece, and enters it as an input.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn open(&self, path: &Path) -> Result<OpenInput, ReadError> {
        self.entered(path).map(|(file, _)| OpenInput(file))
    }

    /// Opens a file that isn't a folder, and enters it as an input.
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

    /// Standard input, to be read piece by piece. A file that it is redirected from is an input too.
    pub fn open_standard_input(&self) -> impl Read + use<> {
        if let Some(identity) = standard::input().as_ref().and_then(Identity::of_open) {
            self.register.enter(identity, Purpose::Input("-".into()));
        }
        std::io::stdin()
    }

    /// Reads standard input to its end. A file that it is redirected from is an input too.
    ///
    /// # Errors
    /// As [`UsedFiles::read`].
    pub fn read_standard_input(&self, content: Content) -> Result<Vec<u8>, ReadError> {
        let file = standard::input();
        if let Some(identity) = file.as_ref().and_then(Identity::of_open) {
            self.register.enter(identity, Purpose::Input("-".into()));
        }
        let facts = file.and_then(|file| file.metadata().ok());
        bounded(std::io::stdin().lock(), facts.as_ref().and_then(length), content)
    }

    /// A file to write later. What can be known about it now is tried now: whether it is an input or another
    /// output, whether what is there may be replaced, whether there is a folder that can be written.
    ///
    /// # Errors
    /// What is in the way.
    pub fn output(&self, path: &Path, replaces: Replaces) -> Result<Output, WriteError> {
        Output::attempt(self.register.clone(), path, replaces)
    }
}

/// A file that is read piece by piece, from wherever one wants.
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

/// The length of an ordinary file. Those that a system makes up as they are read claim to have none.
fn length(facts: &Metadata) -> Option<u64> {
    Some(facts.len()).filter(|length| facts.is_file() && *length > 0)
}
