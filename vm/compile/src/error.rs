//! Error of SSA construction.

/// Reason why SSA construction failed. For a position of a verified program, construction fails only if the function is
/// too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The position or the step isn't in the code.
    #[error("the position isn't in the program's code")]
    Code,
    /// The number of values and recorded variable definitions exceeds its limit.
    #[error("the code is too long, or has too many variables in too many branches")]
    TooLarge,
}
