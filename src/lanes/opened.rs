//! Files of lanes that are read as they are needed, and the bytes that tell Arrow from text. Reads no lanes.

use std::io::{self, Cursor, Read};
use std::path::Path;

#[cfg(feature = "arrow")]
use reviver_files::OpenInput;
use reviver_files::reason;

use crate::failure::{Failure, Fallible};
use crate::read::{self, PieceSource, shown};

/// A file begins with this in the file format of Arrow, and ends with it.
pub const FILE_MARK: &[u8] = b"ARROW1";
/// A message begins with this, and so does a stream of them. No text has such bytes.
pub const MESSAGE_MARK: &[u8] = b"\xff\xff\xff\xff";

/// A file of lanes, or standard input, from its beginning.
pub struct OpenLanes {
    /// What it is called in messages.
    pub file: String,
    /// How long it is, as far as that is known.
    pub length: Option<u64>,
    beginning: Vec<u8>,
    rest: PieceSource,
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

    /// Whether it begins as record batches of Arrow do.
    pub fn is_arrow(&self) -> bool {
        [FILE_MARK, MESSAGE_MARK].contains(&&self.beginning[..])
    }

    /// Everything in it.
    pub fn reader(self) -> Box<dyn Read> {
        Box::new(WholeReader { beginning: Cursor::new(self.beginning), rest: self.rest })
    }

    /// The file itself, if it is one that can be read from wherever one wants, and in the file format of Arrow.
    #[cfg(feature = "arrow")]
    pub fn into_arrow_file(self) -> Result<OpenInput, OpenLanes> {
        match self.rest {
            PieceSource::File(file) if self.beginning == FILE_MARK => Ok(file),
            rest => Err(OpenLanes { rest, ..self }),
        }
    }
}

/// A source of which the first bytes were read, as if they weren't: who looks at what comes first sees as much as there is, not those alone.
struct WholeReader {
    beginning: Cursor<Vec<u8>>,
    rest: PieceSource,
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
            // It is told where nothing comes before it.
            Err(_) if count > 0 => Ok(count),
            Err(error) => Err(error),
        }
    }
}

/// The bytes up to where it is certain whether they are one of the marks: nobody waits for more than that.
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
