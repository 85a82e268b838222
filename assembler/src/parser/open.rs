//! The blocks that a parser is within.

use crate::source::Span;

/// A block whose end has not been seen yet.
pub(super) struct Open {
    /// The word that begins it.
    pub(super) keyword: &'static str,
    pub(super) span: Span,
    /// What may end the part at hand.
    pub(super) ends: &'static [&'static str],
    /// An error has named it as the culprit already, or its head is broken: what it lacks is a consequence.
    pub(super) blamed: bool,
    /// Whether an `else if` was in it, which has a `fi` of its own.
    pub(super) is_ladder: bool,
    /// The last word in it that ends such a block in other languages.
    pub(super) foreign_end: Option<Span>,
}
