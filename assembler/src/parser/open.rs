//! The blocks around the current line.

use crate::source::Span;

/// A block without its end so far.
pub(super) struct Open {
    /// The word that begins the block.
    pub(super) keyword: &'static str,
    pub(super) span: Span,
    /// The words that may end the current part.
    pub(super) ends: &'static [&'static str],
    /// True if an error concerns this block already, or its head is invalid. Then a missing end isn't
    /// reported.
    pub(super) blamed: bool,
    /// True if the block contains an `else if`, which has a separate `fi`.
    pub(super) is_ladder: bool,
    /// The last word in the block that ends such a block in other languages.
    pub(super) foreign_end: Option<Span>,
}
