//! Edits of the state, and the round-trip check of a branch. An edit begins a new branch, so that no history is
//! lost. If no step has been executed on the current branch, the edit is added to the current branch instead,
//! unless a mark or a fence is at the time point.

use std::sync::atomic::Ordering;

use reviver_isa::instruction::Class;
use reviver_vm::differentiate::DifferentiateError;
use reviver_vm::values::Value;
use reviver_vm::{Machine, Stop, Travel, drift};

use super::goal::slice_of;
use super::{Session, SessionError, instruction_at};
use crate::expression::ConsoleExpression;
use crate::memory::{Cell, MODE_BIT};
use crate::outcome::{Edit, Reason, RoundTripCheck, Seed};
use crate::timeline::TimePoint;

impl Session {
    /// Sets a cell to the value of an expression, or the mode to `gradient` or `values`. The edited state
    /// begins a branch, and the session continues on that branch. If the cell already has the value, no
    /// branch is created.
    ///
    /// # Errors
    /// - The text names no cell, or a constant.
    /// - The expression has no value, or its value doesn't fit into the cell.
    /// - The mode can't be switched here.
    pub fn set(&mut self, cell: &str, value: &str) -> Result<Edit, SessionError> {
        let target = self.variable(cell)?;
        let scene = self.scene();
        let value = match (target, value.trim()) {
            (MODE_BIT, "gradient") => Value::Int(1),
            (MODE_BIT, "values") => Value::Int(0),
            (_, value) => {
                let computed = ConsoleExpression::parse(value)?.evaluate_for(target.class, scene)?;
                scene.value_for(target.class, computed)?
            }
        };
        if target == MODE_BIT {
            self.check_switch(value)?;
        }
        self.put(target, value)
    }

    fn check_switch(&self, value: Value) -> Result<(), SessionError> {
        match value {
            Value::Int(0 | 1) if !self.memory.is_in_ruled_call(self.state()) => Ok(()),
            Value::Int(0 | 1) => Err(SessionError::RuledCall),
            _ => Err(SessionError::NoMode),
        }
    }

    /// Begins a gradient computation in a single edit: sets the adjoint of the loss to 1 and all others to 0,
    /// and switches gradient mode on. When the session then travels backward, adjoints are propagated to the
    /// inputs.
    ///
    /// # Errors
    /// - The loss is no real cell, or is a constant.
    /// - The program switches or reads the mode itself.
    /// - The mode can't be switched here.
    pub fn gradient(&mut self, loss: &str) -> Result<Seed, SessionError> {
        let not_real = || SessionError::NotReal(loss.to_owned());
        let adjoint = self.variable(loss)?.adjoint().ok_or_else(not_real)?;
        let one = self.program().parse(Class::Real, "1")?;
        if self.program().switches_mode() {
            return Err(SessionError::NoGradient(DifferentiateError::SwitchesMode));
        }
        if self.program().reads_mode() {
            return Err(SessionError::NoGradient(DifferentiateError::ReadsMode));
        }
        if !self.state().mode() {
            self.check_switch(Value::Int(1))?;
        }
        let cleared = self.other_adjoints(adjoint);
        let is_change = !self.state().mode() || cleared > 0 || adjoint.value(self.state()) != Some(one);
        if is_change {
            let here = self.timeline.time_point();
            let joins = !self.is_kept(here);
            self.timeline.edit(format!("gradient {loss}"), joins, |state| {
                state.adjoints = None;
                state.make_adjoints()?;
                state.set_mode(true);
                adjoint.put(state, one);
                Ok(())
            })?;
            self.changed_branch(here);
        }
        let (name, value) =
            (self.memory.name(self.state(), adjoint), self.memory.text(self.state(), adjoint));
        Ok(Seed { adjoint: name, value, cleared, is_change })
    }

    /// Returns the number of nonzero adjoints. The adjoint `besides` isn't counted.
    fn other_adjoints(&self, besides: Cell) -> usize {
        let Some(adjoints) = &self.state().adjoints else { return 0 };
        let is_set = |bits: u64| self.program().approximate(Value::Real(bits)) != 0.0;
        let all = adjoints.all().filter(|bits| is_set(**bits)).count();
        let own = adjoints.cells.get(besides.offset as usize).is_some_and(|bits| is_set(*bits));
        all - usize::from(own)
    }

