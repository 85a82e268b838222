//! Error, warning and trap codes with their explanations. A code is short, appears in messages, and never
//! changes its meaning. Each kind of code has one table from which its enum is generated, so every code has
//! an explanation. `problem` contains the codes of texts and images; the machine contains those of traps.
//!
//! This module doesn't build or print messages.

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

/// A code with its name and its explanation.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeEntry {
    /// The code, a letter and digits: `T20`.
    pub code: &'static str,
    /// The name of the code in words joined by hyphens, for example `declared-twice`.
    pub words: &'static str,
    /// The explanation of the code, which `reviver explain` prints.
    pub account: &'static CodeAccount,
}

/// The explanation of a code.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeAccount {
    /// The title: one sentence without a full stop.
    pub title: &'static str,
    /// The rule that is broken, and its reason.
    pub meaning: &'static str,
    /// The remedy for the user.
    pub cure: &'static str,
    /// An example with its correction, or the reason why there is none.
    pub evidence: CodeEvidence,
}

/// Example programs of a code.
#[derive(Debug, PartialEq, Eq)]
pub enum CodeEvidence {
    /// The smallest program that triggers the code, and the corrected program.
    Programs {
        /// The smallest program that triggers the code.
        shown: CodeTrial,
        /// The corrected program, which doesn't trigger the code.
        recomputed: CodeTrial,
    },
    /// The reason why no program triggers the code.
    NotShown(&'static str),
}

/// A program, and the command that is run on it.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeTrial {
    /// The arguments of `reviver`, in which `FILE` is replaced by the program's file.
    pub command: &'static str,
    /// The source text of the program.
    pub text: &'static str,
}

impl CodeEntry {
    /// Returns the file name of the example program.
    pub fn file(&self) -> String {
        format!("{}.rasm", self.words)
    }

    /// Returns true if `name` is the code (`E20`) or its name in words, in any letter case.
    pub fn is_called(&self, name: &str) -> bool {
        self.code.eq_ignore_ascii_case(name) || self.words.eq_ignore_ascii_case(name)
    }
}

impl CodeTrial {
    /// Returns the command line to type in the folder of a file.
    pub fn typed(&self, file: &str) -> String {
        format!("reviver {}", self.command.replace("FILE", file))
    }
}

/// Returns the example of a code: the program that triggers it, and the corrected program.
#[doc(hidden)]
pub const fn programs(shown: CodeTrial, recomputed: CodeTrial) -> CodeEvidence {
    CodeEvidence::Programs { shown, recomputed }
}

#[doc(hidden)]
pub const fn trial(command: &'static str, text: &'static str) -> CodeTrial {
    CodeTrial { command, text }
}

/// Generates the enum of one kind of codes from a table of code, name, and explanation.
#[macro_export]
macro_rules! codes {
    ($(#[$doc:meta])* $Codes:ident { $($Code:ident = $code:literal $words:literal $account:path;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Codes {
            $($Code,)+
        }

        impl $Codes {
            /// All codes, in order.
            pub const ALL: &'static [$Codes] = &[$($Codes::$Code,)+];

            /// Returns the code's entry: code, name and explanation.
            pub fn entry(self) -> &'static $crate::codes::CodeEntry {
                match self {
                    $($Codes::$Code => {
                        const ENTRY: $crate::codes::CodeEntry =
                            $crate::codes::CodeEntry { code: $code, words: $words, account: &$account };
                        &ENTRY
                    })+
                }
            }

            /// Returns the code as messages show it.
            pub fn text(self) -> &'static str {
                self.entry().code
            }
        }
    };
}
