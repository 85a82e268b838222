//! Calls for a value and its gradient, in two tiers. In the first tier, a compiled function executes both sweeps
//! ([`reviver_compile::call`]). If there is no function, or if the function can't verify the gradient, the second tier
//! is a machine that executes the sweeps ([`differentiate::seeded_gradient`]). The machine finds the reason. If the
//! reason is rounding, the machine repeats the reverse sweep with a history.

use std::sync::Arc;

use arrayvec::ArrayVec;
use reviver_compile::call::{CallReport, CompiledCall};
use reviver_vm::Program;
use reviver_vm::differentiate::evidence::MOST_ROWS;
use reviver_vm::differentiate::{self, SeededCell, Shows, Subject, VerificationReport};
use reviver_vm::values::Value;

use super::cells::RealCells;
use super::end_to_end::run_budget;
use super::error::Error;
use super::loss::LossCell;
use super::numbers::take_reals;
use super::places::place_of;
use super::shared::{CallKey, JacobianCall, Shared};
use super::workspace::{Readable, Workspace};

/// Value of a loss, with the verification report of its gradient. [`Workspace::adjoints`] reads the gradient.
#[derive(Clone, Debug)]
pub struct Derivative {
    /// Value of the loss; for seeded cells the sum Σ seed·value.
    pub value: f64,
    /// Steps of the forward sweep.
    pub steps: u64,
    /// Steps of the reverse sweep.
    pub steps_back: u64,
    /// Verification report: the error bound of the loss, the lost values, and if the reverse sweep was repeated with a
    /// history, the reason for that.
    pub verification_report: VerificationReport,
}

impl Workspace {
    /// Computes the value of a loss or seeded sum, and its gradient by all real inputs. The reverse sweep is verified.
    /// If rounding makes the reverse sweep diverge, it is repeated with a history, and
    /// [`Derivative::verification_report`] says so. In an unchecked executable the sweep isn't verified, and
    /// [`VerificationReport::loss_error`] is `None`.
    ///
    /// # Errors
    /// A trap, the step limit, memory exhaustion, or a reverse sweep that doesn't reach the start. If values were lost,
    /// so that the gradient may be wrong, the error is [`Error::Doubtful`].
    pub fn gradient(&mut self, loss: &LossCell) -> Result<Derivative, Error> {
        // A compiled function loses no derivatives. The result is constructed in its place, because moving it would take
        // a noticeable part of a short call.
        if let Some(found) = self.gradient_by_function(loss)? {
            return Ok(self.derivative_of_call(loss, &found));
        }
        let found = self.gradient_by_machine(loss)?;
        let held = std::mem::replace(&mut self.held, Readable::Nothing);
        certain(&self.executable.shared, &found.verification_report)?;
        self.held = held;
        Ok(found)
    }

    /// Computes a gradient even if relevant values were lost; [`VerificationReport::reports`] of the result lists these
    /// values with their places.
    ///
    /// # Errors
    /// The errors of [`Workspace::gradient`] except [`Error::Doubtful`].
    pub fn gradient_anyway(&mut self, loss: &LossCell) -> Result<Derivative, Error> {
        match self.gradient_by_function(loss)? {
            Some(found) => Ok(self.derivative_of_call(loss, &found)),
            None => self.gradient_by_machine(loss),
        }
    }

    /// Returns the derivative that a compiled function has left in the memory of calls.
    fn derivative_of_call(&mut self, loss: &LossCell, found: &CallReport) -> Derivative {
        self.held = Readable::AdjointsOfCall;
        let loss_error = found.loss_errors.first().copied().flatten();
        let verification_report = VerificationReport { loss_error, ..VerificationReport::default() };
        let value = loss.sum(self.calls.values(0));
        Derivative { value, steps: found.steps, steps_back: found.steps_back, verification_report }
    }

