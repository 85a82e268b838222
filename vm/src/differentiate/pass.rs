//! Gradient passes: forward with the mode off, backward with it on, and once more with a history where the
//! way back went astray. The same code serves plain numbers and dual numbers.

use std::sync::Arc;

use reviver_isa::mutants::{Rule, keeps};

use crate::explain::{Explanation, explain};
use crate::history::Residues;
use crate::lanes::Lanes;
use crate::machine::Machine;
use crate::reports::Reports;
use crate::state::{Adjoints, State};
use crate::trap::{Cause, Trap};
use crate::travel::{Stop, Travel};
use crate::values::{Value, literal_bits};

use super::astray::{Astray, judge, largest};
use super::lift::lower;
use super::{DifferentiateError, Subject, Trust, Variable};

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
    /// The most memory that the state and the history took, in bytes.
    pub memory_bytes: usize,
    /// The most memory that the history took, in bytes.
    pub history_bytes: usize,
    pub trust: Trust,
}

/// The gradient of a loss with respect to every cell.
///
/// # Errors
/// A trap or the step limit, in either direction; a way back that isn't the way there.
pub fn gradient(subject: &Subject, loss: &Variable) -> Result<Gradient, DifferentiateError> {
    let start = subject.start.clone();
    let mut round = round(subject, start, &[loss.cell], |arrival| arrival)?;
    let Some(Arrival { state, reports, history_bytes, loss_error }) = round.arrivals.pop() else {
        return Err(DifferentiateError::NotRestored { why: Box::new(Astray::Path) });
    };
    Ok(Gradient {
        value: round.results.first().copied().unwrap_or_default(),
        steps: round.steps,
        steps_back: round.turn.abs_diff(state.step),
        drops: state.counters.drops,
        memory_bytes: state.bytes() + history_bytes,
        history_bytes,
        trust: Trust { reports, mended: round.mended, loss_error },
        adjoints: state.adjoints.unwrap_or_default(),
    })
}

/// A run there and, for each of some losses, back in gradient mode.
pub(super) struct Round<B, T> {
    /// The losses at the end of the way there.
    pub results: Vec<B>,
    /// What the ways back arrived with, a loss each.
    pub arrivals: Vec<T>,
    /// Steps of the way there, and the number of the last.
    pub steps: u64,
    turn: i64,
    /// Why the ways back were made again with a history, where they were.
    pub mended: Option<Astray>,
}

/// Where a way back has arrived.
pub(super) struct Arrival<B = u64> {
    pub state: State<B>,
    pub reports: Reports,
    pub history_bytes: usize,
    /// See [`Trust::loss_error`].
    pub loss_error: f64,
}

/// Goes there and back from a start, and keeps of each arrival what `keep` makes of it. A way back in
/// floats that isn't the way there is made again, with a history.
pub(super) fn round<B: Lanes, T>(
    subject: &Subject,
    start: State<B>,
    losses: &[usize],
    keep: impl Fn(Arrival<B>) -> T,
) -> Result<Round<B, T>, DifferentiateError> {
    let mends = !subject.exact && !subject.program.module().real.is_exact() && keeps(Rule::LostWaysAreMended);
    match attempt(subject, &start, losses, subject.exact, &keep) {
        Err(Stopped::Astray(reason)) if mends => {
            let again = attempt(subject, &start, losses, true, &keep).map_err(Stopped::error)?;
            Ok(Round { mended: Some(reason), ..again })
        }
        other => other.map_err(Stopped::error),
    }
}

/// Why an attempt came to nothing.
enum Stopped {
    For(DifferentiateError),
    Astray(Astray),
    /// Of a history that nobody has asked for.
    HistoryFull,
}

impl Stopped {
    /// What can't be mended. Where nothing is lost, only a program whose values depend on its adjoints comes
    /// back to other values.
    fn error(self) -> DifferentiateError {
        match self {
            Stopped::For(error) => error,
            Stopped::HistoryFull => DifferentiateError::HistoryFull { bytes: MOST_HISTORY },
            Stopped::Astray(Astray::Trap(explanation)) => {
                DifferentiateError::Trap { backward: true, explanation }
            }
            Stopped::Astray(reason) => DifferentiateError::NotRestored { why: Box::new(reason) },
        }
    }
}

impl From<DifferentiateError> for Stopped {
    fn from(error: DifferentiateError) -> Stopped {
        Stopped::For(error)
    }
}

fn attempt<B: Lanes, T>(
    subject: &Subject,
    start: &State<B>,
    losses: &[usize],
    exact: bool,
    keep: &impl Fn(Arrival<B>) -> T,
) -> Result<Round<B, T>, Stopped> {
    let mut there = subject.machine(start.clone(), exact);
    if !exact && !subject.program.module().real.is_exact() {
        there.watch();
    }
    if exact && !subject.exact {
        forward_within_bounds(subject, &mut there)?;
    } else {
        forward(subject, &mut there)?;
    }
    let turn = there.state().step;
    let scale = largest(&subject.program, start).max(largest(&subject.program, there.state()));
    let results = losses.iter().map(|&loss| there.state().reals.get(loss).copied().unwrap_or_default());
    let mut round = Round {
        results: results.collect(),
        arrivals: Vec::with_capacity(losses.len()),
        steps: turn.abs_diff(start.step),
        turn,
        mended: None,
    };
    let mut there = Some(there);
    for (n, &loss) in losses.iter().enumerate() {
        let machine = if n + 1 == losses.len() { there.take() } else { there.clone() };
        let Some(machine) = machine else { break };
        round.arrivals.push(keep(back(subject, machine, (start, scale), loss)?));
    }
    Ok(round)
}

