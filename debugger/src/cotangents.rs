//! What a step in gradient mode does to adjoints: which ones it changes, and out of which. Reads states
//! and the shapes of updates; the numbers are the machine's.
//!
//! A cotangent of 0 carries nothing, constants receive nothing, and an instruction that names an adjoint
//! acts plainly. A step from either end tells the same, because what is carried isn't changed by carrying;
//! but for steps that erase, which may be said to carry where they don't.

use reviver_isa::instruction::{Class, Instruction, Operand};
use reviver_isa::update::{Shape, Update};
use reviver_vm::State;

use crate::memory::{Cell, Memory};

/// A change of one adjoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The adjoint that changes.
    pub to: Cell,
    /// The adjoints of cells that its new content is made of; none where it is emptied, or comes from a
    /// stack or a tape.
    pub from: Vec<Cell>,
}

/// What the step over an instruction carries in a state, in either direction; nothing while gradient
/// mode is off.
pub fn carried(memory: &Memory, state: &State, instruction: &Instruction) -> Vec<Carried> {
    let names_adjoint = |o: &Operand| matches!(o, Operand::Place(place) if place.adjoint);
    if !state.mode() || instruction.operands.iter().any(names_adjoint) {
        return Vec::new();
    }
    let targets = instruction.update.shape().targets();
    let adjoints: Vec<Option<Cell>> =
        instruction.operands.iter().map(|operand| adjoint_of(memory, state, operand)).collect();
    let (targets, sources) = adjoints.split_at(targets.min(adjoints.len()));
    let sources = sources.iter().flatten().copied();
    match (instruction.update, targets) {
        // Going back hands on the target's cotangent and leaves it none. Whether that happened can't be seen
        // from the other end, where it is put back.
        (Update::Overwrite | Update::Erase, &[Some(y)]) => {
            let mut all = accumulated(y, sources);
            all.push(Carried { to: y, from: Vec::new() });
            all
        }
        (Update::Neg, &[Some(y)]) => vec![Carried { to: y, from: vec![y] }],
        (update, &[Some(y)]) if update.shape() == Shape::Single => vec![Carried { to: y, from: Vec::new() }],
        (Update::Swap, &[Some(x), Some(y)]) => swapped(x, y),
        (_, &[Some(x), Some(y)]) if is_loud(memory, state, x) || is_loud(memory, state, y) => {
            let turned = [x, y].map(|to| Carried { to, from: vec![x, y] });
            turned.into_iter().chain(sources.map(|to| Carried { to, from: vec![to, x, y] })).collect()
        }
        (_, &[Some(y)]) if is_loud(memory, state, y) => accumulated(y, sources),
        _ => Vec::new(),
    }
}

/// The adjoint of a real cell that an operand names.
fn adjoint_of(memory: &Memory, state: &State, operand: &Operand) -> Option<Cell> {
    let cell = memory.operand(state, operand).filter(|&cell| cell.class == Class::Real)?;
    if memory.is_constant(cell) { None } else { cell.adjoint() }
}

fn is_loud(memory: &Memory, state: &State, adjoint: Cell) -> bool {
    adjoint.value(state).is_some_and(|value| memory.program().approximate(value) != 0.0)
}

fn swapped(x: Cell, y: Cell) -> Vec<Carried> {
    vec![Carried { to: x, from: vec![y] }, Carried { to: y, from: vec![x] }]
}

/// Every source gets its share of the target's cotangent, once if it stands twice.
fn accumulated(y: Cell, sources: impl Iterator<Item = Cell>) -> Vec<Carried> {
    let mut all: Vec<Carried> = Vec::new();
    for to in sources {
        if !all.iter().any(|carried| carried.to == to) {
            all.push(Carried { to, from: vec![to, y] });
        }
    }
    all
}
