//! Gradient passes: forward with the mode off, backward with it on, and once more with a history where the
//! way back went astray. The same code serves plain numbers and dual numbers.

use std::sync::Arc;

use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::literal_bits;
use serde::{Deserialize, Serialize};

use crate::explain::{Explanation, explain};
use crate::history::Residues;
use crate::interp::engine::Interpreted;
use crate::level::CheckLevel;
use crate::machine::Machine;
use crate::reports::Reports;
use crate::room::{self, OutOfMemory};
use crate::state::values::Value;
use crate::state::{Adjoints, State};
use crate::stops::{Node, Stops};
use crate::trap::{Cause, Trap};
use crate::travel::{Stop, Travel};

use super::astray::{Astray, judge, largest};
use super::turning::Turning;
use super::{DifferentiateError, Subject, Trust};

/// A value and its gradient.
#[derive(Debug)]
pub struct Gradient {
    /// The loss, as bits of the number system.
    pub value: u64,
    /// The adjoint of every real cell at the beginning, as bits. [`Variable::origin`] finds one.
    pub adjoints: Adjoints,
    /// Steps of the forward run.
    pub steps: u64,
    /// The instruction before which it turned round; none at the end of the program.
    pub turned: Option<u32>,
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

impl Gradient {
    pub(super) fn new(subject: &Subject, arrival: Arrival, mended: Option<Astray>) -> Gradient {
        let Arrival { state, reports, turn, history_bytes, loss_error } = arrival;
        Gradient {
            value: turn.value,
            steps: turn.step.abs_diff(subject.start.step),
            turned: Some(turn.position).filter(|&position| position < subject.program.end()),
            steps_back: turn.step.abs_diff(state.step),
            drops: state.counters.drops,
            memory_bytes: state.bytes().saturating_add(history_bytes),
            history_bytes,
            trust: Trust { reports, mended, loss_error },
            adjoints: state.adjoints.unwrap_or_default(),
        }
    }
}

/// A run there and, for each of some losses, back in gradient mode.
pub(super) struct Round<B, T> {
    /// The losses at the end of the way there.
    pub results: Vec<B>,
    /// What the ways back arrived with, a loss each.
    pub arrivals: Vec<T>,
    /// Why the ways back were made again with a history, where they were.
    pub mended: Option<Astray>,
}

/// Where a way back has arrived.
pub(super) struct Arrival<B = u64> {
    pub state: State<B>,
    pub reports: Reports,
    /// Where it began.
    pub turn: Turn,
    pub history_bytes: usize,
    /// See [`Trust::loss_error`].
    pub loss_error: Option<f64>,
}

/// Goes there and back from a start, and keeps of each arrival what `keep` makes of it. A way back in
/// floats that isn't the way there is made again, with a history.
pub(super) fn round<B: Interpreted, T>(
    subject: &Subject,
    exact: bool,
    start: &State<B>,
    losses: &[usize],
    keep: impl Fn(Arrival<B>) -> Result<T, OutOfMemory>,
) -> Result<Round<B, T>, DifferentiateError> {
    let history = if exact { Keeps::All } else { Keeps::Nothing };
    match attempt(subject, history, start, losses, &keep) {
        Err(Stopped::Astray(reason)) if history.is_mended(subject) => {
            let again = attempt(subject, Keeps::Bounded, start, losses, &keep).map_err(Stopped::error)?;
            Ok(Round { mended: Some(reason), ..again })
        }
        other => other.map_err(Stopped::error),
    }
}

/// What a pass keeps for its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    Nothing,
    /// A history, because somebody has asked for it.
    All,
    /// A history that nobody has asked for.
    Bounded,
}

impl Keeps {
    /// How much is checked: only native code checks less, which carries plain numbers and keeps no history.
    fn level<B: Interpreted>(self, subject: &Subject) -> CheckLevel {
        if self == Keeps::Nothing && B::IS_PLAIN { subject.level } else { CheckLevel::Checked }
    }

    /// Whether a way back that went astray is made again, with a history.
    pub fn is_mended(self, subject: &Subject) -> bool {
        self == Keeps::Nothing && !subject.program.module().real.is_exact() && keeps(Rule::LostWaysAreMended)
    }
}

/// Why an attempt came to nothing.
pub(super) enum Stopped {
    For(DifferentiateError),
    Astray(Astray),
    /// Of a history that nobody has asked for.
    HistoryFull,
}

