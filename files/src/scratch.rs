//! A folder for what another program writes, which nobody else uses, and which goes with its owner. Knows no program.

use std::fs;
use std::io;
use std::path::PathBuf;

use tempfile::TempDir;

/// A folder of one's own.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// A new folder where the system has those that don't last.
    ///
    /// # Errors
    /// There can be none.
    pub fn new() -> io::Result<Scratch> {
        tempfile::Builder::new().prefix("reviver-").tempdir().map(Scratch)
    }

    /// Where a file of a name lies, or will.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What a file holds.
    ///
    /// # Errors
    /// It isn't there, or can't be read.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path(name))
    }
}
