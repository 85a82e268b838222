//! Arrow IPC messages with their bodies, and the framing of streams. Another module reads the columns.

use std::io::{self, Read};

use arrow_buffer::Buffer;
use arrow_ipc::Message;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_schema::Schema;
use reviver_memory::ask;
use thiserror::Error;

use crate::lanes::opened::{FILE_MARK, MESSAGE_MARK};

/// Reason why record batches can't be read.
#[derive(Debug, Error)]
pub enum BrokenArrow {
    #[error("it is cut short {0}")]
    Cut(&'static str),
    #[error("{0}")]
    Wrong(String),
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl BrokenArrow {
    pub fn wrong(what: impl Into<String>) -> BrokenArrow {
        BrokenArrow::Wrong(what.into())
    }
}

/// IPC message: metadata and body.
pub struct ArrowMessage {
    head: Vec<u8>,
    pub body: Buffer,
}

impl ArrowMessage {
    /// Decodes the metadata; lengths and offsets in it are not validated yet.
    pub fn head(&self) -> Result<Message<'_>, BrokenArrow> {
        arrow_ipc::root_as_message(&self.head)
            .map_err(|error| BrokenArrow::Wrong(format!("the description of a message is broken ({error})")))
    }

    /// Reads a message whose mark has already been read. Returns `None` for the end marker, a message of length 0.
    pub fn message_after_mark(source: &mut impl Read) -> Result<Option<ArrowMessage>, BrokenArrow> {
        let mut length = [0; 4];
        exact(source, &mut length, "in front of a message")?;
        let length = u32::from_le_bytes(length);
        if length == 0 {
            return Ok(None);
        }
        let head = bytes(source, u64::from(length), "in a message")?;
        let message = ArrowMessage { head, body: Buffer::from_vec(Vec::<u8>::new()) };
        let length = u64::try_from(message.head()?.bodyLength());
        let length = length.map_err(|_| BrokenArrow::wrong("a message has a negative length"))?;
        let body = bytes(source, length, "in a record batch")?;
        Ok(Some(ArrowMessage { body: Buffer::from_vec(body), ..message }))
    }
}

/// Stream of messages. A file that is read sequentially contains such a stream after the first file mark. A footer and
/// a second file mark follow the stream.
pub struct ArrowStream<R> {
    source: R,
    is_file: bool,
    /// True if an end marker was read; false if the bytes ended without an end marker.
    has_end: bool,
}

impl<R: Read> ArrowStream<R> {
    /// Reads everything before the first record batch.
    pub fn begin(mut source: R) -> Result<(ArrowStream<R>, Schema), BrokenArrow> {
        let mut mark = [0; 4];
        if filled(&mut source, &mut mark)? == 0 {
            return Err(BrokenArrow::wrong("it is empty"));
        }
        let (begun, rest) = FILE_MARK.split_at(mark.len());
        let is_file = mark == begun;
        if is_file {
            find_message(&mut source, rest)?;
        } else if mark != MESSAGE_MARK {
            return Err(BrokenArrow::wrong(NO_ARROW));
        }
        let first = ArrowMessage::message_after_mark(&mut source)?;
        let first = first.ok_or_else(|| BrokenArrow::wrong("it ends before it names its columns"))?;
        let schema = schema(first.head()?.header_as_schema())?;
        Ok((ArrowStream { source, is_file, has_end: false }, schema))
    }

    /// Returns the next message; `None` at the end.
    pub fn next(&mut self) -> Result<Option<ArrowMessage>, BrokenArrow> {
        let mut mark = [0; 4];
        match filled(&mut self.source, &mut mark)? {
            0 if !self.is_file => Ok(None),
            4 if mark == MESSAGE_MARK => {
                let message = ArrowMessage::message_after_mark(&mut self.source)?;
                self.has_end = message.is_none();
                Ok(message)
            }
            4 => Err(BrokenArrow::wrong("it has other bytes between its messages")),
            _ => Err(BrokenArrow::Cut("between its messages")),
        }
    }