impl Stopped {
    /// What can't be mended. Where nothing is lost, only a program whose values depend on its adjoints comes
    /// back to other values.
    pub fn error(self) -> DifferentiateError {
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

impl<E: Into<DifferentiateError>> From<E> for Stopped {
    fn from(error: E) -> Stopped {
        Stopped::For(error.into())
    }
}

fn attempt<B: Interpreted, T>(
    subject: &Subject,
    history: Keeps,
    start: &State<B>,
    losses: &[usize],
    keep: &impl Fn(Arrival<B>) -> Result<T, OutOfMemory>,
) -> Result<Round<B, T>, Stopped> {
    let mut pass = Pass::new(subject, start, history)?;
    let turning = Turning::of(subject, losses);
    pass.there(subject, &turning)?;
    let reals = &pass.machine.state().reals;
    let results = room::mapped(losses, |&loss| reals.get(loss).copied().unwrap_or_default())?;
    let mut arrivals = room::with_capacity(losses.len())?;
    let mut end = Some(pass);
    for (n, &loss) in losses.iter().enumerate() {
        let pass =
            if n + 1 == losses.len() { end.take() } else { end.as_ref().map(Pass::try_clone).transpose()? };
        let Some(mut pass) = pass else { break };
        let loss_error = pass.whole(subject, start, loss, &turning)?;
        arrivals.push(keep(pass.arrival(loss_error))?);
    }
    Ok(Round { results, arrivals, mended: None })
}

/// A way there and back, and how far it has come.
#[derive(Debug)]
pub(super) struct Pass<B = u64> {
    pub machine: Machine<B>,
    pub history: Keeps,
    /// The end of the way there, once that is behind.
    pub turn: Option<Turn>,
}

/// The end of a way there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub step: i64,
    /// Where in main it lies.
    pub position: u32,
    /// The cell of the loss, and its bits.
    pub loss: u64,
    pub value: u64,
    /// The greatest magnitude of a number there and at the start.
    pub largest: f64,
    pub history_bytes: u64,
}

impl<B: Interpreted> Pass<B> {
    pub fn new(subject: &Subject, start: &State<B>, history: Keeps) -> Result<Pass<B>, OutOfMemory> {
        let mut machine = subject.machine(start.try_clone()?, history != Keeps::Nothing);
        let level = history.level::<B>(subject);
        if level.is_checked() && history == Keeps::Nothing && !subject.program.module().real.is_exact() {
            machine.watch();
        }
        Ok(Pass { machine, history, turn: None })
    }

    fn try_clone(&self) -> Result<Pass<B>, OutOfMemory> {
        Ok(Pass { machine: self.machine.try_clone()?, history: self.history, turn: self.turn })
    }

    /// Runs to where it is to turn round.
    pub fn there(&mut self, subject: &Subject, turning: &Turning) -> Result<(), Stopped> {
        match self.history {
            Keeps::Bounded => forward_within_bounds(subject, &mut self.machine, turning),
            Keeps::Nothing | Keeps::All => Ok(forward_to(subject, &mut self.machine, turning.stops())?),
        }
    }

    /// Switches gradient mode on and adds 1 to the adjoint of the loss.
    fn turn_round(&mut self, start: &State<B>, loss: usize) -> Result<Turn, OutOfMemory> {
        let turn = turn_round(&mut self.machine, start, loss)?;
        self.turn = Some(turn);
        Ok(turn)
    }

    /// Goes the rest of the way there, and back to the start; how wrong the loss of that may be, see
    /// [`Trust::loss_error`].
    pub fn whole(
        &mut self,
        subject: &Subject,
        start: &State<B>,
        loss: usize,
        turning: &Turning,
    ) -> Result<Option<f64>, Stopped> {
        let turn = match self.turn {
            Some(turn) => turn,
            None => {
                self.there(subject, turning)?;
                self.turn_round(start, loss)?
            }
        };
        backward(subject, &mut self.machine, start.own_steps())?;
        if !self.history.level::<B>(subject).is_checked() {
            return Ok(None);
        }
        let value = subject.program.approximate(Value::Real(turn.value));
        judge(&self.machine, start, turn.largest, value).map(Some).map_err(Stopped::Astray)
    }

    /// What has come to the start.
    pub fn arrival(self, loss_error: Option<f64>) -> Arrival<B> {
        let turn = self.turn.unwrap_or_default();
        let reports = self.machine.reports().clone();
        let history_bytes = usize::try_from(turn.history_bytes).unwrap_or(usize::MAX);
        Arrival { state: self.machine.into_state(), reports, turn, history_bytes, loss_error }
    }
}

/// Switches gradient mode on in a machine that has come to its turn, and adds 1 to the adjoint of the loss.
pub(super) fn turn_round<B: Interpreted>(
    machine: &mut Machine<B>,
    start: &State<B>,
    loss: usize,
) -> Result<Turn, OutOfMemory> {
    let history_bytes = machine.history_bytes() as u64;
    // The last thing that can fail comes first.
    machine.state_mut().make_adjoints()?;
    let (program, state) = (machine.program(), machine.state());
    let value = state.reals.get(loss).map_or(0, |bits| bits.word());
    let largest = largest(program, start).max(largest(program, state));
    let (step, position) = (state.step, state.position);
    let one = B::of_word(literal_bits(program.module().real, 1.0));
    let state = machine.state_mut();
    state.set_mode(true);
    state.adjoints_mut().cells.get_mut(loss).into_iter().for_each(|adjoint| *adjoint = one);
    Ok(Turn { step, position, loss: loss as u64, value, largest, history_bytes })
}

impl Subject {
    /// A machine at a start that shows nothing on the way.
    pub(super) fn machine<B: Interpreted>(&self, start: State<B>, exact: bool) -> Machine<B> {
        self.machine_at(start, exact.then(Residues::default))
    }

