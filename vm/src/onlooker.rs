//! Who looks at a state while a machine moves it, at steps of its own choice. Changes nothing, and knows no machine.

use crate::state::State;

/// Looks at states on the way. Whoever makes the steps may go over a stretch twice, and then shows the same states again.
pub trait Onlooker {
    /// Steps from a state to the next one that it wants to see, at least one.
    fn due(&self, state: &State) -> u64;

    /// Looks at a state: one that was due, or where a part of a run ends.
    fn look(&mut self, state: &State);
}
