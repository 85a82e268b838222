//! Operands that may be the same cell under different names or subscripts. The machine computes an expression before it
//! changes the target, but an instruction whose source is its target traps. So a shorter expression must not be used in
//! place of a longer one if a source may be the target.

use super::program::cell_name;
use crate::scopes::Names;
use crate::tree::Expression;
use crate::visit;

/// Returns true if a source may mention a target: another element of the same array, or in a procedure a global that was
/// passed as a parameter.
pub(super) fn may_alias(names: &Names, targets: &[Expression], sources: &[Expression]) -> bool {
    let is_global =
        |expression: &Expression| cell_name(expression).is_some_and(|name| names.node(name) == *name);
    let in_procedure = !names.owner().is_empty();
    targets.iter().any(|target| {
        let mut found = false;
        sources.iter().for_each(|source| {
            visit::in_expression(source, &mut |part| {
                found |= cell_name(part).is_some() && cell_name(part) == cell_name(target);
                found |= in_procedure && cell_name(part).is_some() && is_global(part) != is_global(target);
            });
        });
        found
    })
}
