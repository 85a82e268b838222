//! Decides whether a branch loses no bits, so that going back needs no history. The decision depends only on
//! the program and the origin of the branch.

use reviver_isa::instruction::Operand;
use reviver_isa::module::Module;
use reviver_isa::update::OperandShape;
use reviver_vm::State;
use reviver_vm::strategy::{has_reals, loses_nothing};

/// Returns true if the inverse of every step on a branch restores the state before the step, bit for bit.
pub(super) fn is_lossless(module: &Module, origin: &State) -> bool {
    let adjoints = has_reals(module) && (origin.mode() || uses_adjoints(module) || has_adjoints(origin));
    loses_nothing(module) && !adjoints
}

/// Returns true if a program names adjoints or switches gradient mode.
pub(super) fn uses_adjoints(module: &Module) -> bool {
    let is_adjoint = |operand: &Operand| matches!(operand, Operand::Place(place) if place.adjoint);
    let mut code = module.code.iter();
    code.any(|i| i.update.shape() == OperandShape::Switch || i.operands.iter().any(is_adjoint))
}

/// Returns true if any adjoint is nonzero.
fn has_adjoints(state: &State) -> bool {
    state.adjoints.iter().flat_map(|adjoints| adjoints.all()).any(|&bits| bits != 0)
}
