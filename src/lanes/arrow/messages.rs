//! The messages of a stream of Arrow, one after the other: where each begins and ends, and how the stream itself ends. A file is a stream
//! between two marks, with a table of contents behind it. Knows no columns.

use std::io::{self, Read};

use arrow_buffer::Buffer;
use arrow_ipc::Message;
use thiserror::Error;

use crate::lanes::opened::{FILE_MARK, MESSAGE_MARK};

/// What keeps a stream from being read.
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

/// A source of messages.
pub struct ArrowMessages<R> {
    source: R,
    is_file: bool,
    /// Whether the end of the stream was said, and not only the last of its bytes read.
    has_end: bool,
}

/// A message: what it says, and the bytes that it speaks of.
pub struct ArrowMessage {
    head: Vec<u8>,
    pub body: Buffer,
}

impl ArrowMessage {
    /// What it says, of which nothing was believed yet but its form.
    pub fn head(&self) -> Result<Message<'_>, BrokenArrow> {
        arrow_ipc::root_as_message(&self.head)
            .map_err(|error| BrokenArrow::Wrong(format!("what it says of a part of it is broken ({error})")))
    }
}

impl<R: Read> ArrowMessages<R> {
    /// Begins to read a stream, or a file.
    pub fn begin(mut source: R) -> Result<(ArrowMessages<R>, Option<ArrowMessage>), BrokenArrow> {
        let mut mark = [0; 4];
        let count = filled(&mut source, &mut mark)?;
        let (begun, rest) = FILE_MARK.split_at(mark.len());
        if count == 0 {
            return Err(BrokenArrow::wrong("there is nothing in it"));
        }
        if mark == begun {
            return ArrowMessages::behind_mark(source, rest);
        }
        if mark != MESSAGE_MARK {
            return Err(BrokenArrow::wrong("it doesn't begin as record batches do"));
        }
        let mut messages = ArrowMessages { source, is_file: false, has_end: false };
        let first = messages.marked()?;
        Ok((messages, first))
    }

    /// Begins with a file of whose mark a part is still to be read. Up to the first message it is filled with zeros: to eight bytes by
    /// some writers, by others to as many as the numbers are aligned to.
    fn behind_mark(
        mut source: R,
        rest: &[u8],
    ) -> Result<(ArrowMessages<R>, Option<ArrowMessage>), BrokenArrow> {
        const LONGEST_FILLER: usize = 1 << 12;
        let mut word = [0; 4];
        exact(&mut source, &mut word, "in its first bytes")?;
        if !word.starts_with(rest) {
            return Err(BrokenArrow::wrong("it doesn't begin as record batches do"));
        }
        for _ in 0..LONGEST_FILLER {
            exact(&mut source, &mut word, "in its first bytes")?;
            if word == MESSAGE_MARK {
                let mut messages = ArrowMessages { source, is_file: true, has_end: false };
                let first = messages.marked()?;
                return Ok((messages, first));
            }
            if word != [0; 4] {
                break;
            }
        }
        Err(BrokenArrow::wrong("no message stands behind its first bytes"))
    }

    /// The message that follows; none at the end of the stream.
    pub fn next(&mut self) -> Result<Option<ArrowMessage>, BrokenArrow> {
        let mut mark = [0; 4];
        match filled(&mut self.source, &mut mark)? {
            0 if !self.is_file => Ok(None),
            4 if mark == MESSAGE_MARK => self.marked(),
            4 => Err(BrokenArrow::wrong("something stands between its messages")),
            _ => Err(BrokenArrow::Cut("between its messages")),
        }
    }

    /// A message of which the mark has been read.
    fn marked(&mut self) -> Result<Option<ArrowMessage>, BrokenArrow> {
        let mut length = [0; 4];
        exact(&mut self.source, &mut length, "in front of a message")?;
        let length = u32::from_le_bytes(length);
        if length == 0 {
            self.has_end = true;
            return Ok(None);
        }
        let head = self.bytes(u64::from(length), "in a message")?;
        let message = ArrowMessage { head, body: Buffer::from_vec(Vec::<u8>::new()) };
        let length = u64::try_from(message.head()?.bodyLength());
        let length = length.map_err(|_| BrokenArrow::wrong("a message has less than no bytes"))?;
        let body = self.bytes(length, "in a record batch")?;
        Ok(Some(ArrowMessage { body: Buffer::from_vec(body), ..message }))
    }

    /// So many bytes. Only what is there takes memory, whatever was claimed.
    fn bytes(&mut self, length: u64, place: &'static str) -> Result<Vec<u8>, BrokenArrow> {
        const AT_ONCE: u64 = 1 << 26;
        let mut bytes = Vec::new();
        let sure = usize::try_from(length.min(AT_ONCE)).unwrap_or(0);
        bytes.try_reserve_exact(sure).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let count = self.source.by_ref().take(length).read_to_end(&mut bytes)?;
        if count as u64 == length { Ok(bytes) } else { Err(BrokenArrow::Cut(place)) }
    }

    /// Looks at what stands behind the last message: in a file the table of contents, which has to have so many batches. Whether the
    /// end of a stream was said comes back.
    pub fn finish(&mut self, batches: usize) -> Result<bool, BrokenArrow> {
        if !self.is_file {
            return Ok(self.has_end);
        }
        let mut rest = Vec::new();
        self.source.by_ref().take(LONGEST_CONTENTS).read_to_end(&mut rest)?;
        let cut = || BrokenArrow::Cut("behind its last record batch");
        let before = rest.strip_suffix(FILE_MARK).ok_or_else(cut)?;
        let (before, length) = before.split_last_chunk::<4>().ok_or_else(cut)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let from = before.len().checked_sub(length).ok_or_else(cut)?;
        let contents = before.get(from..).unwrap_or_default();
        let contents = arrow_ipc::root_as_footer(contents)
            .map_err(|error| BrokenArrow::Wrong(format!("its table of contents is broken ({error})")))?;
        let listed = contents.recordBatches().map_or(0, |blocks| blocks.len());
        if listed == batches {
            return Ok(true);
        }
        Err(BrokenArrow::Wrong(format!(
            "{batches} record batches are in it, and its table of contents has {listed}"
        )))
    }
}

/// The longest table of contents that is read: it has some 24 bytes for each record batch.
const LONGEST_CONTENTS: u64 = 1 << 30;

/// Reads as many bytes as there are, at most all that are asked for; says how many.
fn filled(source: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut read = Vec::new();
    source.take(bytes.len() as u64).read_to_end(&mut read)?;
    bytes.iter_mut().zip(&read).for_each(|(there, byte)| *there = *byte);
    Ok(read.len())
}

fn exact(source: &mut impl Read, bytes: &mut [u8], place: &'static str) -> Result<(), BrokenArrow> {
    if filled(source, bytes)? == bytes.len() { Ok(()) } else { Err(BrokenArrow::Cut(place)) }
}
