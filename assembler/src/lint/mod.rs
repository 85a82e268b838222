//! What is allowed and yet doubtful, or certain to go wrong when the program runs. Each of it is a
//! warning.
//!
//! Judges the program's own file only: a library need not be used up. Knows no rule whose breach
//! is an error.
//!
//! | file | subject |
//! |---|---|
//! | `usage` | cells that nothing names, procedures that nothing calls |
//! | `names` | constants, macros and parameters that nothing names |
//! | `conditions` | comparisons that come out the same always |
//! | `stacks` | stacks that nothing pops, or nothing pushes to |
//! | `used` | what the code names |
//! | `own` | which warnings are worth giving |
//! | `doomed` | what is [certain](crate::certain) to go wrong, in words |

mod conditions;
mod doomed;
mod names;
mod own;
mod stacks;
mod usage;
mod used;

use crate::diagnostic::{Collection, Diagnostic};
use crate::lower::Lowered;
use crate::tree::Body;

/// Warnings beyond this many are only counted.
const MOST: usize = 100;

/// The warnings about a program without errors.
pub(crate) fn lint(body: &Body, lowered: &Lowered) -> Vec<Diagnostic> {
    let mut warnings = Collection::up_to(MOST);
    let doomed = doomed::globals(lowered, &mut warnings);
    usage::warn(&lowered.module, &lowered.globals, &lowered.procedures, &doomed, &mut warnings);
    stacks::warn(lowered, &mut warnings);
    names::warn(body, &mut warnings);
    conditions::warn(body, &mut warnings);
    warnings.finish()
}
