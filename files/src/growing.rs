//! An output that is written piece by piece, and takes its place once all of it is there. Knows no content.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use crate::output::{Output, WriteError};
use crate::write::GrowingFile;

/// A file that grows beside its destination; dropped before it is finished, it leaves everything as it was.
#[derive(Debug)]
pub struct GrowingOutput {
    output: Output,
    file: BufWriter<GrowingFile>,
}

impl Output {
    /// Begins to write the file piece by piece.
    ///
    /// # Errors
    /// What has come into the way since, or what the platform says.
    pub fn begin(self) -> Result<GrowingOutput, WriteError> {
        let file = self.grow()?;
        Ok(GrowingOutput { output: self, file: BufWriter::with_capacity(1 << 16, file) })
    }
}

impl GrowingOutput {
    /// The file appears, whole.
    ///
    /// # Errors
    /// What has come into the way since, or what the platform says; then everything stays as it was.
    pub fn finish(self) -> Result<(), WriteError> {
        let GrowingOutput { output, file } = self;
        match file.into_inner() {
            Ok(file) => output.commit_grown(file),
            Err(error) => Err(WriteError::io(output.path(), error.into_error())),
        }
    }

    /// The path at which the file appears.
    pub fn path(&self) -> &Path {
        self.output.path()
    }

    /// What a piece failed with that couldn't be written.
    pub fn failed(&self, error: io::Error) -> WriteError {
        WriteError::io(self.output.path(), error)
    }
}

impl Write for GrowingOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Of a stream there is no way back.
impl Seek for GrowingOutput {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
