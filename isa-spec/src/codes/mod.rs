//! Codes of what goes wrong: a short one that stands in messages and never changes its meaning, and what
//! there is to say about it. Each kind has one table, from which its enum is made, so that no code is without
//! its account: `problem` has those of texts and images, the machine those of traps.
//!
//! Knows neither how a message is made nor who shows it.

mod called;
mod control;
mod declared;
mod doubtful;
mod operands;
pub mod page;
mod problem;
mod tasks;
mod transformed;
mod written;

pub use problem::ProblemCode;

/// A code with its words, and what it stands for.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeEntry {
    /// A letter and digits: `T20`.
    pub code: &'static str,
    /// The same in words, joined by hyphens.
    pub words: &'static str,
    pub account: &'static CodeAccount,
}

/// What there is to say about a code.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeAccount {
    /// One sentence without a full stop.
    pub title: &'static str,
    /// Why it can't be.
    pub meaning: &'static str,
    /// What to do about it.
    pub cure: &'static str,
    pub evidence: CodeEvidence,
}

/// How a code comes to be seen.
#[derive(Debug, PartialEq, Eq)]
pub enum CodeEvidence {
    /// The smallest program that shows it, and the same one mended.
    Programs { shown: CodeTrial, mended: CodeTrial },
    /// No program shows it, and why.
    Untold(&'static str),
}

/// A program, and the command that is tried on it.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeTrial {
    /// What follows `reviver`; `FILE` stands for the program's file.
    pub command: &'static str,
    pub text: &'static str,
}

impl CodeEntry {
    /// What the file of its program is called.
    pub fn file(&self) -> String {
        format!("{}.rasm", self.words)
    }

    /// Whether somebody means this one, by its code or its words.
    pub fn is_called(&self, name: &str) -> bool {
        self.code.eq_ignore_ascii_case(name) || self.words.eq_ignore_ascii_case(name)
    }
}

impl CodeTrial {
    /// The command as it is typed in the folder of a file.
    pub fn typed(&self, file: &str) -> String {
        format!("reviver {}", self.command.replace("FILE", file))
    }
}

/// A program that shows something, and its mended form.
#[doc(hidden)]
pub const fn programs(shown: CodeTrial, mended: CodeTrial) -> CodeEvidence {
    CodeEvidence::Programs { shown, mended }
}

#[doc(hidden)]
pub const fn trial(command: &'static str, text: &'static str) -> CodeTrial {
    CodeTrial { command, text }
}

/// A kind of codes, of a table: each with its code, its words, and its account.
#[macro_export]
macro_rules! codes {
    ($(#[$doc:meta])* $Codes:ident { $($Code:ident = $code:literal $words:literal $account:path;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Codes {
            $($Code,)+
        }

        impl $Codes {
            /// All of them, in order.
            pub const ALL: &'static [$Codes] = &[$($Codes::$Code,)+];

            /// What it stands for.
            pub fn entry(self) -> &'static $crate::codes::CodeEntry {
                match self {
                    $($Codes::$Code => {
                        const ENTRY: $crate::codes::CodeEntry =
                            $crate::codes::CodeEntry { code: $code, words: $words, account: &$account };
                        &ENTRY
                    })+
                }
            }

            /// As messages show it.
            pub fn text(self) -> &'static str {
                self.entry().code
            }
        }
    };
}
