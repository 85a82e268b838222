//! Places in source texts, as numbers. This module is independent of the texts.

use std::ops::Range;

/// The number of a file in [`Sources`](crate::source::Sources).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A range of bytes in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file that contains the bytes.
    pub file: FileId,
    /// The index of the first byte, from 0.
    pub start: u32,
    /// The index after the last byte; equal to `start` in an empty span.
    pub end: u32,
}

impl Span {
    /// Returns the smallest span that covers both spans, which must be in the same file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns the empty span at the end of this one.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// Returns the range of bytes in the file.
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A line of a source file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// The file that contains the line.
    pub file: FileId,
    /// The line number, from 1.
    pub line: u32,
}
