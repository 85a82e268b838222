//! A run from one end of the program to the other: by code as far as that leads, and on in the ordinary manner. Gives nothing, and reads
//! nothing.

use reviver_compile::route::{Route, RouteEnd, RouteRoom};
use reviver_compile::start::RouteStart;
use reviver_vm::explain::explain;
use reviver_vm::{Machine, ShowSink, ShownMark, ShownValue, Stop, Travel};

use super::error::Error;
use super::executable::Shared;

/// Who may be asked to stop lets code make so many steps before it is asked again.
const UNASKED: u64 = 1 << 26;

/// A run from one end to the other.
pub(super) struct EndToEnd<'s> {
    pub travel: Travel,
    pub most_steps: u64,
    /// Receives what `show` shows.
    pub shows: Option<&'s dyn ShowSink>,
}

impl EndToEnd<'_> {
    /// Makes it from a start. Where code doesn't lead all the way, the machine goes on in the ordinary manner; where a check of
    /// the code fails, it does so from the start, and finds out what is wrong, if anything is.
    pub fn make(
        &self,
        shared: &Shared,
        (machine, room): (&mut Machine, &mut RouteRoom),
        start: &RouteStart,
    ) -> Result<(), Error> {
        let budget = in_one_go(machine, self.most_steps);
        // Code of the whole way shows nothing.
        let route = self.route(shared).filter(|_| self.shows.is_none());
        let ended = route.map(|route| route.run_from(start, machine, room, budget)).transpose()?;
        match ended {
            Some(RouteEnd::Arrived) => return Ok(()),
            Some(RouteEnd::Underway) => {}
            Some(RouteEnd::Failed) | None => machine.renew(start.state())?,
        }
        if self.shows.is_some() {
            machine.state_mut().counters.shown = ShownMark::default();
        }
        self.go_on(shared, machine, 0)
    }

    pub fn route<'s>(&self, shared: &'s Shared) -> Option<&'s Route> {
        if self.travel == Travel::Forward { shared.there.as_ref() } else { shared.back.as_ref() }
    }

    /// Goes on to the end, with all steps counted from one that has a number.
    pub fn go_on(&self, shared: &Shared, machine: &mut Machine, first: i64) -> Result<(), Error> {
        let backward = self.travel == Travel::Backward;
        loop {
            let left = self.most_steps.saturating_sub(machine.state().step.abs_diff(first));
            match machine.run(self.travel, left) {
                Ok(Stop::Bound) => return Ok(()),
                Ok(Stop::Shown { at, class, bits }) => {
                    let shown = ShownValue::new(at, class, bits);
                    if let Some(Err(error)) = self.shows.map(|shows| shows.show(&shared.program, shown)) {
                        return Err(Error::of_derivative(&shared.name, error.into()));
                    }
                }
                Ok(Stop::Budget | Stop::Interrupted) if self.is_there(machine) => return Ok(()),
                Ok(Stop::Interrupted) => return Err(Error::Interrupted),
                Ok(Stop::Budget) => {
                    return Err(Error::StepLimit { backward, steps: self.most_steps });
                }
                Err(trap) => {
                    let explanation = explain(machine.program(), machine.state(), trap);
                    return Err(Error::trap(&shared.name, backward, Box::new(explanation)));
                }
            }
        }
    }

    /// A limit that is reached exactly at the end is no limit.
    fn is_there(&self, machine: &Machine) -> bool {
        let (program, state) = (machine.program(), machine.state());
        let bound = if self.travel == Travel::Forward { program.end() } else { program.begin() };
        state.position == bound && state.calls.is_empty()
    }
}

/// How many of some steps code may make in one go.
pub(super) fn in_one_go(machine: &Machine, steps: u64) -> u64 {
    if machine.heeds_a_flag() { steps.min(UNASKED) } else { steps }
}
