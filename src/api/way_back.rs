//! Back from where a run has arrived to where it began, and whether everything is as it was. Gives nothing.

use reviver_compile::route::RouteEnd;
use reviver_vm::Travel;
use reviver_vm::drift::{restored, same};

use super::error::Error;
use super::trip::{EndToEnd, in_one_go};
use super::workspace::{Readable, Workspace};

/// What became of a way back to where a run began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WayBack {
    /// Whether everything is as it was, floats within the program's tolerance.
    pub restored: bool,
    /// Whether it is so to the last bit.
    pub bit_exact: bool,
}

impl Workspace {
    /// Goes back from where the last run has arrived to where it began, and compares.
    ///
    /// # Errors
    /// A trap on the way, the step limit, no memory, or no run has arrived.
    pub fn come_back(&mut self) -> Result<WayBack, Error> {
        let Readable::Arrived(travel) = self.held else {
            return Err(Error::NothingToRead("no run has arrived, from which there is a way back"));
        };
        self.held = Readable::Nothing;
        let shared = &self.executable.shared;
        let trip = EndToEnd { travel: travel.reversed(), most_steps: self.most_steps, shows: None };
        let turn = self.machine.state().step;
        let budget = in_one_go(&self.machine, self.most_steps);
        let ended = trip.route(shared).map(|route| route.run(&mut self.machine, &mut self.room, budget));
        if ended != Some(RouteEnd::Arrived) {
            trip.go_on(shared, &mut self.machine, turn)?;
        }
        let gifts = if travel == Travel::Forward { Some(&self.inputs) } else { self.results.as_ref() };
        let Some(gifts) = gifts else { return Err(Error::NoBeginning) };
        let (first, last) = (gifts.start.state(), self.machine.state());
        let bit_exact = same(first, last);
        Ok(WayBack { restored: bit_exact || restored(&shared.program, first, last), bit_exact })
    }
}
