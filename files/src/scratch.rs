//! A private temporary folder for the output of another program. The folder is removed when the [`Scratch`] is
//! dropped.

use std::fs;
use std::io;
use std::path::PathBuf;

use tempfile::TempDir;

/// A private temporary folder, removed on drop.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// Creates a folder in the system's directory for temporary files.
    ///
    /// # Errors
    /// Returns an error if the folder can't be created.
    pub fn new() -> io::Result<Scratch> {
        tempfile::Builder::new().prefix("reviver-").tempdir().map(Scratch)
    }

    /// Returns the path of a name in the folder. The file needn't exist.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Reads a file of the folder.
    ///
    /// # Errors
    /// Returns an error if the file doesn't exist or can't be read.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path(name))
    }
}
