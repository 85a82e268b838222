//! Runs the last call backward to its start, and checks that the start is restored. This module sets no inputs.

use reviver_compile::compiled_run::RunEnd;
use reviver_vm::Travel;
use reviver_vm::drift::{restored, same};

use super::end_to_end::{EndToEnd, run_budget};
use super::error::Error;
use super::workspace::{Readable, Workspace};

/// Outcome of a backward run from the end of a call to its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackwardRun {
    /// True if every cell has its start value again. Floats may differ by the program's tolerance.
    pub restored: bool,
    /// True if every cell has its start value again, bit for bit.
    pub bit_exact: bool,
}

impl Workspace {
    /// Runs the last call backward, from its end to its start, and compares the state with the start.
    pub fn come_back(&mut self) -> Result<BackwardRun, Error> {
        let Readable::Arrived(travel) = self.held else {
            return Err(Error::NothingToRead("no run has reached its end; call `run` or `run_back` first"));
        };
        self.held = Readable::Nothing;
        let shared = &self.executable.shared;
        let trip = EndToEnd { travel: travel.reversed(), most_steps: self.most_steps, shows: None };
        let turn = self.machine.state().step;
        let budget = run_budget(&self.machine, self.most_steps);
        let ended = trip
            .compiled_run(shared)
            .map(|compiled_run| compiled_run.run(&mut self.machine, &mut self.buffers, budget));
        if ended != Some(RunEnd::Finished) {
            trip.finish(shared, &mut self.machine, turn)?;
        }
        let gifts = if travel == Travel::Forward { Some(&self.inputs) } else { self.results.as_ref() };
        let Some(gifts) = gifts else { return Err(Error::NoBeginning) };
        let (first, last) = (gifts.start.state(), self.machine.state());
        let bit_exact = same(first, last);
        Ok(BackwardRun { restored: bit_exact || restored(&shared.program, first, last), bit_exact })
    }
}
