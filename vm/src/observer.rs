//! Observers of runs: an observer sees the state at steps of its choice. An observer changes nothing, and has no access
//! to the machine.

use crate::state::State;

/// An observer of states during a run. If an engine repeats some steps, the observer sees the same states
/// again.
pub trait Observer {
    /// Returns the number of steps from `state` to the next state that the observer wants to see, at least 1.
    fn due(&self, state: &State) -> u64;

    /// Observes a state: a state that was due, or the last state of a part of the run.
    fn look(&mut self, state: &State);
}
