//! Opened lane files, and detection of Arrow by the first bytes. Other modules read the lanes.

use std::io::{self, Cursor, Read};
use std::path::Path;

#[cfg(feature = "arrow")]
use reviver_files::OpenInput;
use reviver_files::reason;

use crate::failure::{Failure, Fallible};
use crate::read::{self, ChunkSource, shown};

/// Mark at the start and end of an Arrow file.
pub const FILE_MARK: &[u8] = b"ARROW1";
/// Mark at the start of every message. A stream begins with a message. No text begins with these bytes, because they
/// aren't UTF-8.
pub const MESSAGE_MARK: &[u8] = b"\xff\xff\xff\xff";

/// Open file of lanes, or standard input, at its start.
pub struct OpenLanes {
    /// File name for messages.
    pub file: String,
    /// Length in bytes, if known.
    pub length: Option<u64>,
    beginning: Vec<u8>,
    rest: ChunkSource,
}

impl OpenLanes {
    pub fn open(path: &Path) -> Fallible<OpenLanes> {
        let (mut rest, length) = read::open(path)?;
        let file = shown(path);
        let beginning = beginning(&mut rest).map_err(|error| {
            Failure::load(format_args!("can't read {file}: {}", reason(&error))).caused_by(&error)
        })?;
        Ok(OpenLanes { file, length, beginning, rest })
    }

    /// Returns true if the first bytes are those of Arrow.
    pub fn is_arrow(&self) -> bool {
        [FILE_MARK, MESSAGE_MARK].contains(&&self.beginning[..])
    }

    /// Returns a reader of the whole content.
    pub fn reader(self) -> Box<dyn Read> {
        Box::new(WholeReader { beginning: Cursor::new(self.beginning), rest: self.rest })
    }

    /// Returns the file itself if it is seekable and in the Arrow file format.
    #[cfg(feature = "arrow")]
    pub fn into_arrow_file(self) -> Result<OpenInput, OpenLanes> {
        match self.rest {
            ChunkSource::File(file) if self.beginning == FILE_MARK => Ok(file),
            rest => Err(OpenLanes { rest, ..self }),
        }
    }
}

/// Reader of a file whose first bytes have already been read. Returns these bytes first, and then the rest of the file.
struct WholeReader {
    beginning: Cursor<Vec<u8>>,
    rest: ChunkSource,
}

impl Read for WholeReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.beginning.read(bytes)?;
        let free = bytes.get_mut(count..).unwrap_or_default();
        if count > 0 && free.is_empty() {
            return Ok(count);
        }
        match self.rest.read(free) {
            Ok(more) => Ok(count + more),
            // An error after some bytes is dropped. The next call reads only from the rest of the file, and returns the
            // error again.
            Err(_) if count > 0 => Ok(count),
            Err(error) => Err(error),
        }
    }
}

/// Reads the first bytes of a source: only as many as decide whether the source begins with a mark. Waiting for
/// further bytes of a pipe might block.
fn beginning(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    let is_open = |read: &[u8]| {
        [FILE_MARK, MESSAGE_MARK].iter().any(|mark| mark.len() > read.len() && mark.starts_with(read))
    };
    while is_open(&read) {
        if source.take(1).read_to_end(&mut read)? == 0 {
            break;
        }
    }
    Ok(read)
}