    /// Sets the value of a cell like [`Session::set`]. If the value's class differs from the cell's, the cell stays
    /// unchanged. If the cell is the mode bit, the caller has checked that the mode can be switched.
    ///
    /// # Errors
    /// There is no memory for the states that a branch begins with.
    pub fn put(&mut self, cell: Cell, value: Value) -> Result<Edit, SessionError> {
        let here = self.timeline.time_point();
        let name = self.memory.name(self.state(), cell);
        let before = self.memory.text(self.state(), cell);
        let after = self.program().text(value);
        let is_change = cell.value(self.state()) != Some(value);
        if is_change {
            let joins = !self.is_kept(here);
            self.timeline.edit(format!("set {name} = {after}"), joins, |state| {
                if cell.adjoint || cell == MODE_BIT {
                    state.make_adjoints()?;
                }
                cell.put(state, value);
                Ok(())
            })?;
            self.changed_branch(here);
        }
        Ok(Edit { cell: name, before, after, is_change })
    }

    /// Returns true if a mark or a fence is at a time point. An edit at such a time point begins a new branch
    /// instead of changing the current one. So the state at the mark or the fence stays the same.
    fn is_kept(&self, time_point: TimePoint) -> bool {
        self.marks.values().any(|&mark| mark == time_point)
            || self.fences().any(|step| step == time_point.step)
    }

    fn changed_branch(&mut self, from: TimePoint) {
        if self.timeline.time_point() != from {
            self.leave(from);
        }
        (self.reason, self.trap) = (None, None);
        self.footprint = None;
    }

    /// Runs a copy of the current branch from its origin to the end of the program and back, without a history.
    /// Reports the garbage at the end, and reports if the backward run restores the origin. If the branch begins at
    /// the end of the program, the copy first runs backward to the beginning. The session stays at its time point.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn check(&mut self) -> Result<RoundTripCheck, SessionError> {
        self.interrupt.store(false, Ordering::Relaxed);
        let origin = self.timeline.branch().origin();
        let is_at_end = origin.position == self.program().end() && origin.calls.is_empty();
        let (there, bound) = match is_at_end {
            true => (Travel::Backward, Reason::HistoryBegin),
            false => (Travel::Forward, Reason::HistoryEnd),
        };
        let mut machine = Machine::resume(self.program().clone(), origin.try_clone()?, None);
        if let Some(long_runs) = self.timeline.branch().long_runs() {
            machine.run_by(long_runs.runner().clone());
        }
        let limit = match there {
            Travel::Forward => self.within_limit(i64::MAX).saturating_sub(self.timeline.branch().offset()),
            Travel::Backward => self.within_limit(i64::MIN).saturating_sub(self.timeline.branch().offset()),
        };
        let stop = match self.run_copy(&mut machine, there, limit) {
            Reason::Arrived if instruction_at(self.program(), machine.state(), there).is_some() => {
                Reason::StepLimit
            }
            Reason::Arrived => bound.clone(),
            other => other,
        };
        let steps = machine.state().step.unsigned_abs();
        let erased_bits = machine.state().counters.erased_bits;
        if stop != bound {
            return Ok(RoundTripCheck { steps, stop, garbage: Vec::new(), restored: None, erased_bits });
        }
        let garbage = self.program().garbage(machine.state(), there);
        let restored = match self.run_copy(&mut machine, there.reversed(), 0) {
            Reason::Interrupted => None,
            Reason::Arrived | Reason::HistoryBegin | Reason::HistoryEnd => {
                Some(drift::same(origin, machine.state()))
            }
            _ => Some(false),
        };
        Ok(RoundTripCheck { steps, stop, garbage, restored, erased_bits })
    }

    /// Runs a copy of the machine to a step. An interrupt, a trap, or the start or the end of the program stops the
    /// run. Points and fences don't stop it.
    fn run_copy(&self, machine: &mut Machine, travel: Travel, to: i64) -> Reason {
        loop {
            let here = machine.state().step;
            if !self.may_continue(self.timeline.branch().offset().saturating_add(here)) {
                return Reason::Interrupted;
            }
            let left = here.abs_diff(to);
            if left == 0 {
                return Reason::Arrived;
            }
            let slice = slice_of(machine.state(), self.timeline.branch().long_runs().is_some());
            match machine.run(travel, left.min(slice)) {
                Ok(Stop::Bound) if travel == Travel::Forward => return Reason::HistoryEnd,
                Ok(Stop::Bound) => return Reason::HistoryBegin,
                Ok(Stop::Budget | Stop::Interrupted | Stop::Shown { .. }) => {}
                Err(trap) => {
                    let explanation = reviver_vm::explain::explain(self.program(), machine.state(), trap);
                    return Reason::Trap(Box::new(explanation));
                }
            }
        }
    }
}
