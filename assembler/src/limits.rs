//! Upper bounds on the result of assembling a text.

/// Limits on copies of statements. Copies come from nested macros and from `uncompute`, so a small text may
/// have a huge number of them. Statements of the text itself need no limit, because their number is bounded
/// by the text's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssemblyLimits {
    /// The maximum number of instructions in copies. A copied statement counts as at least one instruction.
    pub copied_instructions: u32,
}

impl Default for AssemblyLimits {
    /// Returns limits of about 80 MB of instructions, far more than real programs need.
    fn default() -> AssemblyLimits {
        AssemblyLimits { copied_instructions: 500_000 }
    }
}
