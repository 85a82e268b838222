//! The adjoints that a step changes in gradient mode, and the adjoints from which the new values are
//! computed. This module only reads states and the shapes of updates; the machine does the arithmetic.
//!
//! A zero cotangent propagates nothing, and constants receive nothing. An instruction that names an adjoint
//! acts like an ordinary instruction on that adjoint. [`carried`] accepts the state before or after the step, and
//! returns the same list for both, because propagation doesn't change the propagated cotangent. Steps that erase
//! are the exception: for them, the list may contain a propagation that didn't take place.

use arrayvec::ArrayVec;
use reviver_flow::Slot;
use reviver_isa::instruction::Class;
use reviver_isa::update::{Action, OperandShape};
use reviver_vm::{State, lookup};

use crate::memory::{Cell, Memory};

/// A change of one adjoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The adjoint whose value changes.
    pub to: Cell,
    /// The adjoints from which the new value is computed. The list is empty if the adjoint is cleared, or restored from
    /// a stack or a tape.
    pub from: Vec<Cell>,
}

/// Returns the adjoints that the step over the instruction at `at` changes, in either direction. `state` is the state
/// before or after the step. The list is empty while gradient mode is off.
pub fn carried(memory: &Memory, state: &State, at: u32) -> Vec<Carried> {
    let Some(step) = memory.program().flow().step(at) else { return Vec::new() };
    if matches!(step.operation.update.shape(), OperandShape::Call | OperandShape::Boundary) {
        return at_bound_of_task(memory, state, at);
    }
    if !state.mode() || step.names_adjoint() {
        return Vec::new();
    }
    let update = step.operation.update;
    let adjoints = step.slots.iter().map(|slot| adjoint_of(memory, state, slot));
    let adjoints: ArrayVec<Option<Cell>, 3> = adjoints.collect();
    let (targets, sources) = adjoints.split_at(update.shape().targets().min(adjoints.len()));
    let sources = sources.iter().flatten().copied();
    let is_nonzero = |adjoint: Cell| is_nonzero(memory, state, adjoint);
    match (update.action(), targets) {
        (Action::Accumulate, &[Some(y)]) if is_nonzero(y) => accumulated(y, sources),
        // The backward step passes the target's cotangent on and clears it.
        // The state at the other end of the step doesn't show whether that happened, because the cotangent is
        // restored in that state.
        (Action::Replace | Action::Erase(_), &[Some(y)]) => {
            let mut all = accumulated(y, sources);
            // If the target is also a source, its adjoint isn't cleared: it receives a share.
            if !all.iter().any(|carried| carried.to == y) {
                all.push(Carried { to: y, from: Vec::new() });
            }
            all
        }
        (Action::Map, &[Some(y)]) => vec![Carried { to: y, from: vec![y] }],
        (Action::Clear | Action::Put(_) | Action::Take(_), &[Some(y)]) => {
            vec![Carried { to: y, from: Vec::new() }]
        }
        (Action::Exchange, &[Some(x), Some(y)]) => swapped(x, y),
        (Action::Rotate, &[Some(x), Some(y)]) if is_nonzero(x) || is_nonzero(y) => {
            let turned = [x, y].map(|to| Carried { to, from: vec![x, y] });
            turned.into_iter().chain(sources.map(|to| Carried { to, from: vec![to, x, y] })).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the adjoints that change where a task begins or ends. During a task, the adjoints of the cells that the task
/// only reads are accumulated from 0. The earlier values of these adjoints are set aside, and are added when the task
/// ends.
fn at_bound_of_task(memory: &Memory, state: &State, at: u32) -> Vec<Carried> {
    let cells = lookup::only_read_at_bound(memory.program(), state, at).into_iter();
    let adjoints = cells.filter_map(|cell| Cell::new(Class::Real, cell).adjoint());
    adjoints.map(|to| Carried { to, from: vec![to] }).collect()
}

/// Returns the adjoint of the cell to which a slot refers. Returns `None` for integers and constants.
fn adjoint_of(memory: &Memory, state: &State, slot: &Slot) -> Option<Cell> {
    let cell = memory.slot(state, state.calls.len(), slot).filter(|&cell| cell.class == Class::Real)?;
    if memory.is_constant(cell) { None } else { cell.adjoint() }
}

fn is_nonzero(memory: &Memory, state: &State, adjoint: Cell) -> bool {
    adjoint.value(state).is_some_and(|value| memory.program().approximate(value) != 0.0)
}

fn swapped(x: Cell, y: Cell) -> Vec<Carried> {
    vec![Carried { to: x, from: vec![y] }, Carried { to: y, from: vec![x] }]
}

/// Returns one change for each source: its adjoint receives a share of `y`, the target's cotangent. A source
/// that occurs twice is listed once.
fn accumulated(y: Cell, sources: impl Iterator<Item = Cell>) -> Vec<Carried> {
    let mut all: Vec<Carried> = Vec::new();
    for to in sources {
        if !all.iter().any(|carried| carried.to == to) {
            all.push(Carried { to, from: vec![to, y] });
        }
    }
    all
}
