//! A bounded number of states along a way, evenly spaced: where re-execution starts. Knows no
//! machine.

use std::sync::Arc;

use reviver_vm::State;

use super::spaced::Spaced;

/// Checkpoints that are kept at most, and at least, whatever their size.
const MOST: usize = 128;
const LEAST: usize = 4;

/// States at multiples of a spacing, by their distance from the origin. A clone shares the states.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// Memory that they may take.
    most_bytes: usize,
    states: Spaced<Arc<State>>,
}

impl Checkpoints {
    /// None yet. `spacing` is the number of steps between two of them at first.
    pub fn new(spacing: u64, most_bytes: usize) -> Checkpoints {
        Checkpoints { most_bytes, states: Spaced::new(spacing) }
    }

    /// The distance from the origin at which the next one is due.
    pub fn due(&self) -> u64 {
        self.states.due()
    }

    /// Takes the state at the distance that is due. Where there is no memory for it, none is taken any
    /// more, and going back leads over longer stretches.
    pub fn add(&mut self, state: &State) {
        let most = (self.most_bytes / bytes(state).max(1)).clamp(LEAST, MOST);
        if let Ok(copy) = state.try_clone() {
            self.states.add(Arc::new(copy), most);
        }
    }

    /// The furthest one that is at most `distance` from the origin.
    pub fn before(&self, distance: u64) -> Option<&Arc<State>> {
        self.states.before(distance)
    }

    /// Memory that they take.
    pub fn bytes(&self) -> usize {
        self.states.iter().map(|(_, state)| bytes(state)).sum()
    }
}

/// Memory that a state takes.
fn bytes(state: &State) -> usize {
    let adjoints = state.adjoints.as_ref().map_or(0, |adjoints| adjoints.all().count());
    let words =
        state.ints.len() + state.reals.len() + state.int_stack.len() + state.real_stack.len() + adjoints;
    let entries = state.input.len() + state.output.len();
    size_of::<State>()
        + words * size_of::<u64>()
        + entries * size_of::<reviver_vm::state::TapeEntry>()
        + state.calls.len() * size_of::<reviver_vm::state::CallRecord>()
        + state.references.len() * size_of::<reviver_vm::state::Reference>()
}
