//! One gradient pass: forward with the mode off, backward with it on. The same code serves plain
//! numbers and dual numbers.

use std::sync::Arc;

use crate::drift::{Drift, largest_drift};
use crate::explain::explain;
use crate::history::Residues;
use crate::lanes::Lanes;
use crate::machine::Machine;
use crate::program::Program;
use crate::reports::Reports;
use crate::state::{Adjoints, State};
use crate::travel::{Stop, Travel};
use crate::values::literal_bits;

use super::lift::lower;
use super::{DifferentiateError, Subject, Variable};

/// A value and its gradient.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The loss, as bits of the number system.
    pub value: u64,
    /// The adjoint of every real cell at the beginning, as bits. Index it with [`Variable::cell`].
    pub adjoints: Adjoints,
    /// Steps of the forward run.
    pub steps: u64,
    /// Steps of the backward run: as many, and those of procedures' rules.
    pub steps_back: u64,
    /// Adjoints that were not 0 when their cell became a constant.
    pub drops: u64,
    /// What was lost in a way that may make the gradient wrong.
    pub reports: Reports,
    /// The most memory that the state and the history took, in bytes.
    pub memory_bytes: usize,
    /// The most memory that the history took, in bytes.
    pub history_bytes: usize,
    /// How far from its start the backward run has arrived.
    pub drift: Option<Drift>,
}

/// The gradient of a loss with respect to every cell.
///
/// # Errors
/// A trap or the step limit, in either direction.
pub fn gradient(subject: &Subject, loss: &Variable) -> Result<Gradient, DifferentiateError> {
    let mut machine = subject.machine(subject.start.clone());
    forward(subject, &mut machine)?;
    finish(subject, machine, loss)
}

/// The rest of a gradient pass, from the end of the forward run.
pub(super) fn finish(
    subject: &Subject,
    mut machine: Machine,
    loss: &Variable,
) -> Result<Gradient, DifferentiateError> {
    let value = machine.state().reals.get(loss.cell).copied().unwrap_or_default();
    let turn = machine.state().step;
    let steps = turn.abs_diff(subject.start.step);
    let history_bytes = machine.history_bytes();
    seed(&mut machine, loss.cell);
    backward(subject, &mut machine)?;
    let drift = largest_drift(&subject.program, &subject.start, &subject.start, machine.state());
    let memory_bytes = machine.state().bytes() + history_bytes;
    let steps_back = turn.abs_diff(machine.state().step);
    let drops = machine.state().counters.drops;
    let reports = machine.reports().clone();
    let adjoints = machine.into_state().adjoints.unwrap_or_default();
    Ok(Gradient { value, adjoints, steps, steps_back, drops, reports, memory_bytes, history_bytes, drift })
}

impl Subject {
    /// A machine at a start that shows nothing on the way.
    pub(super) fn machine<B: Lanes>(&self, mut start: State<B>) -> Machine<B> {
        start.counters.shown = i64::MAX;
        let residues = self.exact.then(Residues::default);
        let mut machine = Machine::resume(Arc::clone(&self.program), start, residues);
        if let Some(flag) = &self.interrupt {
            machine.stop_when(Arc::clone(flag));
        }
        machine
    }
}

/// Runs to the end.
pub(super) fn forward<B: Lanes>(
    subject: &Subject,
    machine: &mut Machine<B>,
) -> Result<(), DifferentiateError> {
    go(subject, machine, Travel::Forward)
}

/// Switches gradient mode on and adds 1 to the adjoint of the loss.
pub(super) fn seed<B: Lanes>(machine: &mut Machine<B>, loss: usize) {
    let one = B::of_word(literal_bits(machine.program().module(), 1.0));
    let state = machine.state_mut();
    state.set_mode(true);
    if let Some(adjoint) = state.adjoints_mut().cells.get_mut(loss) {
        *adjoint = one;
    }
}

/// Runs to the beginning.
pub(super) fn backward<B: Lanes>(
    subject: &Subject,
    machine: &mut Machine<B>,
) -> Result<(), DifferentiateError> {
    go(subject, machine, Travel::Backward)
}

fn go<B: Lanes>(
    subject: &Subject,
    machine: &mut Machine<B>,
    travel: Travel,
) -> Result<(), DifferentiateError> {
    let backward = travel == Travel::Backward;
    match machine.run(travel, subject.max_steps) {
        // Nothing is shown: what the program prints is no part of its derivative.
        Ok(Stop::Bound | Stop::Shown { .. }) => Ok(()),
        Ok(Stop::Budget) if at_bound(machine.program(), machine.state(), travel) => Ok(()),
        Ok(Stop::Budget) => Err(DifferentiateError::StepLimit { backward, steps: subject.max_steps }),
        Ok(Stop::Interrupted) => {
            Err(DifferentiateError::Interrupted { backward, step: machine.state().step })
        }
        Err(trap) => {
            let state = lower(machine.state(), 0);
            let explanation = Box::new(explain(machine.program(), &state, trap));
            Err(DifferentiateError::Trap { backward, explanation })
        }
    }
}

/// A limit that is reached exactly at the bound is no limit.
fn at_bound<B>(program: &Program, state: &State<B>, travel: Travel) -> bool {
    let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
    state.position == bound && state.calls.is_empty()
}
