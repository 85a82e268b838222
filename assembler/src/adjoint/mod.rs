//! The gradient of a program as a program: plain assembly that computes the gradient by a reverse sweep, without gradient
//! mode.
//!
//! ```text
//! .inout x: real            the program's declarations; results become garbage
//! .out   x_bar: real        an adjoint for each real
//!         add   y, x*x      the primal part
//!         add   y_bar, 1    the seed
//! ; 5: add y, x*x           the reverse part: each statement is undone, and passes its adjoint on
//!         sub   y, x*x
//!         add.mul x_bar, y_bar, x
//!         add.mul x_bar, y_bar, x
//! ```
//!
//! The reverse part is the inverse of the primal part ([`crate::invert`]), executed in gradient mode. The rule for each
//! statement is that of the machine ([`reviver_isa::step`]): if the statement adds f(a) to y, it subtracts y'·∂f/∂a from
//! a', and if it subtracts f(a), it adds y'·∂f/∂a. So adjoints are undone by the inverse statements, too, and one rule
//! serves both directions.
//!
//! If a cell becomes vacant, its adjoint is *dropped*. It moves to the stack of reals, which is declared as garbage. If
//! the program itself uses this stack, the adjoint moves to the output tape. On request it is erased
//! ([`DroppedAdjoints`]).
//!
//! | module | purpose |
//! |---|---|
//! | `request`, `emitter`, `variants` | the request, the state of the construction, and the variants of definitions |
//! | `program` | declarations, primal part, seed, reverse part |
//! | `gradient` | a statement in gradient mode |
//! | `chain` | the statements that pass an adjoint on to the cells of an expression |
//! | `terms` | partial derivatives as expressions |
//! | `procedure`, `macros`, `overlap` | adjoint procedures and adjoint macros; arguments that are the same cells |
//! | `varied`, `reals` | cells that depend on inputs; procedures with reals |
//! | `stacks` | reals on stacks |
//! | `rename` | names of adjoints in rules |

mod chain;
mod emitter;
mod gradient;
mod macros;
mod overlap;
mod procedure;
mod program;
mod reals;
mod rename;
mod request;
mod stacks;
mod terms;
mod variants;
mod varied;

use reviver_isa::codes::ProblemCode;

pub use self::request::{AdjointRequest, CellSeed, DroppedAdjoints};
use crate::assemble::assemble;
use crate::diagnostic::{Diagnostic, Severity, in_order};
use crate::files::Files;
use crate::format::print_with;
use crate::include::load;
use crate::source::{Sources, Span};

/// The gradient of a program as a program.
#[derive(Debug)]
pub struct AdjointProgram {
    /// The program's files; the first one is the program itself.
    pub sources: Sources,
    /// The text, or the errors.
    pub text: Result<String, Vec<Diagnostic>>,
    /// The suffix of the names of adjoints, such as `_bar`.
    pub suffix: String,
}

/// Returns the gradient of a program as a program. `name` is the name of the program's file; `files` finds includes
/// relative to this name. `adjoint_name` is the name of the file for the new program, to which its includes are relative.
pub fn adjoint_text(
    name: &str,
    bytes: Vec<u8>,
    (request, adjoint_name): (&AdjointRequest, &str),
    files: &dyn Files,
) -> AdjointProgram {
    let mut loaded = load(name, bytes, files);
    let mut diagnostics = std::mem::take(&mut loaded.diagnostics);
    let made = match diagnostics.is_empty() {
        true => program::adjoint_program(&mut loaded, request, adjoint_name, files),
        false => {
            in_order(&mut diagnostics);
            Err(diagnostics)
        }
    };
    let (text, suffix) = match made {
        Ok((body, suffix)) => (checked(print_with(&loaded.sources, &body), adjoint_name, files), suffix),
        Err(diagnostics) => (Err(diagnostics), String::new()),
    };
    AdjointProgram { sources: loaded.sources, text, suffix }
}

/// Returns the text of an adjoint program if it assembles. It may exceed a limit that the original doesn't reach.
fn checked(text: String, name: &str, files: &dyn Files) -> Result<String, Vec<Diagnostic>> {
    let assembly = assemble(name, text.clone().into_bytes(), files);
    let Some(problem) = assembly.diagnostics.into_iter().find(|it| it.severity == Severity::Error) else {
        return Ok(text);
    };
    Err(vec![match problem.code {
        Some(ProblemCode::TooMuch) => Diagnostic::error(
            ProblemCode::NoAdjointProgram,
            format!("the gradient program would exceed a limit: {}", problem.message),
            Span::default(),
            "in this program",
        )
        .help("divide long expressions and statements"),
        _ => Diagnostic::our_mistake(format!("the generated program has an error: {}", problem.message)),
    }])
}
