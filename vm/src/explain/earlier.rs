//! Values at the entry of a statement. The machine is reversible, so a copy of the state runs back to the
//! entry. The size of the copy and the number of steps are bounded. Nothing is returned if a step back may
//! not restore the old values exactly, because floats have lost bits or a value was erased.

use reviver_isa::instruction::{Class, Operand};
use reviver_isa::module::Procedure;
use reviver_isa::update::{OperandShape, Update};

use super::Explainer;
use crate::interp::engine::Interpreted;
use crate::interp::window::Window;
use crate::program::Program;
use crate::reports::Reports;
use crate::state::State;
use crate::stops::Node;
use crate::travel::{Segment, Stop, Travel};

/// Maximum number of steps of the copy. This many steps take a fraction of a second.
const MOST_STEPS: u32 = 1 << 18;
/// Largest state that is copied, in bytes.
const LARGEST_COPY: usize = 64 << 20;

impl Explainer<'_> {
    /// Returns the last earlier state in which the machine was at `position`, in the call that is open now. Returns
    /// `None` if reaching that state takes too much memory or too many steps, or if a step back isn't exact.
    pub(super) fn earlier(&self, position: u32) -> Option<State> {
        if self.state.bytes() > LARGEST_COPY {
            return None;
        }
        let (depth, backward) = (self.state.calls.len(), self.travel().reversed());
        let (mut state, mut window) = (self.state.try_clone().ok()?, self.program.window());
        for _ in 0..MOST_STEPS {
            if state.position == position && state.calls.len() == depth {
                return Some(state);
            }
            if state.calls.len() < depth || !is_exact(self.program, &state, backward) {
                return None;
            }
            step(self.program, &mut state, &mut window, backward)?;
        }
        None
    }

    /// Applies `change` to a copy of the state, undoes one step of the copy, and returns the copy. Returns `None` if
    /// the step can't be undone.
    pub(super) fn before_with(&self, change: impl FnOnce(&mut State)) -> Option<State> {
        if self.state.bytes() > LARGEST_COPY {
            return None;
        }
        let mut state = self.state.try_clone().ok()?;
        change(&mut state);
        step(self.program, &mut state, &mut Window::default(), self.travel().reversed())?;
        Some(state)
    }
}

fn step(program: &Program, state: &mut State, window: &mut Window, travel: Travel) -> Option<()> {
    let segment = Segment { travel, budget: 1 };
    match u64::execute(program, state, None, &mut Reports::default(), window, segment) {
        Ok(Stop::Bound | Stop::Interrupted) | Err(_) => None,
        Ok(_) => Some(()),
    }
}

/// Returns true if the next step restores the old values exactly: it recomputes no float and restores nothing
/// that was discarded.
fn is_exact(program: &Program, state: &State, travel: Travel) -> bool {
    let module = program.module();
    if module.real.is_exact() {
        return true;
    }
    let at = Node::of(state, travel).instruction();
    let Some(instruction) = module.code.get(at as usize) else { return false };
    let Some(owner) = module.procedures.get(program.procedure_of(at)) else { return false };
    let is_real = |operand: &Operand| match operand {
        Operand::Place(place) => {
            module.declaration(owner, place.base).is_none_or(|declared| declared.class == Class::Real)
        }
        _ => false,
    };
    let has_reals = |procedure: &Procedure| procedure.frame.iter().any(|v| v.class == Class::Real);
    match instruction.update.shape() {
        OperandShape::Condition
        | OperandShape::Branch
        | OperandShape::Show
        | OperandShape::Exchange
        | OperandShape::Tasks
        | OperandShape::Switch => true,
        // Going back, this step leaves a frame, and leaving a frame restores no values. A step back that enters a frame
        // is different: it needs the reals that were discarded at the frame's end.
        OperandShape::Boundary => true,
        OperandShape::Call => {
            let callee = program.callee(at).and_then(|callee| module.procedures.get(callee));
            callee.is_some_and(|callee| !has_reals(callee))
        }
        OperandShape::Accumulate | OperandShape::Rotate => !instruction.operands.first().is_some_and(is_real),
        OperandShape::Single => match instruction.update {
            Update::Neg | Update::Not | Update::Conj => true,
            _ => !instruction.operands.first().is_some_and(is_real),
        },
    }
}
