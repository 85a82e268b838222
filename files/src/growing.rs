//! An output that is written in chunks and appears at its path once it is complete. This module doesn't
//! interpret the content.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use crate::output::{Output, WriteError};
use crate::write::GrowingFile;

/// An output that is being written in chunks, usually to a temporary file next to its destination. If the
/// output is dropped before [`GrowingOutput::finish`], a file at the destination is unchanged.
#[derive(Debug)]
pub struct GrowingOutput {
    output: Output,
    file: BufWriter<GrowingFile>,
}

impl Output {
    /// Begins to write the file in chunks.
    ///
    /// # Errors
    /// Returns an error if the destination became unavailable since the output was requested, or if the
    /// platform reports one.
    pub fn begin(self) -> Result<GrowingOutput, WriteError> {
        let file = self.grow()?;
        Ok(GrowingOutput { output: self, file: BufWriter::with_capacity(1 << 16, file) })
    }
}

impl GrowingOutput {
    /// Moves the complete file to its destination.
    ///
    /// # Errors
    /// Returns an error if the destination became unavailable after [`Output::begin`], or if the platform
    /// reports one. In both cases the destination is unchanged.
    pub fn finish(self) -> Result<(), WriteError> {
        let GrowingOutput { output, file } = self;
        match file.into_inner() {
            Ok(file) => output.commit_grown(file),
            Err(error) => Err(WriteError::io(output.path(), error.into_error())),
        }
    }

    /// The path at which the file will appear.
    pub fn path(&self) -> &Path {
        self.output.path()
    }

    /// Converts an error of writing a chunk to a [`WriteError`] with the output's path.
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

/// Seeking fails if the destination is a stream.
impl Seek for GrowingOutput {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
