//! Upper bounds on what a text may become.

/// Limits on copies: the bodies of macros, of nested ones several times over, and the statements that `uncompute` undoes. Statements of the
/// text itself need no limit, because they are as long as the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssemblyLimits {
    /// Instructions that copies become. A copied statement counts as one at least.
    pub copied_instructions: u32,
}

impl Default for AssemblyLimits {
    /// About 80 MB of instructions, far more than programs have.
    fn default() -> AssemblyLimits {
        AssemblyLimits { copied_instructions: 500_000 }
    }
}
