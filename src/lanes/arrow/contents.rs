//! Arrow files with random access. The footer, which is read first, has the location of each record batch. Another
//! module reads the columns.

use std::io::{Read, Seek, SeekFrom};

use arrow_schema::Schema;

use super::messages::{ArrowMessage, BrokenArrow, NO_CONTENTS, bytes, contents, exact, schema};
use crate::lanes::opened::{FILE_MARK, MESSAGE_MARK};

/// Reader of a file of record batches.
pub struct ArrowTable<R> {
    source: R,
    /// Offsets of the batches that weren't read yet.
    offsets: std::vec::IntoIter<i64>,
}

impl<R: Read + Seek> ArrowTable<R> {
    /// Reads the footer and the schema.
    pub fn open(mut source: R) -> Result<(ArrowTable<R>, Schema), BrokenArrow> {
        let table = table(&mut source)?;
        let contents = contents(&table)?;
        let schema = schema(contents.schema())?;
        let offsets = contents.recordBatches().into_iter().flatten().map(|block| block.offset());
        Ok((ArrowTable { offsets: offsets.collect::<Vec<_>>().into_iter(), source }, schema))
    }

    /// Returns the next batch; `None` at the end.
    pub fn next(&mut self) -> Result<Option<ArrowMessage>, BrokenArrow> {
        const MISPLACED: &str = "its table of contents refers to something that isn't a record batch";
        let Some(offset) = self.offsets.next() else { return Ok(None) };
        let offset = u64::try_from(offset).map_err(|_| BrokenArrow::wrong(MISPLACED))?;
        self.source.seek(SeekFrom::Start(offset))?;
        let mut mark = [0; 4];
        exact(&mut self.source, &mut mark, "in front of a record batch")?;
        let message =
            if mark == MESSAGE_MARK { ArrowMessage::message_after_mark(&mut self.source)? } else { None };
        message.map(Some).ok_or_else(|| BrokenArrow::wrong(MISPLACED))
    }
}

/// Returns the bytes of the footer. The length of the footer and the file mark follow the footer, at the end of the
/// file.
fn table(source: &mut (impl Read + Seek)) -> Result<Vec<u8>, BrokenArrow> {
    let mut end = [0; 10];
    let whole = source.seek(SeekFrom::End(0))?;
    let behind = whole.checked_sub(end.len() as u64).ok_or(NO_CONTENTS)?;
    source.seek(SeekFrom::Start(behind))?;
    exact(source, &mut end, "at its end")?;
    let Some((length, FILE_MARK)) = end.split_first_chunk::<4>() else { return Err(NO_CONTENTS) };
    let length = u64::from(u32::from_le_bytes(*length));
    source.seek(SeekFrom::Start(behind.checked_sub(length).ok_or(NO_CONTENTS)?))?;
    bytes(source, length, "at its end")
}
