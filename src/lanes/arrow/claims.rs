//! Validation of a record batch's metadata against its bytes, so that arrays can be built from it safely. Only the
//! column types of lanes are supported.

use arrow_ipc::{CompressionType, RecordBatch};
use arrow_schema::{DataType, Schema};

use super::messages::BrokenArrow;

/// Upper bound on the decompressed bytes for each byte of LZ4 data.
const LARGEST_RATIO: i64 = 256;

/// Validates all lengths and offsets that a record batch claims against its `body`. The error names the faulty
/// column.
pub fn check(batch: RecordBatch<'_>, schema: &Schema, body: &[u8]) -> Result<(), BrokenArrow> {
    let is_compressed = match batch.compression().map(|compression| compression.codec()) {
        None => false,
        Some(CompressionType::LZ4_FRAME) => true,
        Some(CompressionType::ZSTD) => {
            return Err(BrokenArrow::wrong(
                "its batches are compressed by ZSTD, which isn't supported: write them with LZ4, or uncompressed",
            ));
        }
        Some(other) => {
            return Err(BrokenArrow::Wrong(format!(
                "its batches are compressed by an unknown method ({other:?})"
            )));
        }
    };
    let nodes = batch.nodes().into_iter().flatten().map(|node| (node.length(), node.null_count()));
    let buffers = batch.buffers().into_iter().flatten().map(|buffer| (buffer.offset(), buffer.length()));
    let (nodes, buffers): (Vec<_>, Vec<_>) = (nodes.collect(), buffers.collect());
    if batch.length() < 0 {
        return Err(BrokenArrow::wrong("a batch has a negative number of lanes"));
    }
    let mut claims =
        BatchClaims { nodes: nodes.into_iter(), buffers: buffers.into_iter(), body, is_compressed };
    for field in schema.fields() {
        let reported = claims.column(field.data_type(), batch.length());
        reported.map_err(|what| BrokenArrow::Wrong(format!("the column `{}`: {what}", field.name())))?;
    }
    Ok(())
}

/// Claims that aren't validated yet, in the order of the columns: lengths and null counts of arrays, and locations of
/// buffers.
struct BatchClaims<'b> {
    nodes: std::vec::IntoIter<(i64, i64)>,
    buffers: std::vec::IntoIter<(i64, i64)>,
    body: &'b [u8],
    is_compressed: bool,
}

const FEW: &str = "a batch lacks a part of the column";
const SHORT: &str = "a batch has fewer numbers of the column than it claims";

impl BatchClaims<'_> {
    /// Validates the claims about a column, or about the elements of a list column. There must be at least `least`
    /// entries.
    fn column(&mut self, data_type: &DataType, least: i64) -> Result<(), &'static str> {
        let (length, nulls) = self.nodes.next().ok_or(FEW)?;
        if length < least || !(0..=length).contains(&nulls) {
            return Err(SHORT);
        }
        let bits = length.saturating_add(7) / 8;
        self.buffer(if nulls > 0 { bits } else { 0 })?;
        if let DataType::FixedSizeList(element, count) = data_type {
            return self.column(element.data_type(), length.checked_mul(i64::from(*count)).ok_or(SHORT)?);
        }
        if *data_type == DataType::Boolean {
            return self.buffer(bits);
        }
        let width = data_type.primitive_width().and_then(|width| i64::try_from(width).ok()).ok_or(FEW)?;
        self.buffer(length.checked_mul(width).ok_or(SHORT)?)
    }

    /// Validates the claims about a buffer. After decompression, the buffer must have at least `least` bytes.
    fn buffer(&mut self, least: i64) -> Result<(), &'static str> {
        const OUTSIDE: &str = "a batch locates numbers of the column outside of the batch's data";
        let (offset, length) = self.buffers.next().ok_or(FEW)?;
        let end = offset.checked_add(length).and_then(|end| usize::try_from(end).ok());
        let bytes = usize::try_from(offset).ok().zip(end).and_then(|(from, to)| self.body.get(from..to));
        let bytes = bytes.ok_or(OUTSIDE)?;
        let count = match bytes.first_chunk::<8>() {
            _ if !self.is_compressed || bytes.is_empty() => length,
            None => return Err(SHORT),
            Some(count) => match i64::from_le_bytes(*count) {
                // In compressed data the first 8 bytes are the decompressed length. The length -1 marks a buffer that
                // isn't compressed.
                -1 => length - 8,
                count if (0..=length.saturating_mul(LARGEST_RATIO)).contains(&count) => count,
                _ => return Err("a batch claims more numbers of the column than its bytes can hold"),
            },
        };
        if count >= least { Ok(()) } else { Err(SHORT) }
    }
}
