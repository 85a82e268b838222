//! Bounded reading: every read ends, even from an endless device. This module doesn't interpret the content.

use std::io::{self, Read};

use reviver_memory::{OutOfMemory, ask};
use thiserror::Error;

/// The maximum size of a [`Content::Text`], in bytes.
const LONGEST_TEXT: u64 = 256 << 20;
/// The maximum number of bytes that are read from a source of unknown length: standard input, a pipe, a
/// device.
const LONGEST_STREAM: u64 = 256 << 20;

/// The type of content, which determines the maximum size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A program, a script, or keys: at most 256 MiB.
    Text,
    /// An image, a state, or values. A file may have any size that fits into memory; a stream may have at
    /// most 256 MiB.
    Data,
}

/// The reasons why a file can't be read.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "each message explains its variant")]
pub enum ReadError {
    #[error("there is no such file")]
    NotFound,
    #[error("permission denied")]
    Denied,
    #[error("it is a folder")]
    Folder,
    #[error("it has more than {} MiB, the maximum size of a text", LONGEST_TEXT >> 20)]
    LongText,
    #[error("it yields more than {} MiB, the most that is read from a pipe or a device", LONGEST_STREAM >> 20)]
    LongStream,
    #[error("it does not fit into memory")]
    Memory(#[from] OutOfMemory),
    #[error("{0}")]
    Other(io::Error),
}

impl ReadError {
    /// Returns a suggestion for the user, without a full stop. Returns `None` if there is none.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            ReadError::LongStream => Some("save the data in a file first: a file may be larger"),
            _ => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        match error.kind() {
            io::ErrorKind::NotFound => ReadError::NotFound,
            io::ErrorKind::PermissionDenied => ReadError::Denied,
            io::ErrorKind::IsADirectory => ReadError::Folder,
            io::ErrorKind::OutOfMemory => ReadError::Memory(OutOfMemory),
            _ => ReadError::Other(error),
        }
    }
}

impl Content {
    /// Returns the maximum number of bytes for this content, and the error to report if there are more.
    fn limit(self, is_stream: bool) -> (u64, ReadError) {
        match (self, is_stream) {
            (Content::Text, _) => (LONGEST_TEXT, ReadError::LongText),
            (Content::Data, true) => (LONGEST_STREAM, ReadError::LongStream),
            (Content::Data, false) => (u64::MAX, ReadError::Memory(OutOfMemory)),
        }
    }
}

/// Reads all bytes of a source. `length` is the size of the file as the system reports it, or `None` for a
/// stream. Returns an error if there are more bytes than the content may have.
pub(crate) fn bounded(
    source: impl Read,
    length: Option<u64>,
    content: Content,
) -> Result<Vec<u8>, ReadError> {
    let (limit, too_long) = content.limit(length.is_none());
    if length.is_some_and(|length| length > limit) {
        return Err(too_long);
    }
    // A buffer of one byte more than the size is enough to detect the end without a second allocation.
    let expected = usize::try_from(length.unwrap_or(0).saturating_add(1)).map_err(|_| OutOfMemory)?;
    let mut bytes = ask::list(expected)?;
    ask::read_to_end(&mut source.take(limit.saturating_add(1)), &mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_long) } else { Ok(bytes) }
}
