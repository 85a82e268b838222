//! How much of a run is checked, by whoever makes the steps in the interpreter's place. Knows no engine: what each level leaves out stands
//! where forms are built, and where gradients are judged.

use std::fmt;

/// How much is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CheckLevel {
    /// Everything: what comes out is what the interpreter comes to.
    #[default]
    Checked,
    /// A permission for native code to leave out what only finds mistakes in a program: whether cells are vacant that must be, whether
    /// joins agree, whether a way back was the way there. What `uncompute` undoes may be put back instead of being undone. The
    /// interpreter checks everything all the same.
    Unchecked,
}

impl CheckLevel {
    pub const ALL: [CheckLevel; 2] = [CheckLevel::Checked, CheckLevel::Unchecked];

    /// `checked`, `unchecked`.
    pub fn name(self) -> &'static str {
        match self {
            CheckLevel::Checked => "checked",
            CheckLevel::Unchecked => "unchecked",
        }
    }

    /// Whether everything is checked.
    pub fn is_checked(self) -> bool {
        self == CheckLevel::Checked
    }
}

impl fmt::Display for CheckLevel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}
