//! The register of the files that a command uses, by identity: what it has read, and what it is going to
//! write. A file is in it under one purpose only.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::identity::Identity;

/// The register; its clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Register {
    entries: Arc<Mutex<Vec<UsedFile>>>,
}

/// A file that is used.
#[derive(Debug)]
struct UsedFile {
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

impl Register {
    /// Enters a file that is used from now on.
    pub fn enter(&self, identity: Identity, purpose: Purpose) {
        self.entries().push(UsedFile { identity, purpose });
    }

    /// What a file is used for already.
    pub fn purpose(&self, identity: &Identity) -> Option<Purpose> {
        self.entries().iter().find(|entry| entry.identity == *identity).map(|entry| entry.purpose.clone())
    }

    /// Takes an output out that was written, or given up.
    pub fn leave(&self, identity: &Identity) {
        self.entries()
            .retain(|entry| entry.identity != *identity || matches!(entry.purpose, Purpose::Input(_)));
    }

    /// Every change is one call, so a thread that panicked has left nothing half done.
    fn entries(&self) -> MutexGuard<'_, Vec<UsedFile>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
