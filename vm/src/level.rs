//! Check levels for engines that replace the interpreter. The module only names the levels. The compiler and the
//! verification of gradients implement their effects.

use std::fmt;

/// The extent of the checks that an engine makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CheckLevel {
    /// All checks. The results are those of the interpreter.
    #[default]
    Checked,
    /// Permission for native code to omit checks that only find mistakes in a program: the checks of vacant cells and
    /// of joins, and the verification of the reverse sweep. Cells that `uncompute` would undo may be saved and restored
    /// instead. The interpreter still checks everything.
    Unchecked,
}

impl CheckLevel {
    /// All levels, the default first.
    pub const ALL: [CheckLevel; 2] = [CheckLevel::Checked, CheckLevel::Unchecked];

    /// Returns the name of the level: `checked` or `unchecked`.
    pub fn name(self) -> &'static str {
        match self {
            CheckLevel::Checked => "checked",
            CheckLevel::Unchecked => "unchecked",
        }
    }

    /// Returns true if everything is checked.
    pub fn is_checked(self) -> bool {
        self == CheckLevel::Checked
    }
}

impl fmt::Display for CheckLevel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}
