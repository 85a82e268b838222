//! The blocks that are open at the current line.

use crate::source::Span;

/// A block whose end hasn't been parsed yet.
pub(super) struct Open {
    /// The word that begins the block.
    pub(super) keyword: &'static str,
    pub(super) span: Span,
    /// The words that may end the current part.
    pub(super) ends: &'static [&'static str],
    /// True if the head of the block is invalid, or another error is about this block. If true, a missing end
    /// isn't reported.
    pub(super) blamed: bool,
    /// True if the block contains an `else if`, whose inner `if` has its own `fi`.
    pub(super) is_ladder: bool,
    /// The place of the last word in the block that would end it in another language.
    pub(super) foreign_end: Option<Span>,
}