    /// Calls the compiled function of the loss, if there is one. Returns `None` if the machine has to compute the
    /// gradient.
    fn gradient_by_function(&mut self, loss: &LossCell) -> Result<Option<CallReport>, Error> {
        self.begin_gradients(std::slice::from_ref(loss))?;
        let call = loss.shared.call(&loss.seeds).filter(|_| self.may_call_functions());
        let most = run_budget(&self.machine, self.most_steps);
        Ok(call.and_then(|call| call.run(&self.inputs.start, &[&loss.seeds], &mut self.calls, most)))
    }

    /// Computes the gradients of several losses in order. `each` receives the index of a loss, the bits of its cells,
    /// and the adjoints of all reals. Consecutive losses with one turning point share a forward sweep. For each
    /// gradient that the machine computed, `trusted` receives the verification report. If `trusted` returns an error,
    /// the computation ends with this error.
    pub(super) fn gradients_bits(
        &mut self,
        losses: &[LossCell],
        mut each: impl FnMut(usize, &[u64], &[u64]),
        mut trusted: impl FnMut(&VerificationReport) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut first = 0;
        while let Some(rest) = losses.get(first..).filter(|rest| !rest.is_empty()) {
            let together = rest.chunk_by(|a, b| a.turns_with(b)).next().unwrap_or(rest);
            first += self.gradients_together(together, first, &mut each, &mut trusted)?;
        }
        self.held = Readable::Nothing;
        Ok(())
    }

    /// Computes the gradients of losses with one turning point. `first` is the index of the first loss. Returns the
    /// number of losses.
    fn gradients_together(
        &mut self,
        losses: &[LossCell],
        first: usize,
        each: &mut impl FnMut(usize, &[u64], &[u64]),
        trusted: &mut impl FnMut(&VerificationReport) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        self.begin_gradients(losses)?;
        let call = if self.may_call_functions() { self.jacobian_call(losses) } else { None };
        let most_steps = run_budget(&self.machine, self.most_steps);
        let mut done = 0;
        while let Some(rest) = losses.get(done..).filter(|rest| !rest.is_empty()) {
            let rows = call.as_ref().map_or(1, |call| call.rows());
            let seeds: ArrayVec<&[SeededCell], MOST_ROWS> =
                rest.iter().take(rows).map(|loss| &loss.seeds[..]).collect();
            let called = call
                .as_ref()
                .and_then(|call| call.run(&self.inputs.start, &seeds, &mut self.calls, most_steps));
            match called {
                Some(found) => {
                    for row in 0..found.loss_errors.len() {
                        each(first + done, self.calls.values(row), self.calls.adjoints(row));
                        done += 1;
                    }
                }
                None => {
                    let found = rest.first().map(|loss| self.gradient_by_machine(loss)).transpose()?;
                    found.iter().try_for_each(|found| trusted(&found.verification_report))?;
                    each(first + done, &self.turned, self.found_adjoints().unwrap_or_default());
                    done += 1;
                }
            }
        }
        Ok(done)
    }

    /// Returns the compiled function for losses with one turning point. Reuses the function of the last call if it
    /// was for the same losses.
    fn jacobian_call(&mut self, losses: &[LossCell]) -> Option<Arc<CompiledCall>> {
        let cells = || losses.iter().flat_map(|loss| loss.seeds.iter().map(|seed| seed.cell));
        let turn = losses.first()?.shared.turn;
        let is_last = |last: &JacobianCall| {
            last.turn == turn && last.losses == losses.len() && cells().eq(last.cells.iter().copied())
        };
        if !self.jacobian.as_ref().is_some_and(is_last) {
            let all: Vec<usize> = cells().collect();
            let key = CallKey::new(turn, all.clone(), losses.len());
            let call = self.executable.shared.gradient_call(&key);
            self.jacobian = Some(JacobianCall { turn, losses: losses.len(), cells: all, call });
        }
        self.jacobian.as_ref()?.call.clone()
    }

