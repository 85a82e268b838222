//! Reasons why lanes of a program have no shader, with remedies.

use reviver_compile::BuildError;
use reviver_compile::foreign::{ForeignKind, ForeignOperation};

/// Reason why there is no shader.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "messages explain variants and fields, and `cure()` returns `cure`")]
pub enum NoShader {
    /// The program contains an operation that devices can't execute, such as `push`.
    #[error("{place}: devices have no `{what}`")]
    Foreign { place: String, what: String, cure: &'static str },
    /// The program's calls may be deeper than its `.limit depth`. Devices don't count inlined calls, so they can't
    /// check that limit.
    #[error("the program's open calls may exceed its `.limit depth`, and devices don't count open calls")]
    Limits,
    #[error(
        "each lane would need {words} words of memory for its arrays and open calls; the maximum is {most}"
    )]
    TooLarge { words: u64, most: u64 },
    /// The program uses gradient mode or names adjoints, so a caller can't request its derivatives.
    #[error(
        "the program switches gradient mode itself, or reads it, or names adjoints, so devices can't differentiate it"
    )]
    OwnMode,
    /// Losses that were requested together can't share one reverse sweep.
    #[error("the branches of the reverse sweep depend on adjoints, so these losses can't share a sweep")]
    RowsPart,
    #[error("no loss was requested")]
    NoLoss,
    #[error("devices don't compute second derivatives")]
    SecondDerivatives,
    /// A requested input or output cell doesn't exist, or an input isn't a cell of a global.
    #[error("there is no cell at the address {address}, or the cell can't be an input of a lane")]
    NoCell { address: usize },
    /// A requested derivative or value belongs to a loss that wasn't requested.
    #[error("there is no loss {row}, or it has fewer cells")]
    NoRow { row: usize },
    /// Lanes can't begin with the given state: it isn't at the beginning of their run, or a variable of main isn't 0.
    #[error(
        "lanes can't begin with this state: it isn't at the beginning of their run, or a variable of main isn't 0"
    )]
    Start,
    /// A cell that must end with its initial value has another value at the end of each lane, for any inputs.
    #[error("every lane ends with a value in `{name}`, which must end as it began")]
    Leftover { name: String },
    /// The compiler's SSA function counts steps in a way that has no shader text. No program is known to do so.
    #[error("shaders can't count the steps of this program")]
    Steps,
    #[error(transparent)]
    BuildError(#[from] BuildError),
}

impl NoShader {
    /// Describes an operation that devices can't execute.
    pub(crate) fn foreign(ForeignOperation { place, name, kind }: ForeignOperation) -> NoShader {
        let cure = match kind {
            ForeignKind::Stack => "keep the values in an array: lanes have no stacks and tapes",
            ForeignKind::Show => "remove it, and print the results of the lanes",
            ForeignKind::Call => {
                "write the procedure as a macro: devices have no calls of procedures that have a rule or are very large, and no calls with an adjoint, with a slice with a step, or with very many arguments"
            }
            ForeignKind::Tasks => {
                "pass each task elements whose index is the counter of `par for`, or cells that are known before the run: then no comparison is needed here"
            }
            ForeignKind::Switch => "remove it, and request gradients by an option",
            ForeignKind::Limit => "run lanes on the CPU",
        };
        NoShader::Foreign { place, what: name, cure }
    }

    /// Returns the remedy, in words for the user.
    pub fn cure(&self) -> &'static str {
        match self {
            NoShader::Foreign { cure, .. } => cure,
            NoShader::Limits => "allow deeper calls, or run lanes on the CPU",
            NoShader::TooLarge { .. } => {
                "reduce the arrays that are indexed, or that are variables of a recursive procedure; or run lanes on the CPU"
            }
            NoShader::OwnMode | NoShader::Steps | NoShader::SecondDerivatives => "run lanes on the CPU",
            NoShader::RowsPart => "differentiate them one by one",
            NoShader::NoLoss => "name a real of the program as the loss",
            NoShader::NoRow { .. } => "use the indices of requested losses and of their cells, starting at 0",
            NoShader::NoCell { .. } => "name a cell of the program",
            NoShader::Start => {
                "pass the state at the program's start (at its end, if the lanes run backward), with all variables of main 0"
            }
            NoShader::Leftover { .. } => "clear it in the program, or declare it `.inout` or `.garbage`",
            NoShader::BuildError(_) => {
                "run lanes on the CPU; a smaller program, or one with fewer branches, has a shader"
            }
        }
    }
}
