//! The cells that a step reads and writes in a given state. The operands come from the control-flow data of
//! the program ([`reviver_flow`]).
//!
//! - An instruction *writes* its targets, even if their content doesn't change.
//! - An instruction *reads* its sources, the indices of its operands and the cells of its condition.
//! - A step that enters a call in a forward run reads the indices of the call's arguments. The backward step that
//!   undoes this step reads the same indices.
//! - A branch that is taken also reads the cells of the condition at its partner.
//! - In gradient mode a step also writes the adjoints to which it propagates a cotangent
//!   ([`crate::cotangents`]).

pub use reviver_flow::Access;
use reviver_flow::StepLink;
use reviver_isa::instruction::Instruction;
use reviver_isa::update::OperandShape;
use reviver_vm::State;
use reviver_vm::state::Part;
use reviver_vm::stops::Node;

use crate::cotangents::carried;
use crate::memory::{Cell, MODE_BIT, Memory};

/// Calls `visit` with every cell that the step from `node` in `state` reads or writes, in the order of the
/// operands. A cell may be visited more than once.
pub fn visit(memory: &Memory, state: &State, node: Node, mut visit: impl FnMut(Access, Cell)) {
    let Some(instruction) = memory.program().module().code.get(node.instruction() as usize) else { return };
    visit_operands(memory, state, node.instruction(), &mut visit);
    if let Some((call, depth)) = entered(state, node, instruction) {
        memory.program().flow().visit_passed(call, |slot| {
            memory.slot(state, depth, slot).into_iter().for_each(|cell| visit(Access::Read, cell));
        });
    }
    if switches_mode(memory, state, node, instruction) {
        visit(Access::Write, MODE_BIT);
    }
    for change in carried(memory, state, node.instruction()) {
        visit(Access::Write, change.to);
        change.from.into_iter().filter(|&from| from != change.to).for_each(|from| visit(Access::Read, from));
    }
}

/// Returns the call that a step enters in a forward run, and the call depth of the caller. For a backward step, returns
/// the call that the undone forward step entered. An example is a backward step over the beginning of a procedure.
fn entered(state: &State, node: Node, instruction: &Instruction) -> Option<(u32, usize)> {
    let goes_forward = node.backward == state.inverted;
    match instruction.update.shape() {
        OperandShape::Call if goes_forward => Some((node.instruction(), state.calls.len())),
        OperandShape::Boundary if !goes_forward => Some((state.calls.last()?.site, state.calls.len() - 1)),
        _ => None,
    }
}

/// Returns true if a step switches gradient mode. A mode instruction switches gradient mode. So does a call of a
/// procedure with a derivative rule, because both parts of the call run with the mode off.
fn switches_mode(memory: &Memory, state: &State, node: Node, instruction: &Instruction) -> bool {
    match instruction.update.shape() {
        OperandShape::Switch => true,
        OperandShape::Call => {
            state.mode()
                && memory
                    .program()
                    .callee(node.instruction())
                    .is_some_and(|p| memory.program().rule(p).is_some())
        }
        // A ruled call has two parts, the body and the rule. The first part runs backward, from its end to its entry,
        // where the second part begins. The second part runs forward, from its entry to its end, where the call
        // returns.
        OperandShape::Boundary => {
            !node.backward && state.calls.last().is_some_and(|record| record.part != Part::Whole)
        }
        _ => false,
    }
}

/// Calls `visit` with the cells that a branch reads at its partner. The branch has been taken, and `state` is
/// the state after it.
pub fn visit_partner(memory: &Memory, state: &State, node: Node, mut visit: impl FnMut(Access, Cell)) {
    let step = memory.program().flow().step(node.instruction());
    if let Some(StepLink::Partner(partner)) = step.map(|step| step.link) {
        visit_operands(memory, state, partner, &mut visit);
    }
}

fn visit_operands(memory: &Memory, state: &State, at: u32, visit: &mut impl FnMut(Access, Cell)) {
    memory.program().flow().visit_accesses(at, |access, slot| {
        let cell = memory.slot(state, state.calls.len(), slot).filter(|_| !slot.is_constant());
        cell.into_iter().for_each(|cell| visit(access, cell));
    });
}

/// Returns true if the step from `node` was a branch that was taken. `position` is the position after the
/// step.
pub fn jumped(memory: &Memory, node: Node, position: u32) -> bool {
    let step = memory.program().flow().step(node.instruction());
    let is_branch = step.is_some_and(|step| matches!(step.link, StepLink::Partner(_)));
    let next = if node.backward { node.position.wrapping_sub(1) } else { node.position + 1 };
    is_branch && position != next
}
