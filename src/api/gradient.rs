//! Calls for a value and its gradient, in three tiers. Native code without a machine comes first, if the program
//! allows it. Next comes the workspace's machine, by native code where there is some. If the gradient isn't verified
//! there, separate passes ([`differentiate::gradient`]) find the cause, and repeat the reverse sweep with a history
//! if rounding is the cause.

use std::sync::Arc;

use reviver_compile::bare::BareRoom;
use reviver_compile::route::{RouteEnd, RouteRoom};
use reviver_compile::start::RouteStart;
use reviver_compile::turning::{BareEnd, BareProgress, BareTrip, TurningRoutes};
use reviver_vm::differentiate::{self, Shows, Subject, Trust, TurnedPass};
use reviver_vm::reports::{Loss, Reports};
use reviver_vm::room::OutOfMemory;
use reviver_vm::values::Value;
use reviver_vm::{CheckLevel, Machine, Program, Stop, Travel};

use super::cells::RealCells;
use super::error::Error;
use super::executable::Shared;
use super::loss::{CompiledLoss, LossCell};
use super::numbers::take_reals;
use super::places::place_of;
use super::trip::in_one_go;
use super::workspace::{Readable, Workspace};

/// Value of a loss with its report; [`Workspace::adjoints`] reads the gradient.
#[derive(Clone, Debug)]
pub struct Derivative {
    /// Value of the loss; for seeded cells the sum Σ seed·value.
    pub value: f64,
    /// Steps of the forward sweep; `steps_back` has those of the reverse sweep.
    pub steps: u64,
    pub steps_back: u64,
    /// Verification report: whether the reverse sweep was recomputed with a history, the loss's error bound, and lost
    /// values.
    pub trust: Trust,
}

/// Number of steps in rules, which only the reverse sweep executes, between two progress checks.
const RULE_STEPS: u64 = 1024;
/// Steps that reverse-sweep code may execute beyond those of the forward sweep before it pauses. A sweep that needs
/// more has diverged.
pub(super) const SLACK: u64 = 1 << 16;

impl Workspace {
    /// Computes the value of a loss or seeded sum, and its gradient by all real inputs. The reverse sweep is
    /// verified. If rounding makes it diverge, it is recomputed with a history, and [`Derivative::trust`] says so. In
    /// an unchecked executable the sweep isn't verified, and [`Trust::loss_error`] is `None`.
    ///
    /// # Errors
    /// A trap, the step limit, memory exhaustion, or a reverse sweep that doesn't reach the start. Lost values that
    /// may make the gradient wrong are [`Error::Doubtful`].
    pub fn gradient(&mut self, loss: &LossCell) -> Result<Derivative, Error> {
        let found = self.gradient_anyway(loss)?;
        let held = std::mem::replace(&mut self.held, Readable::Nothing);
        certain(&self.executable.shared, &found.trust)?;
        self.held = held;
        Ok(found)
    }

    /// Computes a gradient even if relevant values were lost; [`Trust::reports`] of the result lists these with their
    /// places.
    ///
    /// # Errors
    /// The errors of [`Workspace::gradient`] except [`Error::Doubtful`].
    pub fn gradient_anyway(&mut self, loss: &LossCell) -> Result<Derivative, Error> {
        let mut bare = None;
        let losses = std::slice::from_ref(loss);
        let progress = self.bare_gradients(losses, |_, trip, _| bare = Some(trip))?;
        let trip = bare.filter(|_| progress.end == BareEnd::Done);
        let Some(trip) = trip else { return self.gradient_by_machine(loss, progress.end) };
        let BareTrip { steps, steps_back, loss_error } = trip;
        self.held = Readable::BareAdjoints;
        let reports = Reports::watched(self.bare.watch().cloned());
        let trust = Trust { reports, mended: None, loss_error };
        let value = loss.sum(self.bare.values());
        Ok(Derivative { value, steps, steps_back, trust })
    }

