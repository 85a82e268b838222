//! Which warnings are worth giving: those about the program's own file.

use crate::source::{FileId, Span};

/// Whether a place is in the program's own file.
pub(super) fn is_own(place: Span) -> bool {
    place.file == FileId(0)
}
