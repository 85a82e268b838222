//! Warnings about unused cells and procedures.

use std::collections::HashSet;

use reviver_isa::Module;
use reviver_isa::codes::ProblemCode;
use reviver_isa::module::Shape;

use super::own::is_own;
use super::stacks::is_used;
use super::used::UsedByCode;
use crate::diagnostic::{Collection, Diagnostic};
use crate::source::Span;

/// Warns about globals and procedures that the code doesn't use. `globals` and `procedures` contain the
/// places of their declarations. Globals in `known` have another warning already, and are skipped.
pub(super) fn warn(
    module: &Module,
    globals: &[Span],
    (procedures, tangent_rules): (&[Span], &[u32]),
    known: &HashSet<u32>,
    warnings: &mut Collection,
) {
    let used = UsedByCode::by(module);
    for (((number, global), used), place) in (0..).zip(&module.globals).zip(used.globals).zip(globals) {
        let (what, used) = match global.shape {
            Shape::Stack => ("stack", is_used(module, global.class)),
            _ => ("cell", used),
        };
        let is_meant = global.name.starts_with('_');
        if is_own(*place) && !used && !is_meant && !known.contains(&number) {
            let message = format!("nothing uses the {what} `{}`", global.name);
            warnings.add(Diagnostic::warning(ProblemCode::Unused, message, *place, "declared here"));
        }
    }
    for (((number, procedure), used), place) in
        (0..).zip(&module.procedures).zip(used.procedures).zip(procedures).skip(1)
    {
        if is_own(*place) && !used && !tangent_rules.contains(&number) {
            let message = format!("nothing calls the procedure `{}`", procedure.name);
            warnings.add(Diagnostic::warning(ProblemCode::Unused, message, *place, "defined here"));
        }
    }
}
