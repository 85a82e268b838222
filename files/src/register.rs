//! The register of the files that a command uses: inputs that were read and outputs that will be written.
//! Files are compared by identity, and each is registered for one purpose only.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::identity::Identity;

/// A handle to the register; all clones share one register.
#[derive(Clone, Debug, Default)]
pub(crate) struct Register {
    entries: Arc<Mutex<Vec<UsedFile>>>,
}

#[derive(Debug)]
struct UsedFile {
    identity: Identity,
    purpose: Purpose,
}

/// The purpose for which a file is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// An input, with the name under which it was read.
    Input(PathBuf),
    /// An output that will be written, with the name under which it was requested.
    Output(PathBuf),
}

impl Register {
    /// Registers a file for a purpose.
    pub fn enter(&self, identity: Identity, purpose: Purpose) {
        self.entries().push(UsedFile { identity, purpose });
    }

    /// Returns the purpose for which a file is registered, or `None` if it isn't registered.
    pub fn purpose(&self, identity: &Identity) -> Option<Purpose> {
        self.entries().iter().find(|entry| entry.identity == *identity).map(|entry| entry.purpose.clone())
    }

    /// Removes an output that was written or abandoned.
    pub fn leave(&self, identity: &Identity) {
        self.entries()
            .retain(|entry| entry.identity != *identity || matches!(entry.purpose, Purpose::Input(_)));
    }

    /// Locks the list of entries. A poisoned lock is usable, because every change is a single call, so a
    /// panic can't leave a partial change.
    fn entries(&self) -> MutexGuard<'_, Vec<UsedFile>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
