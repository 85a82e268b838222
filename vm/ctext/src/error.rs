//! Reasons why a program has no C text. Each error has a remedy.

use reviver_compile::BuildError;
use reviver_compile::foreign::{ForeignKind, ForeignOperation};

/// Reason why a program has no C text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "messages explain variants and fields, and `cure()` returns `cure`")]
pub enum NoText {
    /// The program contains an operation that C text can't execute, such as `push`.
    #[error("{place}: `{what}` has no C text")]
    Foreign { place: String, what: String, cure: &'static str },
    /// An SSA function needs data of a call, but it begins outside of calls.
    #[error("the calls of this program can't be written in C")]
    Call,
    /// The program contains a call that exceeds its limit on nested calls in every run that reaches the call.
    #[error("{place}: this call is deeper than `.limit depth {limit}` allows")]
    Depth { place: String, limit: u32 },
    #[error("there is no cell `{name}`")]
    NoCell { name: String },
    #[error("`{name}` is an integer: only reals have a gradient")]
    NotReal { name: String },
    #[error("`{name}` has {cells} cells: a gradient is that of one")]
    ManyCells { name: String, cells: usize },
    #[error(
        "the program switches gradient mode itself, or reads it, so it can't be differentiated from outside"
    )]
    OwnMode,
    #[error("no variable has a seed")]
    NoSeed,
    #[error("`{name}` is named twice")]
    Twice { name: String },
    #[error("the program reads or writes adjoints itself, so its gradient has no C text")]
    OwnAdjoints,
    #[error(transparent)]
    BuildError(#[from] BuildError),
}

impl NoText {
    /// Describes an operation that C text can't execute.
    pub(crate) fn foreign(ForeignOperation { place, name, kind }: ForeignOperation) -> NoText {
        let cure = match kind {
            ForeignKind::Stack => "keep the values in an array: there are no stacks and tapes in C",
            ForeignKind::Show => "remove it, and print the results of the function",
            ForeignKind::Call => {
                "write the procedure as a macro: C text has no calls of procedures that have a rule or are very large, and no calls with an adjoint, with a slice with a step, or with very many arguments"
            }
            ForeignKind::Tasks => {
                "pass each task elements whose index is the counter of `par for`, or cells that are known before the run: then no comparison is needed here"
            }
            ForeignKind::Switch => "remove it; `--of` differentiates the whole program",
            ForeignKind::Limit => "`reviver run` runs it",
        };
        NoText::Foreign { place, what: name, cure }
    }

    /// Returns the remedy, in words for the user.
    pub fn cure(&self) -> &'static str {
        match self {
            NoText::Foreign { cure, .. } => cure,
            NoText::Call => "write the called procedure as a macro",
            NoText::Depth { .. } => "allow deeper calls: `.limit depth 100`",
            NoText::NoCell { .. } => "name a cell of the program: `y`, `A[3]`, `M[1,2]`",
            NoText::NotReal { .. } => "name a cell that is declared with `: real`",
            NoText::ManyCells { .. } => "name one of them, such as `A[0]`",
            NoText::OwnMode => "without `--of`, `reviver build` writes what the program computes",
            NoText::NoSeed => "name the results that have seeds",
            NoText::Twice { .. } => "name each variable once",
            NoText::OwnAdjoints => {
                "`reviver grad` differentiates it; without `--of`, `reviver build` writes what the program computes"
            }
            NoText::BuildError(_) => {
                "`reviver run` runs it; a smaller program, or one with fewer branches, has a text"
            }
        }
    }
}