    /// Computes a gradient with the machine. Leaves the bits of the seeded cells at the turning point in `turned`.
    fn gradient_by_machine(&mut self, loss: &LossCell, after: BareEnd) -> Result<Derivative, Error> {
        let is_in_place = self.may_go_in_place() && after != BareEnd::Refused;
        let in_place = if is_in_place { self.in_place(loss, after)? } else { None };
        let found = match in_place {
            Some(found) => found,
            None => self.by_passes(loss)?,
        };
        self.held = Readable::Adjoints;
        Ok(found)
    }

    /// Computes several gradients in order. `each` receives a loss's index, the bits of its cells, and the adjoints
    /// of all reals. Consecutive losses with one turning point share a forward sweep. `trusted` receives the
    /// verification report of each gradient that needed the machine, and may refuse it.
    pub(super) fn gradients_bits(
        &mut self,
        losses: &[LossCell],
        mut each: impl FnMut(usize, &[u64], &[u64]),
        mut trusted: impl FnMut(&Trust) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut first = 0;
        while let Some(rest) = losses.get(first..).filter(|rest| !rest.is_empty()) {
            let together = rest.chunk_by(|a, b| a.turns_with(b)).next().unwrap_or(rest);
            let progress =
                self.bare_gradients(together, |n, _, room| each(first + n, room.values(), room.adjoints()))?;
            first += progress.done;
            let next = losses.get(first).filter(|_| progress.end != BareEnd::Done);
            if let Some(loss) = next {
                let found = self.gradient_by_machine(loss, progress.end)?;
                trusted(&found.trust)?;
                each(first, &self.turned, self.found_adjoints().unwrap_or_default());
                first += 1;
            }
        }
        self.held = Readable::Nothing;
        Ok(())
    }

    /// Computes gradients of losses with one turning point, as far as no machine is needed. Nothing is lost or
    /// recomputed there.
    fn bare_gradients(
        &mut self,
        losses: &[LossCell],
        each: impl FnMut(usize, BareTrip, &BareRoom),
    ) -> Result<BareProgress, Error> {
        self.held = Readable::Nothing;
        let shared = &*self.executable.shared;
        if losses.iter().any(|loss| loss.shared.executable != shared.id) {
            return Err(Error::Foreign);
        }
        let start = self.inputs.complete(&shared.program)?;
        let routes = losses.first().and_then(|loss| loss.shared.routes.as_deref());
        let Some(routes) = routes.filter(|_| self.may_go_in_place()) else {
            return Ok(BareProgress { done: 0, end: BareEnd::NeedsMachine });
        };
        let seeds = losses.iter().map(|loss| &loss.seeds[..]);
        let most = in_one_go(&self.machine, self.most_steps);
        Ok(routes.run_bare((start, seeds), &mut self.bare, (most, SLACK), each))
    }

    /// Returns the adjoints of all reals if the last call computed them.
    fn found_adjoints(&self) -> Option<&[u64]> {
        match self.held {
            Readable::Adjoints => self.machine.state().adjoints.as_ref().map(|all| &all.cells[..]),
            Readable::BareAdjoints => Some(self.bare.adjoints()),
            Readable::Nothing | Readable::Arrived(_) => None,
        }
    }

    /// Gives inputs, computes the value of a loss, and reads its gradient by these inputs. Suits optimizers.
    ///
    /// # Errors
    /// The errors of [`Workspace::give_reals`] and [`Workspace::gradient`].
    pub fn gradient_at(
        &mut self,
        loss: &LossCell,
        cells: RealCells,
        values: &[f64],
        gradient: &mut [f64],
    ) -> Result<Derivative, Error> {
        if cells.len() != gradient.len() {
            let name = cells.0.name(self.executable.program());
            return Err(Error::Length { name, cells: cells.len(), given: gradient.len() });
        }
        self.give_reals(cells, values)?;
        let found = self.gradient(loss)?;
        self.adjoints(cells, gradient)?;
        Ok(found)
    }

