//! A run there and back, and what is to be seen on it: steps, what is left over, what was erased, where it comes back to.
//! Judges nothing.

use reviver_vm::drift::{restored, same};
use reviver_vm::{Cause, Machine, Program, State, Travel};

use crate::bounded::{Halt, go};
use crate::settings::TestLimits;

/// A run that has arrived, and is to go back.
pub(crate) struct Turned {
    first: State,
    travel: Travel,
    limits: TestLimits,
}

/// What was seen of a run there and back.
pub(crate) struct Excursion {
    pub steps: u64,
    pub erased_bits: u64,
    /// What the history took where the run turned.
    pub history_bytes: usize,
    /// Cells, stacks and tapes that aren't as they must be where the run turned, in words.
    pub garbage: Vec<String>,
    /// The same of what is declared garbage.
    pub declared_garbage: Vec<String>,
    pub homecoming: Homecoming,
}

/// Where the way back led.
#[derive(Debug, PartialEq)]
pub(crate) enum Homecoming {
    /// To the start, bit for bit.
    Same,
    /// To the start, but for what floats may lose; with a cell that differs.
    Near(String),
    /// Elsewhere; with a cell that differs.
    Elsewhere(String),
    Halted(Halt),
}

impl Excursion {
    /// Goes there.
    pub fn begin(machine: &mut Machine, travel: Travel, limits: TestLimits) -> Result<Turned, Halt> {
        let first = machine.state().try_clone()?;
        go(machine, travel, limits)?;
        Ok(Turned { first, travel, limits })
    }

    /// Whether the way back can't be gone without a history.
    pub fn needs_history(&self) -> bool {
        let is_irreversible =
            |halt: &Halt| matches!(halt, Halt::Trap { trap, .. } if trap.cause == Cause::Irreversible);
        matches!(&self.homecoming, Homecoming::Halted(halt) if is_irreversible(halt))
    }
}

impl Turned {
    /// Looks at where the machine stands, and goes back.
    pub fn back(self, machine: &mut Machine) -> Result<Excursion, Halt> {
        let (program, state) = (machine.program().clone(), machine.state());
        let lines = program.garbage(state, self.travel).into_iter().flat_map(|garbage| garbage.lines());
        let mut excursion = Excursion {
            steps: state.step.abs_diff(self.first.step),
            erased_bits: state.counters.erased_bits,
            history_bytes: machine.history_bytes(),
            garbage: lines.collect(),
            declared_garbage: declared_garbage(&program, state)?,
            homecoming: Homecoming::Same,
        };
        excursion.homecoming = match go(machine, self.travel.reversed(), self.limits) {
            Ok(()) => homecoming(&program, &self.first, machine.state()),
            Err(halt) => Homecoming::Halted(halt),
        };
        Ok(excursion)
    }
}

fn homecoming(program: &Program, first: &State, last: &State) -> Homecoming {
    if same(first, last) {
        return Homecoming::Same;
    }
    let difference = difference(program, first, last);
    if restored(program, first, last) {
        Homecoming::Near(difference)
    } else {
        Homecoming::Elsewhere(difference)
    }
}

/// The first cell in which two states differ, in words.
fn difference(program: &Program, first: &State, last: &State) -> String {
    for n in 0..program.module().globals.len() {
        let (was, is) = (program.read(first, n), program.read(last, n));
        let pair = was.iter().zip(&is).enumerate().find(|(_, (was, is))| was != is);
        if let Some((element, (&was, &is))) = pair {
            let name = program.cell_name(n, element);
            return format!("{name} = {}, which was {}", program.text(is), program.text(was));
        }
        if was.len() != is.len() {
            let name = program.cell_name(n, 0);
            return format!("{} values from {name} on, of which there were {}", is.len(), was.len());
        }
    }
    "something else on a stack, a tape or in a frame".to_owned()
}

/// Declared garbage that isn't what it began as, in words.
fn declared_garbage(program: &std::sync::Arc<Program>, state: &State) -> Result<Vec<String>, Halt> {
    if program.declared_garbage().next().is_none() {
        return Ok(Vec::new());
    }
    let initial = Machine::at_end(program.clone())?.into_state();
    let differs = |n: &usize| program.read(state, *n) != program.read(&initial, *n);
    let left = program.declared_garbage().filter(|(n, _)| differs(n));
    Ok(left.map(|(n, global)| format!("{}: {}", global.name, listed(program, state, n))).collect())
}

/// The first values of a global.
fn listed(program: &Program, state: &State, global: usize) -> String {
    const LISTED: usize = 8;
    let count = program.count(state, global);
    let values = (0..count.min(LISTED)).filter_map(|n| program.value(state, global, n));
    let texts: Vec<String> = values.map(|value| program.text(value)).collect();
    format!("{}{}", texts.join(","), if count > LISTED { ",…" } else { "" })
}
