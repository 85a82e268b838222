//! A bounded number of states along a way, evenly spaced: where re-execution starts. Knows no
//! machine.

use std::sync::Arc;

use reviver_vm::State;

/// Checkpoints that are kept at most, and at least, whatever their size.
const MOST: usize = 128;
const LEAST: usize = 4;

/// States at multiples of a spacing, by their distance from the origin. Whenever there are too many
/// the spacing doubles, and every other one goes. A clone shares the states.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    spacing: u64,
    /// Memory that they may take.
    most_bytes: usize,
    /// The n-th is at distance (n + 1) · spacing.
    states: Vec<Arc<State>>,
}

impl Checkpoints {
    /// None yet. `spacing` is the number of steps between two of them at first.
    pub fn new(spacing: u64, most_bytes: usize) -> Checkpoints {
        Checkpoints { spacing: spacing.max(1), most_bytes, states: Vec::new() }
    }

    /// The distance from the origin at which the next one is due.
    pub fn due(&self) -> u64 {
        (self.states.len() as u64 + 1) * self.spacing
    }

    /// Takes the state at the distance that is due.
    pub fn add(&mut self, state: &State) {
        self.states.push(Arc::new(state.clone()));
        let most = (self.most_bytes / bytes(state).max(1)).clamp(LEAST, MOST);
        while self.states.len() > most {
            self.spacing *= 2;
            let mut number = 0;
            self.states.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
    }

    /// The furthest one that is at most `distance` from the origin.
    pub fn before(&self, distance: u64) -> Option<&Arc<State>> {
        let number = (distance / self.spacing).min(self.states.len() as u64) as usize;
        self.states.get(number.checked_sub(1)?)
    }

    /// Memory that they take.
    pub fn bytes(&self) -> usize {
        self.states.iter().map(|state| bytes(state)).sum()
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
