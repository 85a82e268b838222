//! A round trip: a run to the end of the program and back, with its steps, leftover garbage, erased bits and final
//! state. This module gives no verdict.

use reviver_vm::drift::{restored, same};
use reviver_vm::{Cause, Machine, Program, State, Travel};

use crate::bounded::{Halt, go};
use crate::settings::TestLimits;

/// State of a round trip at its turning point: the first run has reached the end, and the run back hasn't begun.
pub(crate) struct EndedRun {
    first: State,
    travel: Travel,
    limits: TestLimits,
}

/// Observations of a completed round trip.
pub(crate) struct RoundTrip {
    pub steps: u64,
    pub erased_bits: u64,
    /// The size of the history at the turning point, in bytes.
    pub history_bytes: usize,
    /// The cells, stacks and tapes that don't have their required values at the turning point, as text.
    pub garbage: Vec<String>,
    /// The cells declared as garbage that don't have their initial values at the turning point, as text.
    pub declared_garbage: Vec<String>,
    pub homecoming: RoundTripEnd,
}

/// Final state of a round trip, in comparison with its initial state.
#[derive(Debug, PartialEq)]
pub(crate) enum RoundTripEnd {
    /// Equal to the initial state, bit for bit.
    Same,
    /// Equal to the initial state within the tolerance of floats. The text names a cell that differs.
    Near(String),
    /// Different from the initial state. The text names a cell that differs.
    Elsewhere(String),
    Halted(Halt),
}

impl RoundTrip {
    /// Runs to the end of the program in the direction `travel`, the first half of a round trip.
    pub fn begin(machine: &mut Machine, travel: Travel, limits: TestLimits) -> Result<EndedRun, Halt> {
        let first = machine.state().try_clone()?;
        go(machine, travel, limits)?;
        Ok(EndedRun { first, travel, limits })
    }

    /// Returns true if the backward run stopped at an erasure, which only a history could undo.
    pub fn needs_history(&self) -> bool {
        let is_irreversible =
            |halt: &Halt| matches!(halt, Halt::Trap { trap, .. } if trap.cause == Cause::Irreversible);
        matches!(&self.homecoming, RoundTripEnd::Halted(halt) if is_irreversible(halt))
    }
}

impl EndedRun {
    /// Records the observations at the turning point, runs back, and compares the final state with the
    /// initial one.
    pub fn back(self, machine: &mut Machine) -> Result<RoundTrip, Halt> {
        let (program, state) = (machine.program().clone(), machine.state());
        let lines = program.garbage(state, self.travel).into_iter().flat_map(|garbage| garbage.lines());
        let mut round_trip = RoundTrip {
            steps: state.step.abs_diff(self.first.step),
            erased_bits: state.counters.erased_bits,
            history_bytes: machine.history_bytes(),
            garbage: lines.collect(),
            declared_garbage: declared_garbage(&program, state)?,
            homecoming: RoundTripEnd::Same,
        };
        round_trip.homecoming = match go(machine, self.travel.reversed(), self.limits) {
            Ok(()) => homecoming(&program, &self.first, machine.state()),
            Err(halt) => RoundTripEnd::Halted(halt),
        };
        Ok(round_trip)
    }
}

fn homecoming(program: &Program, first: &State, last: &State) -> RoundTripEnd {
    if same(first, last) {
        return RoundTripEnd::Same;
    }
    let difference = difference(program, first, last);
    if restored(program, first, last) {
        RoundTripEnd::Near(difference)
    } else {
        RoundTripEnd::Elsewhere(difference)
    }
}

/// Returns the first cell in which two states differ, as text.
fn difference(program: &Program, first: &State, last: &State) -> String {
    for n in 0..program.module().globals.len() {
        let (was, is) = (program.read(first, n), program.read(last, n));
        let pair = was.iter().zip(&is).enumerate().find(|(_, (was, is))| was != is);
        if let Some((element, (&was, &is))) = pair {
            let name = program.cell_name(n, element);
            return format!("{name} = {}, but at the start {}", program.text(is), program.text(was));
        }
        if was.len() != is.len() {
            let name = program.cell_name(n, 0);
            return format!("{} values from {name} on, but at the start {}", is.len(), was.len());
        }
    }
    "a different value on a stack, on a tape or in a frame".to_owned()
}

/// Returns the declared garbage that differs from its initial value, as text.
fn declared_garbage(program: &std::sync::Arc<Program>, state: &State) -> Result<Vec<String>, Halt> {
    if program.declared_garbage().next().is_none() {
        return Ok(Vec::new());
    }
    let initial = Machine::at_end(program.clone())?.into_state();
    let differs = |n: &usize| program.read(state, *n) != program.read(&initial, *n);
    let left = program.declared_garbage().filter(|(n, _)| differs(n));
    Ok(left.map(|(n, global)| format!("{}: {}", global.name, listed(program, state, n))).collect())
}

/// Returns the first values of a global as text.
fn listed(program: &Program, state: &State, global: usize) -> String {
    const LISTED: usize = 8;
    let count = program.count(state, global);
    let values = (0..count.min(LISTED)).filter_map(|n| program.value(state, global, n));
    let texts: Vec<String> = values.map(|value| program.text(value)).collect();
    format!("{}{}", texts.join(","), if count > LISTED { ",…" } else { "" })
}
