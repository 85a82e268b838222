//! The filter of warnings: only warnings about the program's own file are reported.

use crate::source::{FileId, Span};

/// Returns true if a place is in the program's own file.
pub(super) fn is_own(place: Span) -> bool {
    place.file == FileId(0)
}
