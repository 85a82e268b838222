//! Runs a whole program in either direction. Native code executes the run as far as it can, and the machine executes
//! the rest. This module neither sets inputs nor reads results.

use reviver_compile::compiled_run::{CompiledRun, RunBuffers, RunEnd};
use reviver_compile::start::RunStart;
use reviver_vm::explain::explain;
use reviver_vm::{Machine, ShowSink, ShownMark, ShownValue, Stop, Travel};

use super::error::Error;
use super::shared::Shared;

/// Maximum number of steps that native code executes before the interrupt flag is polled.
const UNASKED: u64 = 1 << 26;

/// Run from one end of the program to the other.
pub(super) struct EndToEnd<'s> {
    pub travel: Travel,
    pub most_steps: u64,
    /// Receives the values of `show`.
    pub shows: Option<&'s dyn ShowSink>,
}

impl EndToEnd<'_> {
    /// Executes the whole run from a start state. If native code exits early, the machine continues from there. If a
    /// check fails in native code, the machine repeats the run from the start, to find and report the error.
    pub fn make(
        &self,
        shared: &Shared,
        (machine, buffers): (&mut Machine, &mut RunBuffers),
        start: &RunStart,
    ) -> Result<(), Error> {
        let budget = run_budget(machine, self.most_steps);
        // Native code for the whole program doesn't stop at `show`, so it isn't used if values are shown.
        let compiled_run = self.compiled_run(shared).filter(|_| self.shows.is_none());
        let ended = compiled_run
            .map(|compiled_run| compiled_run.run_from(start, machine, buffers, budget))
            .transpose()?;
        match ended {
            Some(RunEnd::Finished) => return Ok(()),
            Some(RunEnd::Underway) => {}
            Some(RunEnd::Failed) | None => machine.renew(start.state())?,
        }
        if self.shows.is_some() {
            machine.state_mut().counters.shown = ShownMark::default();
        }
        self.finish(shared, machine, 0)
    }

    pub fn compiled_run<'s>(&self, shared: &'s Shared) -> Option<&'s CompiledRun> {
        if self.travel == Travel::Forward { shared.forward.as_ref() } else { shared.backward.as_ref() }
    }

    /// Continues from the machine's state to the end of the program. `first` is the step number at the start of the
    /// run, from which the step limit counts.
    pub fn finish(&self, shared: &Shared, machine: &mut Machine, first: i64) -> Result<(), Error> {
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

    /// Returns true if the machine is at the end of the program, so that a step limit reached at the same step isn't
    /// an error.
    fn is_there(&self, machine: &Machine) -> bool {
        let (program, state) = (machine.program(), machine.state());
        let bound = if self.travel == Travel::Forward { program.end() } else { program.begin() };
        state.position == bound && state.calls.is_empty()
    }
}

/// Returns how many of `steps` steps native code may execute before the interrupt flag must be polled: all of them if
/// the machine has no interrupt flag.
pub(super) fn run_budget(machine: &Machine, steps: u64) -> u64 {
    if machine.has_interrupt_flag() { steps.min(UNASKED) } else { steps }
}
