//! Reasons why lanes of a program have no shader, with remedies.

use reviver_compile::BuildError;
use reviver_compile::foreign::{ForeignKind, ForeignOperation};

/// Reason why there is no shader.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "messages explain variants and fields, and `cure()` returns `cure`")]
pub enum NoShader {
    /// The program contains an operation that devices can't execute, such as `push`.
    #[error("{place}: devices can't execute `{what}`")]
    Foreign { place: String, what: String, cure: &'static str },
    /// The nesting of the program's calls may exceed `.limit depth`. Devices don't count inlined calls, so they can't
    /// check this limit.
    #[error("calls may be deeper than the program's `.limit depth`, and devices don't check that limit")]
    Limits,
    #[error(
        "each lane would need {words} words of memory for its arrays and open calls; the maximum is {most}"
    )]
    TooLarge { words: u64, most: u64 },
    /// The program switches or reads gradient mode, or names adjoints, so a caller can't request its derivatives.
    #[error(
        "the program switches gradient mode itself, reads it, or names adjoints, so devices can't differentiate it"
    )]
    OwnMode,
    /// Losses that were requested together can't share one reverse sweep.
    #[error("branches of the reverse sweep depend on adjoints, so these losses can't share a sweep")]
    RowsPart,
    #[error("the request names no loss")]
    NoLoss,
    #[error("a procedure of the program has a rule, which a derivative by a run forward would ignore")]
    Rule,
    /// A call on dual numbers or Taylor series has an operation that compiled code can't lift, or would be too long.
    #[error(
        "an operation of the program has no derivative on devices, or the derivative would need too much code; Hessians and products with a direction compute on dual numbers"
    )]
    Series,
    /// A requested input or output cell doesn't exist, or an input isn't a cell of a global.
    #[error("no cell has the address {address}, or the cell at this address can't be an input of a lane")]
    NoCell { address: usize },
    /// A requested derivative or value belongs to a loss that wasn't requested.
    #[error("the request has no loss {row}, or this loss doesn't have the requested seeded cell")]
    NoRow { row: usize },
    /// A requested coefficient has a higher order than the lanes compute.
    #[error("lanes don't compute coefficients of order {order}")]
    NoOrder { order: u32 },
    /// Lanes can't begin with the given state, because the state isn't at the beginning of the run, or because a
    /// variable of main isn't 0.
    #[error(
        "lanes can't begin with this state: the state isn't at the beginning of the run, or a variable of main isn't 0"
    )]
    Start,
    /// For any inputs, a cell that must end with its initial value has another value at the end of each lane.
    #[error("every lane ends with a value in `{name}` that differs from the initial value")]
    Leftover { name: String },
    /// The compiler's SSA function counts steps in a way that has no shader text. No known program is affected.
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
            ForeignKind::Show => "remove the `show`, and print the results of the lanes",
            ForeignKind::Call => {
                "write the procedure as a macro: devices can't call a procedure that has a rule or is very large, and can't pass an adjoint, a slice with a step, or very many arguments"
            }
            ForeignKind::Tasks => {
                "pass only variables, elements with constant indices, or elements whose index is the counter of `par for` to a task: devices can't check at run time that tasks use different cells"
            }
            ForeignKind::Switch => "remove `grad.on` and `grad.off`, and request gradients with an option",
            ForeignKind::Limit => "run lanes on the CPU",
        };
        NoShader::Foreign { place, what: name, cure }
    }

    /// Returns the remedy, in words for the user.
    pub fn cure(&self) -> &'static str {
        match self {
            NoShader::Foreign { cure, .. } => cure,
            NoShader::Limits => "allow deeper calls with `.limit depth`, or run lanes on the CPU",
            NoShader::TooLarge { .. } => {
                "use smaller arrays, or run lanes on the CPU; arrays need memory if they are indexed or belong to a recursive procedure"
            }
            NoShader::OwnMode | NoShader::Steps | NoShader::Series | NoShader::Rule => "run lanes on the CPU",
            NoShader::RowsPart => "differentiate the losses one by one",
            NoShader::NoLoss => "name a real of the program as the loss",
            NoShader::NoRow { .. } => {
                "use the index of a requested loss, and of one of its seeded cells; indices start at 0"
            }
            NoShader::NoOrder { .. } => "request a lower order",
            NoShader::NoCell { .. } => "name a cell of the program",
            NoShader::Start => {
                "pass the state at the program's start (at its end, if the lanes run backward), with all variables of main 0"
            }
            NoShader::Leftover { .. } => {
                "restore the initial value in the program, or declare the variable `.inout` or `.garbage`"
            }
            NoShader::BuildError(_) => {
                "run lanes on the CPU, or write a smaller program or one with fewer branches"
            }
        }
    }
}
