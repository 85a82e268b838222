//! Why lanes of a program have no shader, and what to do about it.

use reviver_compile::Outside;

/// Why there is no shader.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoShader {
    /// The program does something that isn't made of operations on cells.
    #[error("{place}: devices have no `{what}`")]
    Foreign { place: String, what: String, cure: &'static str },
    /// Calls that are put in place.
    #[error(
        "the program's limits may not have room for its calls, which devices don't count (`.limit depth`)"
    )]
    Limits,
    #[error(
        "each lane would take {words} words of memory for its arrays and open calls, and {most} is the most"
    )]
    TooLarge { words: u64, most: u64 },
    /// The program can't be differentiated from outside.
    #[error(
        "the program switches gradient mode itself, or reads it, or names adjoints, so devices can't differentiate it"
    )]
    OwnMode,
    /// Losses that were to be differentiated together.
    #[error("adjoints decide which way these losses go back, so they can't go together")]
    RowsPart,
    #[error("nothing is to be differentiated")]
    NoLoss,
    /// A cell that is given or asked for isn't one of the program's, or can't be given.
    #[error("there is no such cell as the one at {address}, or no lane can be given it")]
    NoCell { address: usize },
    /// What lanes begin with isn't a state at the beginning of their way.
    #[error(
        "lanes can't begin with this state: it doesn't stand where their way begins, or there is something in main's variables"
    )]
    Start,
    /// Whatever a lane is given, it leaves something behind.
    #[error("every lane leaves something in `{name}` that should be used up")]
    Leftover { name: String },
    /// The compiler's form counts steps in a way that has no text. No program is known to have such a form.
    #[error("shaders can't count the steps of this program")]
    Steps,
    #[error(transparent)]
    Outside(#[from] Outside),
}

impl NoShader {
    /// What to do about it.
    pub fn cure(&self) -> &'static str {
        match self {
            NoShader::Foreign { cure, .. } => cure,
            NoShader::Limits => "allow deeper calls, or run lanes on the processor",
            NoShader::TooLarge { .. } => {
                "make arrays smaller that are indexed or are variables of a procedure that calls itself, or run lanes on the processor"
            }
            NoShader::OwnMode | NoShader::Steps => "run lanes on the processor",
            NoShader::RowsPart => "differentiate them one by one",
            NoShader::NoLoss => "name a real of the program as the loss",
            NoShader::NoCell { .. } => "name a cell of the program",
            NoShader::Start => "begin at the end of the program that the way leads from",
            NoShader::Leftover { .. } => "use it up in the program, or declare it `.inout` or `.garbage`",
            NoShader::Outside(_) => {
                "run lanes on the processor; a smaller program, or one with fewer branches, has a shader"
            }
        }
    }
}
