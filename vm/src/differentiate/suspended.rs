//! Suspended gradients. This module defines the data of an unfinished gradient that are saved in addition to the state
//! and its history. It also checks the conditions under which a resumed gradient equals the gradient of an
//! uninterrupted run.
//!
//! The start state isn't saved. The caller supplies it again: the reverse sweep is verified against the start state,
//! and a diverged sweep is repeated from there. A digest in the saved data shows whether the supplied state is the same
//! start state.

use serde::{Deserialize, Serialize};

use crate::allocation;
use crate::history::Residues;
use crate::program::Program;
use crate::reports::Reports;
use crate::state::digest::{independent_digest, state_digest};
use crate::state::{Part, State};
use crate::strategy::{CheckpointedRun, Retention, RunCost, SavedRun, Strategy};
use crate::travel::Travel;

use super::divergence::Divergence;
use super::pass::{Gradient, Pass, PassHistory, Stopped, Turn};
use super::seeds::SeededCell;
use super::turning::TurningPoint;
use super::{DifferentiateError, Subject, Variable};

/// Saved gradient that can be resumed.
#[derive(Debug)]
pub struct SuspendedGradient {
    /// State at which the gradient was suspended, in either sweep.
    pub state: State,
    /// History of the machine; `None` if it keeps none.
    pub residues: Option<Residues>,
    /// Progress of the gradient; `None` if the state is that of a plain run, which computes no gradient.
    pub progress: Option<GradientProgress>,
    /// Data that a strategy keeps in addition, such as snapshots; `None` if no strategy was requested.
    pub saved_run: Option<SavedRun>,
}

/// Data of an unfinished gradient, apart from its state and its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradientProgress {
    /// Digest of the start state.
    start: [u8; 16],
    /// Losses of derivative information that the pass has reported so far, and its watch.
    reports: Reports,
    /// True if this pass repeats a diverged pass, with a history that the caller didn't request.
    is_recomputing: bool,
    /// End of the primal sweep, once the turning point was passed.
    turn: Option<Turn>,
}

impl GradientProgress {
    /// Returns true if the data fit a program and a state, so that using the data causes no error. Wrong contents that
    /// fit aren't detected. Such contents lead to a wrong gradient, as a file with another state does.
    pub(crate) fn is_of(&self, program: &Program, state: &State) -> bool {
        let length = program.module().code.len();
        let is_there = |turn: &Turn| {
            turn.at.position as usize <= length
                && turn.values.len() == turn.seeds.len()
                && turn.seeds.iter().all(|seed| seed.cell < state.reals.len())
        };
        self.reports.are_of(length) && self.turn.as_ref().is_none_or(is_there)
    }
}

/// Error of a gradient, with the saved gradient if it can be resumed.
#[derive(Debug)]
pub struct HaltedGradient {
    /// Reason why the gradient has no result.
    pub error: DifferentiateError,
    /// State of the gradient, if a stop request or the step limit ended it.
    pub suspended: Option<Box<SuspendedGradient>>,
}

impl<E: Into<DifferentiateError>> From<E> for HaltedGradient {
    fn from(error: E) -> HaltedGradient {
        HaltedGradient { error: error.into(), suspended: None }
    }
}

/// Computes the gradient of a loss with respect to every cell.
///
/// # Errors
/// A trap or the step limit in either sweep, a reverse sweep that isn't verified, or a refused memory request.
pub fn gradient(subject: &Subject, loss: &Variable) -> Result<Gradient, DifferentiateError> {
    seeded_gradient(subject, &subject.seeds_of(loss)?)
}

/// Computes the gradient of the seeded sum Σ seed·value with respect to every cell: a vector–Jacobian product. No two
/// seeds may have the same cell.
///
/// # Errors
/// The errors of [`gradient`].
pub fn seeded_gradient(subject: &Subject, seeds: &[SeededCell]) -> Result<Gradient, DifferentiateError> {
    gradient_from(subject, seeds, None).map_err(|halted| halted.error)
}

/// Computes the gradient of the seeded sum with respect to every cell, from the start or from a suspended gradient.
///
/// # Errors
/// The errors of [`gradient`]; also an error if the saved gradient can't be resumed.
pub fn gradient_from(
    subject: &Subject,
    seeds: &[SeededCell],
    from: Option<SuspendedGradient>,
) -> Result<Gradient, HaltedGradient> {
    let subject = &subject.for_seeds(seeds);
    let mut pass = match from {
        Some(suspended) => resumed(subject, seeds, suspended)?,
        None => Pass::new(subject, &subject.start, PassHistory::of(subject))?,
    };
    let turning = TurningPoint::of(subject, &allocation::mapped(seeds, |seed| seed.cell)?);
    let mut recomputed = pass.history.is_recomputing().then_some(Divergence::Before);
    loop {
        match pass.whole(subject, &subject.start, (0, seeds), &turning) {
            Ok(loss_error) => return Ok(Gradient::new(subject, pass.sweep_end(loss_error), recomputed)),
            Err(Stopped::Divergence(reason)) if pass.history.is_recomputed(subject) => {
                // The diverged pass is freed, because the repeated pass needs the memory.
                drop(pass);
                pass = Pass::again(subject, &subject.start, &reason)?;
                recomputed = Some(reason);
            }
            Err(stopped) => return Err(halted(subject, pass, stopped.error())),
        }
    }
}

