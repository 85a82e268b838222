//! Warnings: texts that are valid but doubtful, or that are certain to fail at run time.
//!
//! Only the program's own file is checked, because a library may have unused parts. Violations of rules are
//! errors, and are not handled here.
//!
//! | file | subject |
//! |---|---|
//! | `usage` | unused cells, procedures without calls |
//! | `names` | unused constants, macros and parameters |
//! | `conditions` | comparisons with a fixed outcome |
//! | `stacks` | stacks without a pop, or without a push |
//! | `used` | the cells and procedures that the code refers to |
//! | `own` | the filter for the program's own file |
//! | `doomed` | [certain](crate::certain) errors, in terms of the text |

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

/// The maximum number of warnings listed; further ones are only counted.
const MOST: usize = 100;

/// Returns the warnings about a program without errors.
pub(crate) fn lint(body: &Body, lowered: &Lowered) -> Vec<Diagnostic> {
    let mut warnings = Collection::up_to(MOST);
    let doomed = doomed::globals(lowered, &mut warnings);
    usage::warn(
        &lowered.module,
        &lowered.globals,
        (&lowered.procedures, &lowered.tangent_rules),
        &doomed,
        &mut warnings,
    );
    stacks::warn(lowered, &mut warnings);
    names::warn(body, &mut warnings);
    conditions::warn(body, &mut warnings);
    warnings.finish()
}