    /// Reads the derivatives of the last loss by some reals of the initial state.
    ///
    /// # Errors
    /// A slice of another length, or no gradient was computed.
    pub fn adjoints(&self, cells: RealCells, values: &mut [f64]) -> Result<(), Error> {
        let shared = &self.executable.shared;
        if cells.0.executable != shared.id {
            return Err(Error::Foreign);
        }
        let Some(found) = self.found_adjoints() else {
            return Err(Error::NothingToRead("no gradient was found; `gradient` finds one"));
        };
        if cells.len() != values.len() {
            let name = cells.0.name(&shared.program);
            return Err(Error::Length { name, cells: cells.len(), given: values.len() });
        }
        let adjoints = found.get(cells.0.range()).unwrap_or_default();
        take_reals(shared.program.module().real, adjoints, values);
        Ok(())
    }

    /// Computes a gradient in the workspace's machine after code without a machine failed with `after`. Returns
    /// `None` if the sweeps diverge or can't be verified.
    fn in_place(&mut self, loss: &LossCell, after: BareEnd) -> Result<Option<Derivative>, Error> {
        let (compiled, seeds) = (&*loss.shared, &loss.seeds[..]);
        let (machine, room, start) = (&mut self.machine, &mut self.room, &self.inputs.start);
        let turned = &mut self.turned;
        let Shared { program, level, .. } = &*self.executable.shared;
        let slack = (in_one_go(machine, self.most_steps), SLACK);
        let routes = compiled.routes.as_ref().filter(|_| after != BareEnd::Stranded);
        let by_code =
            routes.map(|routes| routes.run((start, seeds), (&mut *machine, &mut *room), turned, slack));
        let pass = match by_code.transpose()?.flatten() {
            Some(pass) => pass,
            None => {
                let is_watched = level.is_checked() && !program.module().real.is_exact();
                if !there((&mut *machine, &mut *room), (start, is_watched), compiled, self.most_steps)? {
                    return Ok(None);
                }
                let pass = TurnedPass::new(machine, start.state(), seeds, turned)?;
                if !back((&mut *machine, room), compiled, start.state().own_steps(), self.most_steps) {
                    return Ok(None);
                }
                pass
            }
        };
        // The program is prepared for every loss. Separate passes, prepared for this loss alone, determine its lost
        // values.
        if machine.reports().iter().any(|(_, kind, _)| kind == Loss::Hidden) {
            return Ok(None);
        }
        let start = start.state();
        let loss_error = match level {
            CheckLevel::Unchecked => None,
            CheckLevel::Checked => match pass.judged(machine, start) {
                Ok(loss_error) => Some(loss_error),
                Err(_) => return Ok(None),
            },
        };
        let (steps, steps_back) = (pass.step().unsigned_abs(), pass.step().abs_diff(machine.state().step));
        let trust = Trust { reports: machine.reports().clone(), mended: None, loss_error };
        let value = loss.sum(turned);
        Ok(Some(Derivative { value, steps, steps_back, trust }))
    }

    /// Returns true if the caller needs neither a history nor shown values; code without a machine provides neither.
    fn may_go_in_place(&self) -> bool {
        !self.keeps_history && self.shows.is_none()
    }

    /// Computes the gradient by separate passes of the machine.
    fn by_passes(&mut self, loss: &LossCell) -> Result<Derivative, Error> {
        let (shared, start) = (&self.executable.shared, self.inputs.start.state());
        let failed = |error| Error::of_derivative(&shared.name, error);
        let subject = self.subject().map_err(failed)?;
        let subject = Subject { runner: shared.runner.clone(), level: shared.level, ..subject };
        let found = differentiate::seeded_gradient(&subject, &loss.seeds).map_err(failed)?;
        self.machine.renew(start)?;
        self.machine.state_mut().adjoints = Some(found.adjoints);
        let (steps, steps_back, trust) = (found.steps, found.steps_back, found.trust);
        let value = loss.sum(&found.values);
        self.turned = found.values;
        Ok(Derivative { value, steps, steps_back, trust })
    }

