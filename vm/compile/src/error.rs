//! What can't be put into SSA form.

/// Why there is no form. A verified program at one of its positions has one, unless that would be too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Outside {
    /// A position, or a step, that isn't in the code.
    #[error("the position isn't in the program's code")]
    Code,
    /// Its values would take too much memory.
    #[error("the code is too long, or has too many variables in too many branches")]
    TooLarge,
}
