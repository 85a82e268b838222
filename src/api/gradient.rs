//! Calls for a value and its gradient. By native code where that leads all the way and the judge of the way back agrees; else
//! by the passes of the machine, which find out what is wrong, and mend what rounding has spoilt.

use reviver_compile::route::{Route, RouteEnd};
use reviver_vm::Program;
use reviver_vm::differentiate::{self, Subject, Trust, TurnedPass};
use reviver_vm::values::Value;

use super::cells::RealCells;
use super::error::Error;
use super::executable::Shared;
use super::loss::{CompiledLoss, LossCell};
use super::numbers::take_reals;
use super::places::place_of;
use super::workspace::{Readable, Workspace};

/// A value whose gradient was found; [`Workspace::adjoints`] reads that.
#[derive(Clone, Debug)]
pub struct Derivative {
    /// The loss.
    pub value: f64,
    /// Steps of the way there, and of the way back.
    pub steps: u64,
    pub steps_back: u64,
    /// How far it can be trusted: whether the way back was made again with a history, how much the loss may be off, and what was lost.
    pub trust: Trust,
}

/// More steps than the way there took may be looked at at a time; a way back that goes on for longer is lost.
const SLACK: u64 = 1 << 16;

impl Workspace {
    /// The value of a loss and its gradient by all real inputs. Nobody vouches for a gradient whose way back wasn't the way there: in
    /// floats it is made again then, with a history, and [`Derivative::trust`] says so.
    ///
    /// # Errors
    /// A trap, the step limit, no memory; a way back that doesn't lead to the start; and values that count and were lost
    /// ([`Error::Doubtful`]).
    pub fn gradient(&mut self, loss: &LossCell) -> Result<Derivative, Error> {
        let found = self.gradient_anyway(loss)?;
        let held = std::mem::replace(&mut self.held, Readable::Nothing);
        certain(&self.executable.shared, &found.trust)?;
        self.held = held;
        Ok(found)
    }

    /// The same, but values that count and were lost are no error: [`Trust::reports`] of what comes says which, and where.
    ///
    /// # Errors
    /// As [`Workspace::gradient`], but for [`Error::Doubtful`].
    pub fn gradient_anyway(&mut self, loss: &LossCell) -> Result<Derivative, Error> {
        self.held = Readable::Nothing;
        if loss.shared.executable != self.executable.shared.id {
            return Err(Error::Foreign);
        }
        self.inputs.complete(&self.executable.shared.program)?;
        let routes = loss.shared.routes.as_ref().filter(|_| !self.keeps_history);
        let by_code = match routes {
            Some(routes) => self.by_code(&loss.shared, routes)?,
            None => None,
        };
        let found = match by_code {
            Some(found) => found,
            None => self.by_passes(&loss.shared)?,
        };
        self.held = Readable::Adjoints;
        Ok(found)
    }

    /// Gives inputs, finds the value of a loss, and reads its gradient by these inputs: what a method of optimisation asks for.
    ///
    /// # Errors
    /// As [`Workspace::give_reals`] and [`Workspace::gradient`].
    pub fn gradient_at(
        &mut self,
        loss: &LossCell,
        cells: RealCells,
        values: &[f64],
        gradient: &mut [f64],
    ) -> Result<Derivative, Error> {
        self.give_reals(cells, values)?;
        let found = self.gradient(loss)?;
        self.adjoints(cells, gradient)?;
        Ok(found)
    }

    /// Reads the derivatives of the last gradient's loss by some reals at the start.
    ///
    /// # Errors
    /// A slice of another length, or no gradient was found.
    pub fn adjoints(&self, cells: RealCells, values: &mut [f64]) -> Result<(), Error> {
        let shared = &self.executable.shared;
        if cells.0.executable != shared.id {
            return Err(Error::Foreign);
        }
        if self.held != Readable::Adjoints {
            return Err(Error::NothingToRead("no gradient was found; `gradient` finds one"));
        }
        if cells.len() != values.len() {
            let name = cells.0.name(&shared.program);
            return Err(Error::Length { name, cells: cells.len(), given: values.len() });
        }
        let adjoints = self.machine.state().adjoints.as_ref().and_then(|all| all.cells.get(cells.0.range()));
        take_reals(shared.program.module().real, adjoints.unwrap_or_default(), values);
        Ok(())
    }

    /// There and back by code. None where it doesn't lead all the way, or where nobody vouches for the way back.
    fn by_code(
        &mut self,
        loss: &CompiledLoss,
        [there, back]: &[Route; 2],
    ) -> Result<Option<Derivative>, Error> {
        let (machine, start) = (&mut self.machine, &self.inputs.state);
        machine.renew(start)?;
        let program = &self.executable.shared.program;
        if !program.module().real.is_exact() {
            machine.watch();
        }
        if there.run(machine, self.most_steps) != RouteEnd::Arrived {
            return Ok(None);
        }
        let pass = TurnedPass::new(machine, start, loss.cell)?;
        let steps = pass.step().unsigned_abs();
        let enough = steps.saturating_add(back.first_steps()).saturating_add(SLACK);
        if back.run(machine, enough.min(self.most_steps)) != RouteEnd::Arrived {
            return Ok(None);
        }
        let Ok(loss_error) = pass.judged(machine, start) else { return Ok(None) };
        let steps_back = pass.step().abs_diff(machine.state().step);
        let trust = Trust { reports: machine.reports().clone(), mended: None, loss_error };
        Ok(Some(Derivative { value: approximate(program, pass.value()), steps, steps_back, trust }))
    }

    /// By the passes of the machine.
    fn by_passes(&mut self, loss: &CompiledLoss) -> Result<Derivative, Error> {
        let (shared, start) = (&self.executable.shared, &self.inputs.state);
        let failed = |error| Error::of_derivative(&shared.name, error);
        let subject = self.subject().map_err(failed)?;
        let subject = Subject { runner: shared.runner.clone(), ..subject };
        let found = differentiate::gradient(&subject, &loss.variable).map_err(failed)?;
        self.machine.renew(start)?;
        self.machine.state_mut().adjoints = Some(found.adjoints);
        let (steps, steps_back, trust) = (found.steps, found.steps_back, found.trust);
        Ok(Derivative { value: approximate(&shared.program, found.value), steps, steps_back, trust })
    }

    /// The program at the start that was given.
    pub(super) fn subject(&self) -> Result<Subject, differentiate::DifferentiateError> {
        let program = self.executable.shared.program.clone();
        Subject::new(program, self.inputs.state.try_clone()?, self.keeps_history, self.most_steps)
    }
}

pub(super) fn approximate(program: &Program, bits: u64) -> f64 {
    program.approximate(Value::Real(bits))
}

/// Whether nothing was lost that may make derivatives wrong.
pub(super) fn certain(shared: &Shared, trust: &Trust) -> Result<(), Error> {
    if trust.reports.is_empty() {
        return Ok(());
    }
    let structure = &shared.program.module().structure;
    let told = trust.reports.iter().map(|(at, loss, tally)| {
        let place = place_of(&shared.name, structure, at);
        format!("{place}: {} ({} {})", loss.describe(), loss.measure(), tally.largest)
    });
    Err(Error::Doubtful { losses: told.collect() })
}