    /// Returns the differentiation subject, which is the program at the given start.
    pub(super) fn subject(&self) -> Result<Subject, differentiate::DifferentiateError> {
        let program = self.executable.shared.program.clone();
        let start = self.inputs.start.state().try_clone()?.as_start();
        let subject = Subject::new(program, start, self.keeps_history, self.most_steps)?;
        let shows = self.shows.as_ref().map(|sink| Arc::new(Shows::new(Arc::clone(sink))));
        Ok(Subject { interrupt: self.interrupt.clone(), shows, ..subject })
    }
}

/// Runs a machine from a start to the turning point. Returns true if it got there.
fn there(
    (machine, room): (&mut Machine, &mut RouteRoom),
    (start, is_watched): (&RouteStart, bool),
    loss: &CompiledLoss,
    most_steps: u64,
) -> Result<bool, OutOfMemory> {
    let budget = in_one_go(machine, most_steps);
    let route = loss.routes.as_deref().and_then(TurningRoutes::there);
    let ended = route.map(|route| route.run_from(start, machine, room, budget)).transpose()?;
    match ended {
        Some(RouteEnd::Arrived) => return Ok(true),
        Some(RouteEnd::Failed) => return Ok(false),
        Some(RouteEnd::Underway) => {}
        None => {
            machine.renew(start.state())?;
            if is_watched {
                machine.watch();
            }
        }
    }
    let left = most_steps.saturating_sub(machine.state().step.unsigned_abs());
    Ok(match machine.run_heeding(loss.stops.as_ref(), Travel::Forward, left) {
        Ok(Stop::Bound) => true,
        Ok(Stop::Budget) => is_at(machine, loss.turn),
        Ok(Stop::Shown { .. } | Stop::Interrupted) | Err(_) => false,
    })
}

/// Runs the machine back to the start. Returns true if it got there. A reverse sweep with more program steps than the
/// forward sweep has diverged, and might never end.
fn back(
    (machine, room): (&mut Machine, &mut RouteRoom),
    loss: &CompiledLoss,
    first: i64,
    most_steps: u64,
) -> bool {
    let turn = machine.state().step;
    let ahead = |machine: &Machine| u64::try_from(machine.state().own_steps() - first).ok();
    let enough = |ahead: u64| ahead.max(RULE_STEPS).min(most_steps);
    let route = loss.routes.as_deref().and_then(TurningRoutes::back);
    if let (Some(route), Some(ahead)) = (route, ahead(machine)) {
        // Code pauses if fewer steps are left than it may execute without a pause.
        let budget = enough(ahead.saturating_add(route.first_steps()).saturating_add(SLACK));
        match route.run(machine, room, in_one_go(machine, budget)) {
            RouteEnd::Arrived => return true,
            RouteEnd::Failed => return false,
            RouteEnd::Underway => {}
        }
    }
    while let Some(ahead) = ahead(machine) {
        let left = most_steps.saturating_sub(turn.abs_diff(machine.state().step));
        match machine.run(Travel::Backward, enough(ahead).min(left)) {
            Ok(Stop::Bound) => return true,
            Ok(Stop::Budget) if is_at(machine, machine.program().begin()) => return true,
            Ok(Stop::Budget) if left > 0 => {}
            Ok(Stop::Budget | Stop::Shown { .. } | Stop::Interrupted) | Err(_) => return false,
        }
    }
    false
}

fn is_at(machine: &Machine, position: u32) -> bool {
    machine.state().position == position && machine.state().calls.is_empty()
}

pub(super) fn approximate(program: &Program, bits: u64) -> f64 {
    program.approximate(Value::Real(bits))
}

/// Checks that no lost value may make the derivatives wrong.
pub(super) fn certain(shared: &Shared, trust: &Trust) -> Result<(), Error> {
    if trust.reports.is_empty() {
        return Ok(());
    }
    let structure = &shared.program.module().structure;
    let told = trust.reports.iter().map(|(at, loss, tally)| {
        let place = place_of(&shared.name, structure, at);
        format!("{place}: {} ({})", loss.describe(), loss.effect(tally.largest))
    });
    Err(Error::Doubtful { losses: told.collect() })
}
