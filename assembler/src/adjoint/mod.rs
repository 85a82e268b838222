//! Derivatives of a program as a program: plain assembly without gradient mode. In *gradient mode*, the new program computes
//! a gradient by a reverse sweep (an *adjoint program*). In *tangent mode*, it computes the derivatives of all results along
//! a direction (a *tangent program*). Both modes visit the statements with the same functions, and share names, partial
//! derivatives, variants of procedures and macros, and the analysis of varied cells. The module is named after the first
//! mode.
//!
//! # Gradient mode
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
//! # Tangent mode
//!
//! ```text
//! .inout x: real            the program's declarations
//! .inout x_dot: real        a tangent for each real; that of an input is the direction's component
//! .out   y: real
//! .out   y_dot: real
//!         add   y, sin(x)   each statement, with the statement that computes the tangent of its target
//!         add   y_dot, x_dot*cos(x)
//! ```
//!
//! If a statement adds f(a) to y, it also adds a_dot·∂f/∂a to y_dot. Tangents are undone by the inverse statements, so the
//! inverse of a tangent program is the tangent program of the inverse. There is no reverse part, no seed, and nothing is
//! dropped: the statements that vacate a cell also vacate its tangent. If a cell is vacant only within the tolerance, its
//! tangent may be larger. Then the tangent program traps at this place, where a run over dual numbers reports a loss.
//!
//! | module | purpose |
//! |---|---|
//! | `request`, `emitter`, `variants` | the request, the state of the construction, and the variants of definitions |
//! | `program` | both constructions; declarations, primal part, seed and reverse part of an adjoint program |
//! | `declarations` | declarations of a derived program |
//! | `tangent_program` | declarations and statements of a tangent program |
//! | `gradient`, `tangent` | a statement in gradient mode; a statement in tangent mode |
//! | `chain` | the statements that pass an adjoint on to the cells of an expression; the tangent of an expression |
//! | `terms` | partial derivatives as expressions |
//! | `procedure`, `rule`, `macros`, `overlap` | adjoint or tangent procedures and macros; arguments that are the same cells |
//! | `own` | the gradients that a program computes itself, as statements |
//! | `varied`, `reals` | cells that depend on inputs; procedures with reals |
//! | `stacks` | reals on stacks |

mod chain;
mod declarations;
mod emitter;
mod gradient;
mod macros;
mod overlap;
pub(crate) mod own;
mod procedure;
mod program;
mod reals;
mod request;
mod rule;
mod stacks;
mod tangent;
mod tangent_program;
mod terms;
mod variants;
mod varied;

use reviver_isa::codes::ProblemCode;

use self::request::Derived;
pub use self::request::{AdjointRequest, CellSeed, DroppedAdjoints, TangentRequest};
use crate::arrays::roll;
use crate::assemble::assemble;
use crate::diagnostic::{Diagnostic, Severity, in_order};
use crate::files::Files;
use crate::format::print_with;
use crate::include::load;
use crate::source::{Sources, Span};

/// A gradient or the tangents of a program as a program.
#[derive(Debug)]
pub struct DerivedProgram {
    /// The program's files; the first one is the program itself.
    pub sources: Sources,
    /// The text, or the errors.
    pub text: Result<String, Vec<Diagnostic>>,
    /// The suffix of the names of adjoints or tangents, such as `_bar`.
    pub suffix: String,
}

/// Returns the gradient of a program as a program. `name` is the name of the program's file; `files` finds includes
/// relative to this name. `adjoint_name` is the name of the file for the new program, to which its includes are relative.
pub fn adjoint_text(
    name: &str,
    bytes: Vec<u8>,
    (request, adjoint_name): (&AdjointRequest, &str),
    files: &dyn Files,
) -> DerivedProgram {
    derived_text(name, bytes, (Derived::Gradient(request), adjoint_name), files)
}

/// Returns the tangents of a program's results as a program. `name` is the name of the program's file; `files` finds
/// includes relative to this name. `tangent_name` is the name of the file for the new program, to which its includes are
/// relative.
pub fn tangent_text(
    name: &str,
    bytes: Vec<u8>,
    (request, tangent_name): (&TangentRequest, &str),
    files: &dyn Files,
) -> DerivedProgram {
    derived_text(name, bytes, (Derived::Tangents(request), tangent_name), files)
}

fn derived_text(
    name: &str,
    bytes: Vec<u8>,
    (derived, new_name): (Derived<'_>, &str),
    files: &dyn Files,
) -> DerivedProgram {
    let mut loaded = load(name, bytes, files);
    own::replace(&mut loaded, 0);
    let mut diagnostics = std::mem::take(&mut loaded.diagnostics);
    let made = match diagnostics.is_empty() {
        true => program::derived_program(&mut loaded, derived, new_name, files),
        false => {
            in_order(&mut diagnostics);
            Err(diagnostics)
        }
    };
    let (text, suffix) = match made {
        Ok((body, suffix)) => {
            let text = print_with(&loaded.sources, &roll(body));
            (checked(text, (derived, new_name), files), suffix)
        }
        Err(diagnostics) => (Err(diagnostics), String::new()),
    };
    DerivedProgram { sources: loaded.sources, text, suffix }
}

/// Returns the text of a derived program if it assembles. It may exceed a limit that the original doesn't reach.
fn checked(
    text: String,
    (derived, name): (Derived<'_>, &str),
    files: &dyn Files,
) -> Result<String, Vec<Diagnostic>> {
    let assembly = assemble(name, text.clone().into_bytes(), files);
    let Some(problem) = assembly.diagnostics.into_iter().find(|it| it.severity == Severity::Error) else {
        return Ok(text);
    };
    let program = match derived {
        Derived::Gradient(_) => "gradient",
        Derived::Tangents(_) => "tangent",
    };
    Err(vec![match problem.code {
        Some(ProblemCode::TooMuch) => Diagnostic::error(
            ProblemCode::NoAdjointProgram,
            format!("the {program} program would exceed a limit: {}", problem.message),
            Span::default(),
            "in this program",
        )
        .help("divide long expressions and statements"),
        _ => Diagnostic::our_mistake(format!("the generated program has an error: {}", problem.message)),
    }])
}
