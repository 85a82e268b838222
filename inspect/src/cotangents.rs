//! Adjoint changes made by a step in gradient mode: which adjoints change, and which adjoints they are
//! computed from.
//! Only states and the shapes of updates are read; the arithmetic is the machine's.
//!
//! A zero cotangent propagates nothing, constants receive nothing, and an instruction that names an adjoint
//! acts as an ordinary one.
//! The result is the same from both ends of a step, because propagation leaves the propagated cotangent
//! unchanged.
//! Steps that erase are the exception: a propagation may be reported for them that didn't take place.

use arrayvec::ArrayVec;
use reviver_flow::Slot;
use reviver_isa::instruction::Class;
use reviver_isa::update::{Action, OperandShape};
use reviver_vm::{State, lookup};

use crate::memory::{Cell, Memory};

/// A change of one adjoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The adjoint that changes.
    pub to: Cell,
    /// The adjoints that the new value is computed from. Empty if the adjoint is cleared, or restored from
    /// a stack or a tape.
    pub from: Vec<Cell>,
}

/// Returns the adjoint changes of the step at an instruction, for either direction. Empty while gradient
/// mode is off.
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
        // The other end of the step can't show whether that happened, because the cotangent is restored
        // there.
        (Action::Replace | Action::Erase(_), &[Some(y)]) => {
            let mut all = accumulated(y, sources);
            // A target that is also a source keeps its share.
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

/// Returns the changes at either end of a task. A task accumulates its share from 0; the earlier value is
/// set aside and added when the task ends.
fn at_bound_of_task(memory: &Memory, state: &State, at: u32) -> Vec<Carried> {
    let cells = lookup::only_read_at_bound(memory.program(), state, at).into_iter();
    let adjoints = cells.filter_map(|cell| Cell::new(Class::Real, cell).adjoint());
    adjoints.map(|to| Carried { to, from: vec![to] }).collect()
}

/// Returns the adjoint of the real cell of a slot.
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

/// Returns the change of each source, which receives its share of the target's cotangent. A repeated source
/// is listed once.
fn accumulated(y: Cell, sources: impl Iterator<Item = Cell>) -> Vec<Carried> {
    let mut all: Vec<Carried> = Vec::new();
    for to in sources {
        if !all.iter().any(|carried| carried.to == to) {
            all.push(Carried { to, from: vec![to, y] });
        }
    }
    all
}
