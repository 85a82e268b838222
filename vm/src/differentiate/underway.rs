//! A gradient that is stopped and goes on later: what is kept of it beside the state and its history, and what
//! has to hold so that what comes of it is the gradient that it would have been.
//!
//! The start isn't kept: whoever goes on gives it again, because the way back is judged by it, and made again
//! from there if it went astray. That it is the same one its digest tells.

use serde::{Deserialize, Serialize};

use crate::history::Residues;
use crate::program::Program;
use crate::reports::Reports;
use crate::room;
use crate::state::digest::{independent_digest, state_digest};
use crate::state::{Part, State};
use crate::strategy::{Course, CourseCost, Retention, SavedCourse, Strategy};
use crate::travel::Travel;

use super::astray::Astray;
use super::pass::{Gradient, Keeps, Pass, Stopped, Turn};
use super::seeds::SeededCell;
use super::turning::Turning;
use super::{DifferentiateError, Subject, Variable};

/// How far a gradient has come.
#[derive(Debug)]
pub struct Underway {
    pub state: State,
    pub residues: Option<Residues>,
    /// None of a state that a plain run has come to.
    pub so_far: Option<SoFar>,
    /// What is kept of the way besides, under a strategy.
    pub course: Option<SavedCourse>,
}

/// What is known of the way so far, besides where it has led.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoFar {
    /// The digest of the start.
    start: [u8; 16],
    /// What was lost, and what was watched.
    reports: Reports,
    /// Whether this is a second round, with a history that nobody has asked for.
    mends: bool,
    /// The end of the way there, once that is behind.
    turn: Option<Turn>,
}