    /// Validates the bytes after the last message: a file must have a footer with `batches` batches. Returns true if
    /// there was an end marker.
    pub fn finish(&mut self, batches: usize) -> Result<bool, BrokenArrow> {
        if !self.is_file {
            return Ok(self.has_end);
        }
        let mut rest = Vec::new();
        ask::read_to_end(&mut self.source.by_ref().take(LONGEST_CONTENTS), &mut rest)?;
        let before = rest.strip_suffix(FILE_MARK).ok_or(NO_CONTENTS)?;
        let (before, length) = before.split_last_chunk::<4>().ok_or(NO_CONTENTS)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let from = before.len().checked_sub(length).ok_or(NO_CONTENTS)?;
        let contents = contents(before.get(from..).unwrap_or_default())?;
        let listed = contents.recordBatches().map_or(0, |blocks| blocks.len());
        if listed == batches {
            return Ok(true);
        }
        Err(BrokenArrow::Wrong(format!(
            "it has {batches} record batches, and its table of contents lists {listed}"
        )))
    }
}

const NO_ARROW: &str = "it doesn't begin like an Arrow file or stream";
/// Maximum length of a footer, which has about 24 bytes for each record batch.
const LONGEST_CONTENTS: u64 = 1 << 30;
/// Error of a file without a footer.
pub const NO_CONTENTS: BrokenArrow = BrokenArrow::Cut("after its last record batch");

/// Skips to the first message of a file. `rest` is the part of the first file mark that hasn't been read. Between the
/// mark and the message is zero padding: most writers write up to eight bytes, others up to the alignment of the data.
fn find_message(source: &mut impl Read, rest: &[u8]) -> Result<(), BrokenArrow> {
    const LONGEST_FILLER: usize = 1 << 12;
    let mut word = [0; 4];
    exact(source, &mut word, "in its first bytes")?;
    if !word.starts_with(rest) {
        return Err(BrokenArrow::wrong(NO_ARROW));
    }
    for _ in 0..LONGEST_FILLER {
        exact(source, &mut word, "in its first bytes")?;
        if word == MESSAGE_MARK {
            return Ok(());
        }
        if word != [0; 4] {
            break;
        }
    }
    Err(BrokenArrow::wrong(
        "its columns are named only at its end, as in files of Polars: give the path of the file instead of a pipe, or write a stream",
    ))
}

/// Parses a file's footer.
pub fn contents(bytes: &[u8]) -> Result<arrow_ipc::Footer<'_>, BrokenArrow> {
    arrow_ipc::root_as_footer(bytes)
        .map_err(|error| BrokenArrow::Wrong(format!("its table of contents is broken ({error})")))
}

/// Decodes the schema of a message or footer.
pub fn schema(named: Option<arrow_ipc::Schema<'_>>) -> Result<Schema, BrokenArrow> {
    let named = named.ok_or_else(|| BrokenArrow::wrong("it doesn't name its columns"))?;
    if !named.endianness().equals_to_target_endianness() {
        return Err(BrokenArrow::wrong("its numbers have another byte order than this machine"));
    }
    try_fb_to_schema(named).map_err(|error| BrokenArrow::Wrong(error.to_string()))
}

/// Reads `length` bytes. Memory grows only with the bytes that actually arrive, so a wrong `length` can't exhaust it.
pub fn bytes(source: &mut impl Read, length: u64, place: &'static str) -> Result<Vec<u8>, BrokenArrow> {
    const AT_ONCE: u64 = 1 << 26;
    let sure = usize::try_from(length.min(AT_ONCE)).unwrap_or(0);
    let mut bytes = ask::list(sure).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    let count = ask::read_to_end(&mut source.take(length), &mut bytes)?;
    if count as u64 == length { Ok(bytes) } else { Err(BrokenArrow::Cut(place)) }
}

/// Reads bytes into a buffer until the buffer is full or the source ends. Returns the number of bytes read.
fn filled(source: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut read = Vec::new();
    ask::read_to_end(&mut source.take(bytes.len() as u64), &mut read)?;
    bytes.iter_mut().zip(&read).for_each(|(there, byte)| *there = *byte);
    Ok(read.len())
}

/// Fills a buffer. Returns an error if the source ends before the buffer is full.
pub fn exact(source: &mut impl Read, bytes: &mut [u8], place: &'static str) -> Result<(), BrokenArrow> {
    if filled(source, bytes)? == bytes.len() { Ok(()) } else { Err(BrokenArrow::Cut(place)) }
}
