//! Who makes the steps of a machine in the interpreter's place, and parts of runs for whoever looks on. Knows no instruction.

use std::fmt::Debug;

use super::Machine;
use crate::onlooker::Onlooker;
use crate::stops::{Node, Stops};
use crate::trap::Trap;
use crate::travel::{Leg, Stop};

/// Makes the steps of one program in the interpreter's place, which it may always ask for help
/// ([`Machine::interpret`]). Runs over lifted numbers stay the interpreter's.
pub trait Runner: Debug + Send + Sync {
    /// Makes the steps of a leg, but none at a place to stop at: [`Machine::run_until`].
    ///
    /// # Errors
    /// A trap; the state is then the one before the instruction that trapped.
    fn run(&self, machine: &mut Machine, stops: Option<&Stops>, leg: Leg) -> Result<Stop, Trap>;

    /// The same, with somebody who looks at the machine on the way.
    ///
    /// # Errors
    /// A trap, as [`Runner::run`].
    fn run_seen(
        &self,
        machine: &mut Machine,
        stops: Option<&Stops>,
        leg: Leg,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Stop, Trap> {
        in_parts(machine, stops, leg, onlooker, |machine, leg| self.run(machine, stops, leg))
    }

    /// How many steps it has made itself, without the interpreter's help.
    fn steps_made(&self) -> u64 {
        0
    }
}

/// Makes the steps of a leg in parts, from one look of an onlooker to the next: `part` makes those of one.
pub(super) fn in_parts(
    machine: &mut Machine,
    stops: Option<&Stops>,
    leg: Leg,
    onlooker: &mut dyn Onlooker,
    part: impl Fn(&mut Machine, Leg) -> Result<Stop, Trap>,
) -> Result<Stop, Trap> {
    let mut left = leg.budget;
    loop {
        let before = machine.state.step;
        let budget = left.min(onlooker.due(&machine.state).max(1));
        let stop = part(machine, Leg { budget, ..leg })?;
        left -= machine.state.step.abs_diff(before);
        onlooker.look(&machine.state);
        let is_there = stops.is_some_and(|stops| stops.contains(Node::of(&machine.state, leg.travel)));
        if stop != Stop::Budget || left == 0 || is_there {
            return Ok(stop);
        }
    }
}