    /// The same somewhere on the way.
    pub(super) fn machine_at<B: Interpreted>(
        &self,
        mut state: State<B>,
        residues: Option<Residues<B>>,
    ) -> Machine<B> {
        state.counters.shown = i64::MAX;
        let mut machine = Machine::resume(Arc::clone(&self.program), state, residues);
        if let Some(flag) = &self.interrupt {
            machine.stop_when(Arc::clone(flag));
        }
        if let Some(runner) = &self.runner {
            machine.run_by(Arc::clone(runner));
        }
        machine
    }
}

/// Runs to the end.
pub(super) fn forward<B: Interpreted>(
    subject: &Subject,
    machine: &mut Machine<B>,
) -> Result<(), DifferentiateError> {
    forward_to(subject, machine, None)
}

/// Runs to the end, or to a place to stop at.
fn forward_to<B: Interpreted>(
    subject: &Subject,
    machine: &mut Machine<B>,
    stops: Option<&Stops>,
) -> Result<(), DifferentiateError> {
    match arrives(machine, stops, subject.max_steps)? {
        true => Ok(()),
        false => Err(DifferentiateError::StepLimit { backward: false, steps: subject.max_steps }),
    }
}

/// The most memory that a history may take which nobody has asked for.
const MOST_HISTORY: usize = 1 << 30;

/// So many steps are made between two looks at what the history takes.
const STRETCH: u64 = 1 << 20;

/// The same, as long as the history is not too large.
fn forward_within_bounds<B: Interpreted>(
    subject: &Subject,
    machine: &mut Machine<B>,
    turning: &Turning,
) -> Result<(), Stopped> {
    let mut left = subject.max_steps;
    while !arrives(machine, turning.stops(), left.min(STRETCH))? {
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

/// Makes at most so many steps forward; whether that leads to the end, or to a place to stop at.
fn arrives<B: Interpreted>(
    machine: &mut Machine<B>,
    stops: Option<&Stops>,
    budget: u64,
) -> Result<bool, DifferentiateError> {
    match machine.run_heeding(stops, Travel::Forward, budget) {
        // Nothing is shown: what the program prints is no part of its derivative.
        Ok(Stop::Bound | Stop::Shown { .. }) => Ok(true),
        Ok(Stop::Budget) => {
            let here = Node::of(machine.state(), Travel::Forward);
            Ok(at_bound(machine, Travel::Forward) || stops.is_some_and(|stops| stops.contains(here)))
        }
        Ok(Stop::Interrupted) => {
            Err(DifferentiateError::Interrupted { backward: false, step: machine.state().step })
        }
        Err(trap) => {
            let explanation = explained(machine, trap)?;
            Err(DifferentiateError::Trap { backward: false, explanation })
        }
    }
}

/// Runs to the beginning, whose number of own steps is known: a way back that makes more is lost, and
/// might never arrive.
fn backward<B: Interpreted>(subject: &Subject, machine: &mut Machine<B>, first: i64) -> Result<(), Stopped> {
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

/// A trap on the way back. Only a history leads over what was erased on purpose, and where memory is missing a
/// history would be too; any other trap may come of numbers that rounding has moved.
fn trapped<B: Interpreted>(machine: &Machine<B>, trap: Trap) -> Stopped {
    let explanation = match explained(machine, trap) {
        Ok(explanation) => explanation,
        Err(error) => return error.into(),
    };
    match trap.cause {
        Cause::Irreversible | Cause::NoMemory(_) => {
            DifferentiateError::Trap { backward: true, explanation }.into()
        }
        _ => Stopped::Astray(Astray::Trap(explanation)),
    }
}

fn explained<B: Interpreted>(machine: &Machine<B>, trap: Trap) -> Result<Box<Explanation>, OutOfMemory> {
    B::plainly(machine.state(), |state| Box::new(explain(machine.program(), state, trap)))
}

/// A limit that is reached exactly at the bound is no limit.
fn at_bound<B: Interpreted>(machine: &Machine<B>, travel: Travel) -> bool {
    let (program, state) = (machine.program(), machine.state());
    let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
    state.position == bound && state.calls.is_empty()
}
