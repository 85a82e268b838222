//! Steps that change more than cells. Before such a step changes the state, it checks all conditions under which it
//! could trap. So a trap changes nothing. Most of these steps are implemented in [`super::calls`], [`super::moves`] and
//! [`super::tasks`].

use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Reals, Words};

use crate::allocation::AllocationPurpose;
use crate::history::journal::Journal;
use crate::history::{Cells, History, RECORDS_OF_A_STEP};
use crate::interp::Run;
use crate::interp::address::{ADJOINT, Addresses};
use crate::interp::mode::is_silent;
use crate::interp::op::{Kind, Op, Structural};
use crate::interp::recording::{Freeing, report_freed};
use crate::interp::window;
use crate::state::Counters;
use crate::state::lanes::Lanes;
use crate::trap::Cause;
use crate::travel::{Interval, Stop, Travel};

impl<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>> Run<'_, W, R, H> {
    /// Executes one step over an instruction that the hot loop doesn't handle.
    pub(crate) fn structural(&mut self) -> Result<Option<Stop>, Cause> {
        let op = self.program.code[self.direction][self.counter];
        let track = self.track_over(&op);
        let interval = self.clock(track).interval(self.left);
        let mut stop = None;
        if H::ACTIVE && !self.travel.restores(interval) {
            self.history.reserve_memory(interval, self.most_records(&op))?;
        }
        match op.kind.structural() {
            Some(Structural::Call) => self.enter(&op, interval)?,
            Some(Structural::Stop) => return Ok(Some(Stop::Budget)),
            Some(Structural::Leave) if self.state.calls.is_empty() => return Ok(Some(Stop::Bound)),
            Some(Structural::Leave) => self.leave(interval)?,
            Some(Structural::Show) => stop = self.show()?,
            Some(Structural::Tasks) => self.bound_tasks(&op)?,
            Some(Structural::Switch { on }) => self.switch(on)?,
            Some(Structural::Move(class)) => {
                let cell = self.found(&op)?;
                self.transfer(&op, class, cell, interval)?;
            }
            Some(Structural::MoveAdjoint) => {
                let (class, cell) = self.operand()?;
                self.transfer(&op, class, cell, interval)?;
            }
            // Entry bounds are never executed, and the hot loop handles all ops without a structural kind.
            Some(Structural::Bound) | None => {}
        }
        let (mut journal, mut cells, counters) = self.journal(interval);
        journal.put_back(&mut cells, counters);
        self.left -= 1;
        self.state.passed(self.travel, track, 1);
        Ok(stop)
    }

    /// Returns an upper bound on the records of a step. Each freed real needs a record of its value and one of its
    /// adjoint. Each adjoint that a task has accumulated needs a record of the share and one of the deferred adjoint.
    fn most_records(&self, op: &Op) -> usize {
        let (frees, joins) = match op.kind {
            Kind::Leave => {
                (self.state.reals.len() - self.state.frame.reals as usize, self.only_read_by_task().len())
            }
            _ => (1, 0),
        };
        RECORDS_OF_A_STEP + 2 * (frees + joins)
    }

    fn switch(&mut self, on: bool) -> Result<(), Cause> {
        if self.state.mode() == on && keeps(Rule::SwitchesAreChecked) {
            return Err(Cause::ModeIs { on });
        }
        if on {
            self.state.make_adjoints().map_err(|_| Cause::NoMemory(AllocationPurpose::Adjoints))?;
        }
        self.state.set_mode(on);
        self.counter += 1;
        Ok(())
    }

    fn show(&mut self) -> Result<Option<Stop>, Cause> {
        let (class, cell) = self.operand()?;
        let at = self.program.instruction_at(self.counter, self.direction);
        let bits = match class {
            Class::Int => self.state.ints[cell] as u64,
            Class::Real => self.real(cell).word(),
        };
        self.counter += 1;
        let steps = (self.state.step, self.state.rule_steps);
        let shown = &mut self.state.counters.shown;
        match shown.after(self.travel, self.track, steps) {
            Some(mark) => *shown = mark,
            None if self.travel == Travel::Forward && !keeps(Rule::ShowsOnce) => {}
            None => return Ok(None),
        }
        Ok(Some(Stop::Shown { at, class, bits }))
    }

    pub(super) fn scope(&self) -> Addresses<'_> {
        Addresses { flow: self.program.flow(), frame: self.state.frame, references: &self.state.references }
    }

    /// Returns the cell of the next step's single operand, using the window.
    fn found(&mut self, op: &Op) -> Result<usize, Cause> {
        let lookups = self.program.lookups(self.direction);
        let [cell, ..] = window::find(op, self.counter, &mut self.window.cells, lookups, &self.state.ints)?;
        Ok(cell)
    }

    /// Returns the class and the cell of the next step's single operand.
    fn operand(&self) -> Result<(Class, usize), Cause> {
        let at = self.program.instruction_at(self.counter, self.direction);
        let Some(step) = self.program.flow().step(at) else { return Ok((Class::Int, 0)) };
        let [cell, ..] = self.scope().operands(step, &self.state.ints)?;
        Ok((step.class(), cell))
    }

    /// Reports, counts and records the content and the adjoint of a vacant real cell. Afterwards the caller frees the
    /// cell, or overwrites both.
    pub(super) fn free(&mut self, cell: usize, interval: Interval) {
        let reals = self.numbers.reals;
        let bits = self.state.reals[cell];
        let adjoint = self.state.adjoints.as_ref().map(|adjoints| adjoints.cells[cell]);
        if !H::ACTIVE && bits == R::Bits::default() && adjoint.unwrap_or_default() == R::Bits::default() {
            return;
        }
        let cotangent = adjoint.map(|bits| reals.of_bits(bits));
        self.report(bits, cotangent);
        let (mut journal, _, counters) = self.journal(interval);
        journal.discarded(reals.width(), cell, bits, counters);
        if let Some(bits) = adjoint {
            let counts = cotangent.is_some_and(|cotangent| !is_silent(reals, cotangent));
            journal.dropped(cell, bits, counts, counters);
        }
    }

    /// Reports the content of a cell that is freed.
    pub(super) fn report(&mut self, bits: R::Bits, cotangent: Option<R::Cell>) {
        let at = self.program.instruction_at(self.counter, self.direction);
        let place = Freeing { at, tolerance: self.tolerance, is_watched: self.is_watched() };
        report_freed(self.reports, self.numbers.reals, place, bits, cotangent);
    }

    /// Returns this step's access to the history, the cells that the step may change, and the counters.
    pub(super) fn journal(
        &mut self,
        interval: Interval,
    ) -> (Journal<'_, H>, Cells<'_, R::Bits>, &mut Counters) {
        let restores = self.travel.restores(interval);
        let gradient = self.state.mode();
        let journal = Journal { interval, restores, gradient, copies_of: None, history: &mut *self.history };
        let (cells, counters) = self.state.cells();
        (journal, cells, counters)
    }

    /// Returns the real, or the adjoint, at an address.
    pub(super) fn real(&self, address: usize) -> R::Bits {
        match &self.state.adjoints {
            Some(adjoints) if address & ADJOINT != 0 => adjoints.cells[address & !ADJOINT],
            _ => self.state.reals[address],
        }
    }

    pub(super) fn set_real(&mut self, address: usize, bits: R::Bits) {
        match &mut self.state.adjoints {
            Some(adjoints) if address & ADJOINT != 0 => adjoints.cells[address & !ADJOINT] = bits,
            _ => self.state.reals[address] = bits,
        }
    }
}
