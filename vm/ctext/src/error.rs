//! Reasons why a program has no C text. Each error has a remedy.

use reviver_compile::BuildError;
use reviver_compile::foreign::{ForeignKind, ForeignOperation};

/// Reason why a program has no C text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "messages explain variants and fields, and `cure()` returns `cure`")]
pub enum NoText {
    /// The program contains an operation that has no C text, such as `push`.
    #[error("{place}: `{what}` has no C text")]
    Foreign { place: String, what: String, cure: &'static str },
    /// An SSA function needs the data of an open call, although the function begins in main.
    #[error("the calls that this program makes have no C text")]
    Call,
    /// The program contains a call that exceeds the program's limit on nested calls in every run that reaches the call.
    #[error("{place}: this call is deeper than `.limit depth {limit}` allows")]
    Depth { place: String, limit: u32 },
    #[error("there is no cell `{name}`")]
    NoCell { name: String },
    #[error("`{name}` is an integer: only reals have a gradient")]
    NotReal { name: String },
    #[error("`{name}` has {cells} cells: a gradient needs a single cell")]
    ManyCells { name: String, cells: usize },
    #[error("the program itself switches or reads gradient mode, so C text can't differentiate the program")]
    OwnMode,
    #[error("the product of this Hessian with a direction has no C text: {why}")]
    NoProduct { why: &'static str },
    #[error("no variable is named that gets seeds")]
    NoSeed,
    #[error("`{name}` is named twice")]
    Twice { name: String },
    #[error("the program itself reads or writes adjoints, so its gradient has no C text")]
    OwnAdjoints,
    #[error(transparent)]
    BuildError(#[from] BuildError),
}

impl NoText {
    /// Describes an operation that C text can't execute.
    pub(crate) fn foreign(ForeignOperation { place, name, kind }: ForeignOperation) -> NoText {
        let cure = match kind {
            ForeignKind::Stack => "keep the values in an array: C text has no stacks and tapes",
            ForeignKind::Show => "remove the `show`, and print the results of the C function",
            ForeignKind::Call => {
                "write the procedure as a macro: C text can't call a procedure that has a rule or is very large, and can't pass an adjoint, a slice with a step, or very many arguments"
            }
            ForeignKind::Tasks => {
                "pass only variables, elements with constant indices, or elements whose index is the counter of `par for` to a task: C text can't check at run time that tasks use different cells"
            }
            ForeignKind::Switch => "remove `grad.on` and `grad.off`: `--of` differentiates the whole program",
            ForeignKind::Limit => "run the program with `reviver run`",
        };
        NoText::Foreign { place, what: name, cure }
    }

    /// Returns the remedy, in words for the user.
    pub fn cure(&self) -> &'static str {
        match self {
            NoText::Foreign { cure, .. } => cure,
            NoText::Call => "write the called procedure as a macro",
            NoText::Depth { .. } => "allow deeper calls, for example with `.limit depth 100`",
            NoText::NoCell { .. } => "name a cell of the program, such as `y`, `A[3]` or `M[1,2]`",
            NoText::NotReal { .. } => "name a cell that is declared with `: real`",
            NoText::ManyCells { .. } => "name one of the cells, such as `A[0]`",
            NoText::OwnMode => "omit `--of`: `reviver build` then translates the program without a gradient",
            NoText::NoProduct { .. } => {
                "omit `--times`, and compute the product with `reviver hessian --times`"
            }
            NoText::NoSeed => "name at least one result that gets seeds",
            NoText::Twice { .. } => "name each variable once",
            NoText::OwnAdjoints => {
                "use `reviver grad`; or omit `--of`: `reviver build` then translates the program without a gradient"
            }
            NoText::BuildError(_) => {
                "run the program with `reviver run`, or write a smaller program or one with fewer branches"
            }
        }
    }
}