/// The way back for one loss, from the end of the way there.
fn back<B: Lanes>(
    subject: &Subject,
    mut machine: Machine<B>,
    (start, scale): (&State<B>, f64),
    loss: usize,
) -> Result<Arrival<B>, Stopped> {
    let history_bytes = machine.history_bytes();
    let program = &subject.program;
    let value =
        machine.state().reals.get(loss).map_or(0.0, |bits| program.approximate(Value::Real(bits.word())));
    seed(&mut machine, loss);
    backward(subject, &mut machine, start.own_steps())?;
    let loss_error = judge(&machine, start, scale, value).map_err(Stopped::Astray)?;
    let reports = machine.reports().clone();
    Ok(Arrival { state: machine.into_state(), reports, history_bytes, loss_error })
}

impl Subject {
    /// A machine at a start that shows nothing on the way.
    pub(super) fn machine<B: Lanes>(&self, mut start: State<B>, exact: bool) -> Machine<B> {
        start.counters.shown = i64::MAX;
        let residues = exact.then(Residues::default);
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
    match arrives(machine, subject.max_steps)? {
        true => Ok(()),
        false => Err(DifferentiateError::StepLimit { backward: false, steps: subject.max_steps }),
    }
}

/// The most memory that a history may take which nobody has asked for.
const MOST_HISTORY: usize = 1 << 30;

/// So many steps are made between two looks at what the history takes.
const STRETCH: u64 = 1 << 20;

/// Runs to the end, as long as the history is not too large.
fn forward_within_bounds<B: Lanes>(subject: &Subject, machine: &mut Machine<B>) -> Result<(), Stopped> {
    let mut left = subject.max_steps;
    while !arrives(machine, left.min(STRETCH))? {
        left = left.saturating_sub(STRETCH);
        if left == 0 {
            return Err(DifferentiateError::StepLimit { backward: false, steps: subject.max_steps }.into());
        }
        if machine.history_bytes() > MOST_HISTORY {
            return Err(Stopped::HistoryFull);
        }
    }
    Ok(())
}

/// Makes at most so many steps forward; whether that leads to the end.
fn arrives<B: Lanes>(machine: &mut Machine<B>, budget: u64) -> Result<bool, DifferentiateError> {
    match machine.run(Travel::Forward, budget) {
        // Nothing is shown: what the program prints is no part of its derivative.
        Ok(Stop::Bound | Stop::Shown { .. }) => Ok(true),
        Ok(Stop::Budget) => Ok(at_bound(machine, Travel::Forward)),
        Ok(Stop::Interrupted) => {
            Err(DifferentiateError::Interrupted { backward: false, step: machine.state().step })
        }
        Err(trap) => {
            let explanation = explained(machine, trap);
            Err(DifferentiateError::Trap { backward: false, explanation })
        }
    }
}

/// Runs to the beginning, whose number of own steps is known: a way back that makes more is lost, and
/// might never arrive.
fn backward<B: Lanes>(subject: &Subject, machine: &mut Machine<B>, first: i64) -> Result<(), Stopped> {
    let mut left = subject.max_steps;
    loop {
        let ahead = machine.state().own_steps() - first;
        if ahead < 0 {
            return Err(Stopped::Astray(Astray::Path));
        }
        let before = machine.state().step;
        // Rules make steps of their own.
        let budget = left.min(ahead.unsigned_abs().max(RULE_STEPS));
        match machine.run(Travel::Backward, budget) {
            Ok(Stop::Bound | Stop::Shown { .. }) => return Ok(()),
            Ok(Stop::Budget) if at_bound(machine, Travel::Backward) => return Ok(()),
            Ok(Stop::Budget) => left = left.saturating_sub(before.abs_diff(machine.state().step)),
            Ok(Stop::Interrupted) => {
                let step = machine.state().step;
                return Err(DifferentiateError::Interrupted { backward: true, step }.into());
            }
            Err(trap) => return Err(trapped(machine, trap)),
        }
        if left == 0 {
            let steps = subject.max_steps;
            return Err(DifferentiateError::StepLimit { backward: true, steps }.into());
        }
    }
}

/// So many steps of rules are made between two looks at how far the way back has come.
const RULE_STEPS: u64 = 1024;

/// A trap on the way back. Only a history leads over what was erased on purpose; any other trap may come
/// of numbers that rounding has moved.
fn trapped<B: Lanes>(machine: &Machine<B>, trap: Trap) -> Stopped {
    let explanation = explained(machine, trap);
    match trap.cause {
        Cause::Irreversible => DifferentiateError::Trap { backward: true, explanation }.into(),
        _ => Stopped::Astray(Astray::Trap(explanation)),
    }
}

fn explained<B: Lanes>(machine: &Machine<B>, trap: Trap) -> Box<Explanation> {
    Box::new(explain(machine.program(), &lower(machine.state(), 0), trap))
}

/// Switches gradient mode on and adds 1 to the adjoint of the loss.
fn seed<B: Lanes>(machine: &mut Machine<B>, loss: usize) {
    let one = B::of_word(literal_bits(machine.program().module(), 1.0));
    let state = machine.state_mut();
    state.set_mode(true);
    if let Some(adjoint) = state.adjoints_mut().cells.get_mut(loss) {
        *adjoint = one;
    }
}

/// A limit that is reached exactly at the bound is no limit.
fn at_bound<B: Lanes>(machine: &Machine<B>, travel: Travel) -> bool {
    let (program, state) = (machine.program(), machine.state());
    let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
    state.position == bound && state.calls.is_empty()
}