    /// Checks that losses belong to this executable, and that all inputs are given. Until the call has ended, no
    /// results can be read.
    fn begin_gradients(&mut self, losses: &[LossCell]) -> Result<(), Error> {
        self.held = Readable::Nothing;
        let shared = &*self.executable.shared;
        if losses.iter().any(|loss| loss.shared.of.id != shared.id) {
            return Err(Error::Foreign);
        }
        self.inputs.complete(&shared.program).map(drop)
    }

    /// Returns the adjoints of all reals. `None` unless the last call computed them.
    fn found_adjoints(&self) -> Option<&[u64]> {
        match self.held {
            Readable::Adjoints => self.machine.state().adjoints.as_ref().map(|all| &all.cells[..]),
            Readable::AdjointsOfCall => Some(self.calls.adjoints(0)),
            Readable::Nothing | Readable::Arrived(_) => None,
        }
    }

    /// Sets some inputs, computes the value of a loss, and reads its gradient by these inputs. An optimizer calls this
    /// function in each iteration.
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
            return Err(Error::NothingToRead("no gradient was found; call `gradient` first"));
        };
        if cells.len() != values.len() {
            let name = cells.0.name(&shared.program);
            return Err(Error::Length { name, cells: cells.len(), given: values.len() });
        }
        let adjoints = found.get(cells.0.range()).unwrap_or_default();
        take_reals(shared.program.module().real, adjoints, values);
        Ok(())
    }

    /// Returns true if the caller needs neither a history nor the values of `show`. Compiled functions of gradients
    /// support neither.
    fn may_call_functions(&self) -> bool {
        !self.keeps_history && self.shows.is_none()
    }

    /// Computes the gradient by passes of a machine ([`differentiate::seeded_gradient`]), which repeat the reverse
    /// sweep if it diverges. Leaves the bits of the seeded cells in `turned`.
    fn gradient_by_machine(&mut self, loss: &LossCell) -> Result<Derivative, Error> {
        let (shared, start) = (&self.executable.shared, self.inputs.start.state());
        let failed = |error| Error::of_derivative(&shared.name, error);
        let subject = self.subject().map_err(failed)?;
        let subject = Subject { level: shared.level, ..subject };
        let found = differentiate::seeded_gradient(&subject, &loss.seeds).map_err(failed)?;
        self.machine.renew(start)?;
        self.machine.state_mut().adjoints = Some(found.adjoints);
        let (steps, steps_back, verification_report) =
            (found.steps, found.steps_back, found.verification_report);
        let value = loss.sum(&found.values);
        self.turned = found.values;
        self.held = Readable::Adjoints;
        Ok(Derivative { value, steps, steps_back, verification_report })
    }

    /// Returns the subject of differentiation: the program at the given inputs.
    pub(super) fn subject(&self) -> Result<Subject, differentiate::DifferentiateError> {
        let program = self.executable.shared.program.clone();
        let start = self.inputs.start.state().try_clone()?.as_start();
        let subject = Subject::new(program, start, self.keeps_history, self.most_steps)?;
        let shows = self.shows.as_ref().map(|sink| Arc::new(Shows::new(Arc::clone(sink))));
        let runner = self.executable.shared.runner.clone();
        Ok(Subject { interrupt: self.interrupt.clone(), runner, shows, ..subject })
    }
}

pub(super) fn approximate(program: &Program, bits: u64) -> f64 {
    program.approximate(Value::Real(bits))
}

/// Returns [`Error::Doubtful`] if the report has lost values that may make the derivatives wrong.
pub(super) fn certain(shared: &Shared, verification_report: &VerificationReport) -> Result<(), Error> {
    if verification_report.reports.is_empty() {
        return Ok(());
    }
    let structure = &shared.program.module().structure;
    let reported = verification_report.reports.iter().map(|(at, loss, tally)| {
        let place = place_of(&shared.name, structure, at);
        format!("{place}: {} ({})", loss.describe(), loss.effect(tally.largest))
    });
    Err(Error::Doubtful { losses: reported.collect() })
}