fn halted(subject: &Subject, pass: Pass, error: DifferentiateError) -> HaltedGradient {
    let is_stopped =
        matches!(error, DifferentiateError::Interrupted { .. } | DifferentiateError::StepLimit { .. });
    if !is_stopped {
        return HaltedGradient { error, suspended: None };
    }
    let Pass { checkpointed_run, history, turn } = pass;
    let (start, reports) = (digest(subject), checkpointed_run.machine().reports().clone());
    let progress = Some(GradientProgress { start, reports, is_recomputing: history.is_recomputing(), turn });
    // If memory for the saved data is refused, the gradient can't be resumed.
    let suspended = checkpointed_run.into_saved().ok().map(|(mut state, residues, saved_run)| {
        state.counters.shown = state.counters.shown.without_silence();
        Box::new(SuspendedGradient { state, residues, progress, saved_run })
    });
    HaltedGradient { error, suspended }
}

/// Resumes a suspended gradient.
fn resumed(
    subject: &Subject,
    seeds: &[SeededCell],
    suspended: SuspendedGradient,
) -> Result<Pass, DifferentiateError> {
    let SuspendedGradient { state, residues, progress, saved_run } = suspended;
    let is_recomputing = progress.as_ref().is_some_and(|progress| progress.is_recomputing);
    let retention = saved_run.as_ref().map(SavedRun::retention);
    let kept = KeptInFile { has_history: residues.is_some(), retention };
    let history = match PassHistory::of(subject) {
        _ if is_recomputing => PassHistory::recomputing(subject),
        // A gradient that began with a history continues with this history, even if none is requested now.
        PassHistory::Nothing if kept.has_history => {
            PassHistory::Asked(retention.unwrap_or(Retention::RESIDUES), None)
        }
        asked => asked,
    };
    check(subject, seeds, &state, (history, kept), progress.as_ref())
        .map_err(|why| DifferentiateError::NotResumed { why })?;
    let mut machine = subject.machine_at(state, residues);
    let mut turn = None;
    if let Some(progress) = progress {
        machine.report_in(progress.reports);
        turn = progress.turn;
    }
    // The history of a plain run is that of the strategy `reverse`.
    let saved = |retention| SavedRun { retention, cost: RunCost::default(), snapshots: None };
    let checkpointed_run = match saved_run.or(history.retention().map(saved)) {
        Some(saved) => CheckpointedRun::resume(machine, &subject.start, saved)?,
        None => CheckpointedRun::begin(machine, None, Travel::Forward)?,
    };
    Ok(Pass { checkpointed_run, history, turn })
}

/// Facts about the history in a saved state: its existence, and the strategy that recorded it.
#[derive(Clone, Copy)]
struct KeptInFile {
    has_history: bool,
    retention: Option<Retention>,
}

impl KeptInFile {
    /// Returns true if the file's history is the one that `retention` requests.
    fn serves(self, retention: Retention) -> bool {
        match (self.retention, retention.strategy) {
            (Some(kept), _) => kept == retention,
            (None, Strategy::Reverse) => self.has_history,
            (None, Strategy::Tape | Strategy::Checkpoint { .. } | Strategy::Auto) => false,
        }
    }
}

/// Checks, as far as possible, that a gradient resumed from this state is the gradient at the start. If it isn't,
/// returns the reason.
fn check(
    subject: &Subject,
    seeds: &[SeededCell],
    state: &State,
    (history, kept): (PassHistory, KeptInFile),
    progress: Option<&GradientProgress>,
) -> Result<(), &'static str> {
    let turn = progress.and_then(|progress| progress.turn.as_ref());
    let in_rule = state.calls.iter().any(|call| call.part != Part::Whole);
    let is_watched = progress.is_some_and(|progress| progress.reports.watch().is_some());
    if progress.is_some_and(|progress| progress.start != digest(subject)) {
        Err("the saved gradient began with other inputs, or is with respect to other inputs")
    } else if turn.is_some_and(|turn| turn.seeds != seeds) {
        Err("the state is in the reverse sweep of another loss, or of other seeds")
    } else if turn.is_none() && (state.mode() || in_rule) {
        Err("gradient mode is on in the saved state, but the state doesn't record the loss")
    } else if state.own_steps() < subject.start.own_steps() {
        Err("the state is before the start of the run")
    } else if history.retention().is_some_and(|wanted| !kept.serves(wanted)) {
        Err(match (subject.retention, kept.retention) {
            (Some(_), _) => {
                "the gradient was begun with another strategy or another `--memory`: write the same options again"
            }
            (None, Some(_)) => {
                "the gradient was begun with a strategy: give the same strategy instead of `--exact`, or neither"
            }
            (None, None) => "`--exact` needs the history of the run so far, but none was saved",
        })
    } else if subject.level.is_checked()
        && history == PassHistory::Nothing
        && !kept.has_history
        && !is_watched
        && !subject.program.module().real.is_exact()
    {
        Err(
            "a plain run doesn't record its branches, and without them a reverse sweep in floats can't be verified: repeat the run with `--exact`, which keeps a history",
        )
    } else {
        Ok(())
    }
}

/// Returns the digest of the start. Unless all numbers at the start are independent variables, the digest also covers
/// the choice of the independent variables.
fn digest(subject: &Subject) -> [u8; 16] {
    let program = &subject.program;
    let independent = program.activity().independent();
    let chosen = independent.filter(|&independent| *independent != program.numbers());
    (state_digest(&subject.start).0 ^ chosen.map_or(0, independent_digest)).to_le_bytes()
}
