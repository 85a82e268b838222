//! A gradient whose steps somebody else makes, in a machine of his own that may serve again: what has to be done
//! where the pass turns round, and the judgement of its arrival, which are those of [`super::gradient`]. Makes no step. What the
//! judge refuses isn't mended here: then [`super::gradient`] begins anew.

use crate::machine::Machine;
use crate::room::OutOfMemory;
use crate::state::State;

use super::Astray;
use super::astray::judge;
use super::pass::{TurnPoint, turn_round};
use super::seeds::{SeededCell, SumSize};

/// A pass that has turned round.
#[derive(Clone, Copy, Debug)]
pub struct TurnedPass {
    turn: TurnPoint,
    sum: SumSize,
}

impl TurnedPass {
    /// Switches gradient mode on in a machine that has come from a start to the turn, and seeds the adjoints. `values` receives the
    /// bits of the seeded cells. In floats the machine has watched the way ([`Machine::watch`]); its adjoints are 0, if it has any.
    ///
    /// # Errors
    /// There is no memory for the adjoints.
    pub fn new(
        machine: &mut Machine,
        start: &State,
        seeds: &[SeededCell],
        values: &mut Vec<u64>,
    ) -> Result<TurnedPass, OutOfMemory> {
        let turn = turn_round(machine, start, seeds, values)?;
        Ok(TurnedPass { turn, sum: SumSize::of(machine.program(), seeds, values) })
    }

    /// The number of the step at which it turned.
    pub fn step(&self) -> i64 {
        self.turn.step
    }

    /// Whether the way back, which has come to where the start is, was the way there: then by how much the loss of
    /// another start may differ, to first order ([`super::Trust::loss_error`]).
    ///
    /// # Errors
    /// Why it wasn't, so that nobody vouches for its adjoints.
    pub fn judged(&self, machine: &Machine, start: &State) -> Result<f64, Astray> {
        judge(machine, start, self.turn.facts(self.sum))
    }
}