impl SoFar {
    /// Whether it is of a program. A file that says something else wrongly makes a wrong number, as one with
    /// another state does.
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

/// Why there is no gradient, and where it can be gone on with.
#[derive(Debug)]
pub struct Halted {
    pub error: DifferentiateError,
    /// Where somebody, or the step limit, has stopped it.
    pub underway: Option<Box<Underway>>,
}

impl<E: Into<DifferentiateError>> From<E> for Halted {
    fn from(error: E) -> Halted {
        Halted { error: error.into(), underway: None }
    }
}

/// The gradient of a loss with respect to every cell.
///
/// # Errors
/// A trap or the step limit, in either direction; a way back that isn't the way there; no memory for it.
pub fn gradient(subject: &Subject, loss: &Variable) -> Result<Gradient, DifferentiateError> {
    seeded_gradient(subject, &subject.seeds_of(loss)?)
}

/// The gradient of the seeded sum Σ seed·value with respect to every cell: a vector–Jacobian product. Each seed is of another cell.
///
/// # Errors
/// As [`gradient`].
pub fn seeded_gradient(subject: &Subject, seeds: &[SeededCell]) -> Result<Gradient, DifferentiateError> {
    gradient_from(subject, seeds, None).map_err(|halted| halted.error)
}

/// The gradient of the seeded sum with respect to every cell, from the start or from where it was stopped.
///
/// # Errors
/// As [`gradient`]; and what can't be gone on with.
pub fn gradient_from(
    subject: &Subject,
    seeds: &[SeededCell],
    from: Option<Underway>,
) -> Result<Gradient, Halted> {
    let subject = &subject.for_seeds(seeds);
    let mut pass = match from {
        Some(underway) => resumed(subject, seeds, underway)?,
        None => Pass::new(subject, &subject.start, Keeps::of(subject))?,
    };
    let turning = Turning::of(subject, &room::mapped(seeds, |seed| seed.cell)?);
    let mut mended = pass.history.is_mending().then_some(Astray::Before);
    loop {
        match pass.whole(subject, &subject.start, (0, seeds), &turning) {
            Ok(loss_error) => return Ok(Gradient::new(subject, pass.arrival(loss_error), mended)),
            Err(Stopped::Astray(reason)) if pass.history.is_mended(subject) => {
                // The next round needs the memory.
                drop(pass);
                pass = Pass::again(subject, &subject.start, &reason)?;
                mended = Some(reason);
            }
            Err(stopped) => return Err(halted(subject, pass, stopped.error())),
        }
    }
}

fn halted(subject: &Subject, pass: Pass, error: DifferentiateError) -> Halted {
    let is_stopped =
        matches!(error, DifferentiateError::Interrupted { .. } | DifferentiateError::StepLimit { .. });
    if !is_stopped {
        return Halted { error, underway: None };
    }
    let Pass { course, history, turn } = pass;
    let (start, reports) = (digest(subject), course.machine().reports().clone());
    let so_far = Some(SoFar { start, reports, mends: history.is_mending(), turn });
    // Without memory for what is to be saved it begins anew.
    let underway = course.into_saved().ok().map(|(mut state, residues, course)| {
        state.counters.shown = state.counters.shown.without_silence();
        Box::new(Underway { state, residues, so_far, course })
    });
    Halted { error, underway }
}

/// Goes on with what was stopped.
fn resumed(subject: &Subject, seeds: &[SeededCell], underway: Underway) -> Result<Pass, DifferentiateError> {
    let Underway { state, residues, so_far, course } = underway;
    let mends = so_far.as_ref().is_some_and(|so_far| so_far.mends);
    let retention = course.as_ref().map(SavedCourse::retention);
    let kept = KeptInFile { has_history: residues.is_some(), retention };
    let history = match Keeps::of(subject) {
        _ if mends => Keeps::mending(subject),
        // What was begun with a history has one still.
        Keeps::Nothing if kept.has_history => Keeps::Asked(retention.unwrap_or(Retention::RESIDUES), None),
        asked => asked,
    };
    check(subject, seeds, &state, (history, kept), so_far.as_ref())
        .map_err(|why| DifferentiateError::NotResumed { why })?;
    let mut machine = subject.machine_at(state, residues);
    let mut turn = None;
    if let Some(so_far) = so_far {
        machine.report_in(so_far.reports);
        turn = so_far.turn;
    }
    // A plain run that has kept a history has kept that of `reverse`.
    let saved = |retention| SavedCourse { retention, cost: CourseCost::default(), stretches: None };
    let course = match course.or(history.retention().map(saved)) {
        Some(saved) => Course::resume(machine, &subject.start, saved)?,
        None => Course::begin(machine, None, Travel::Forward)?,
    };
    Ok(Pass { course, history, turn })
}

/// What a file has of what a gradient keeps.
#[derive(Clone, Copy)]
struct KeptInFile {
    has_history: bool,
    retention: Option<Retention>,
}

impl KeptInFile {
    /// Whether that is what is to be kept.
    fn serves(self, retention: Retention) -> bool {
        match (self.retention, retention.strategy) {
            (Some(kept), _) => kept == retention,
            (None, Strategy::Reverse) => self.has_history,
            (None, Strategy::Tape | Strategy::Checkpoint { .. } | Strategy::Auto) => false,
        }
    }
}

/// Whether what comes of a state is the gradient at the start, as far as that can be told beforehand.
fn check(
    subject: &Subject,
    seeds: &[SeededCell],
    state: &State,
    (history, kept): (Keeps, KeptInFile),
    so_far: Option<&SoFar>,
) -> Result<(), &'static str> {
    let turn = so_far.and_then(|so_far| so_far.turn.as_ref());
    let in_rule = state.calls.iter().any(|call| call.part != Part::Whole);
    let is_watched = so_far.is_some_and(|so_far| so_far.reports.watch().is_some());
    if so_far.is_some_and(|so_far| so_far.start != digest(subject)) {
        Err("it began with other inputs, or was differentiated with respect to others")
    } else if turn.is_some_and(|turn| turn.seeds != seeds) {
        Err("it is on its way back from another loss, or with other seeds")
    } else if turn.is_none() && (state.mode() || in_rule) {
        Err("gradient mode is on there, and it isn't known whose gradient it is")
    } else if state.own_steps() < subject.start.own_steps() {
        Err("it lies before the start")
    } else if history.retention().is_some_and(|wanted| !kept.serves(wanted)) {
        Err(match (subject.retention, kept.retention) {
            (Some(_), _) => "it was begun with another strategy, or another `--memory`",
            (None, Some(_)) => "it was begun with a strategy: give that one in place of `--exact`, or none",
            (None, None) => "it has no history, as `--exact` keeps one",
        })
    } else if subject.level.is_checked()
        && history == Keeps::Nothing
        && !kept.has_history
        && !is_watched
        && !subject.program.module().real.is_exact()
    {
        Err(
            "a plain run doesn't watch its way, which in floats has to be found again; `--exact` would keep what it takes",
        )
    } else {
        Ok(())
    }
}

/// Of the start, and of what is differentiated with respect to, where that isn't every number there.
fn digest(subject: &Subject) -> [u8; 16] {
    let program = &subject.program;
    let independent = program.activity().independent();
    let chosen = independent.filter(|&independent| *independent != program.numbers());
    (state_digest(&subject.start).0 ^ chosen.map_or(0, independent_digest)).to_le_bytes()
}
