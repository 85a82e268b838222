//! Who looks at a machine while it runs, at steps of its own choice. Changes nothing, and knows no engine.

use crate::machine::Machine;
use crate::state::State;
use crate::stops::{Node, Stops};
use crate::trap::Trap;
use crate::travel::{Leg, Stop};

/// Looks at a machine's states on its way. Whoever makes the steps may go over a stretch twice, and then shows the same
/// states again.
pub trait Onlooker {
    /// Steps from a state to the next one that it wants to see, at least one.
    fn due(&self, state: &State) -> u64;

    /// Looks at a state: one that was due, or where a run ends.
    fn look(&mut self, state: &State);
}

/// Has somebody make the steps of a leg in parts, from one look to the next: `part` makes those of one part.
///
/// # Errors
/// A trap of a part, with the state before the instruction that trapped.
pub fn in_parts(
    machine: &mut Machine,
    stops: Option<&Stops>,
    leg: Leg,
    onlooker: &mut dyn Onlooker,
    mut part: impl FnMut(&mut Machine, Leg) -> Result<Stop, Trap>,
) -> Result<Stop, Trap> {
    let mut left = leg.budget;
    loop {
        let before = machine.state().step;
        let budget = left.min(onlooker.due(machine.state()).max(1));
        let stop = part(machine, Leg { budget, ..leg })?;
        left -= machine.state().step.abs_diff(before);
        onlooker.look(machine.state());
        let is_there = stops.is_some_and(|stops| stops.contains(Node::of(machine.state(), leg.travel)));
        if stop != Stop::Budget || left == 0 || is_there {
            return Ok(stop);
        }
    }
}
