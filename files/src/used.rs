//! The register of the files that a command uses, by identity: what it has read, and what it is going to
//! write. A file is in it under one purpose only.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::identity::{Identity, standard};
use crate::output::{Output, Replaces, WriteError};
use crate::read::{Content, ReadError, bounded};

/// The files that a command reads and is going to write. Clones share one register.
#[derive(Clone, Debug, Default)]
pub struct UsedFiles {
    entries: Arc<Mutex<Vec<Entry>>>,
}

/// A file that is used.
#[derive(Debug)]
pub(crate) struct Entry {
    identity: Identity,
    purpose: Purpose,
}

/// What a file is used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It has been read, under this name.
    Input(PathBuf),
    /// It is going to be written, by the output that was asked for under this name.
    Output(PathBuf),
}

impl UsedFiles {
    /// Reads a whole file, and enters it as an input.
    ///
    /// # Errors
    /// A file that can't be read, or has more than its content may have.
    pub fn read(&self, path: &Path, content: Content) -> Result<Vec<u8>, ReadError> {
        let file = File::open(path)?;
        let facts = file.metadata()?;
        if facts.is_dir() {
            return Err(ReadError::Folder);
        }
        if facts.is_file() {
            self.enter(Identity::there(path, &facts)?, Purpose::Input(path.to_owned()));
        }
        bounded(file, length(&facts), content)
    }

    /// Reads standard input to its end. A file that it is redirected from is an input too.
    ///
    /// # Errors
    /// As [`UsedFiles::read`].
    pub fn read_standard_input(&self, content: Content) -> Result<Vec<u8>, ReadError> {
        let file = standard::input();
        if let Some(identity) = file.as_ref().and_then(Identity::of_open) {
            self.enter(identity, Purpose::Input("-".into()));
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
        Output::attempt(self.clone(), path, replaces)
    }

    pub(crate) fn enter(&self, identity: Identity, purpose: Purpose) {
        self.entries().push(Entry { identity, purpose });
    }

    /// What a file is used for already.
    pub(crate) fn purpose(&self, identity: &Identity) -> Option<Purpose> {
        self.entries().iter().find(|entry| entry.identity == *identity).map(|entry| entry.purpose.clone())
    }

    /// Takes an output out that was written, or given up.
    pub(crate) fn leave(&self, identity: &Identity) {
        self.entries()
            .retain(|entry| entry.identity != *identity || matches!(entry.purpose, Purpose::Input(_)));
    }

    /// Every change is one call, so a thread that panicked has left nothing half done.
    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The length of an ordinary file. Those that a system makes up as they are read claim to have none.
fn length(facts: &Metadata) -> Option<u64> {
    Some(facts.len()).filter(|length| facts.is_file() && *length > 0)
}
