//! The steps that change more than cells: calls, stacks, tapes, and `show`.
//!
//! Each step first finds out whether it can be made, then makes it, so that a trap changes nothing.

use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Reals, Words};
use reviver_isa::verify::MAX_CELLS;

use crate::address::{Scope, overlap};
use crate::history::History;
use crate::interp::{Run, effective_direction};
use crate::journal::Journal;
use crate::op::{CallSite, Kind, Op};
use crate::program::FORWARD;
use crate::rare::vacant;
use crate::state::{CallRecord, Frame, Reference, State, TapeEntry};
use crate::trap::Cause;
use crate::travel::{Stop, Travel};

/// A value on its way between a cell and a stack or tape.
#[derive(Clone, Copy)]
enum Moved {
    Int(i64),
    Real(u64),
}

impl Moved {
    fn class(self) -> Class {
        match self {
            Moved::Int(_) => Class::Int,
            Moved::Real(_) => Class::Real,
        }
    }

    fn entry(self) -> TapeEntry {
        match self {
            Moved::Int(value) => TapeEntry::Int(value),
            Moved::Real(bits) => TapeEntry::Real(bits),
        }
    }
}

impl<W: Words, R: Reals, H: History> Run<'_, W, R, H> {
    /// Makes one step over an instruction that the inner loop doesn't handle.
    pub(crate) fn structural(&mut self, interval: i64) -> Result<Option<Stop>, Cause> {
        let op = self.program.code[self.direction][self.counter];
        match op.kind {
            Kind::Call | Kind::Uncall => self.enter(&op)?,
            Kind::Leave if self.state.calls.is_empty() => return Ok(Some(Stop::Bound)),
            Kind::Leave => self.leave(interval)?,
            Kind::ShowInt | Kind::ShowReal => return self.show(&op, interval),
            _ => {
                let cell = self.cell(&op)?;
                self.transfer(&op, cell, interval)?;
                self.counter += 1;
            }
        }
        if H::ACTIVE && self.restores(interval) {
            let State { ints, reals, counters, .. } = &mut *self.state;
            Journal { history: &mut *self.history, interval, restores: true }.restore(ints, reals, counters);
        }
        self.left -= 1;
        Ok(None)
    }

    fn scope(&self) -> Scope<'_> {
        Scope { places: &self.program.places, frame: self.state.frame, references: &self.state.references }
    }

    /// The one operand of an op.
    fn cell(&self, op: &Op) -> Result<usize, Cause> {
        self.scope().operands(op, &self.state.ints).map(|[a, _, _]| a)
    }

    fn show(&mut self, op: &Op, interval: i64) -> Result<Option<Stop>, Cause> {
        let cell = self.cell(op)?;
        let at = self.program.instruction_at(self.counter, self.direction);
        let (class, bits) = match op.kind {
            Kind::ShowInt => (Class::Int, self.state.ints[cell] as u64),
            _ => (Class::Real, self.state.reals[cell]),
        };
        self.counter += 1;
        self.left -= 1;
        let step = interval + 1;
        let shown = &mut self.state.counters.shown;
        if self.travel == Travel::Forward && (step > *shown || !keeps(Rule::ShowsOnce)) {
            *shown = step;
            return Ok(Some(Stop::Shown { at, class, bits }));
        }
        Ok(None)
    }

    fn enter(&mut self, op: &Op) -> Result<(), Cause> {
        let limit = self.program.module().limits.depth;
        if self.state.calls.len() as u64 >= u64::from(limit) && keeps(Rule::DepthIsLimited) {
            return Err(Cause::DepthExceeded { limit });
        }
        let program = self.program;
        let site = &program.calls[op.a as usize];
        let procedure = site.procedure as usize;
        let (ints, reals) = (self.state.ints.len(), self.state.reals.len());
        let new_ints = ints + program.layout.frame_ints[procedure] as usize;
        let new_reals = reals + program.layout.frame_reals[procedure] as usize;
        // Globals, main's frame and immediates come on top of what frames may take.
        if new_ints.max(new_reals) as u64 > 4 * MAX_CELLS {
            return Err(Cause::FramesFull);
        }
        let references = self.state.references.len();
        self.refer(site)?;
        let at = program.instruction_at(self.counter, self.direction);
        let state = &mut *self.state;
        state.calls.push(CallRecord { site: at, inverted: state.inverted, frame: state.frame });
        state.frame = Frame { ints: ints as u32, reals: reals as u32, references: references as u32 };
        state.ints.resize(new_ints, 0);
        state.reals.resize(new_reals, 0);
        state.inverted ^= op.kind == Kind::Uncall && keeps(Rule::UncallsRunBackward);
        self.direction = effective_direction(state.inverted, self.travel);
        let callee = &program.module().procedures[procedure];
        let near_bound = if self.direction == FORWARD { callee.entry + 1 } else { callee.exit };
        self.counter = program.counter(near_bound, self.direction);
        Ok(())
    }

    /// Resolves the arguments of a call onto the references, or changes nothing.
    fn refer(&mut self, site: &CallSite) -> Result<(), Cause> {
        let start = self.state.references.len();
        let outcome = self.push_references(site, start);
        if outcome.is_err() {
            self.state.references.truncate(start);
        }
        outcome
    }

    fn push_references(&mut self, site: &CallSite, start: usize) -> Result<(), Cause> {
        for (n, argument) in site.arguments.iter().enumerate() {
            let reference = self.scope().reference(n as u32, argument, &self.state.ints)?;
            self.state.references.push(reference);
        }
        let own: &[Reference] = &self.state.references[start..];
        for &(first, second) in &site.distinct {
            if overlap(own[first as usize], own[second as usize]) && keeps(Rule::OverlapIsChecked) {
                return Err(Cause::ArgumentsOverlap { first, second });
            }
        }
        Ok(())
    }

    fn leave(&mut self, interval: i64) -> Result<(), Cause> {
        let Some(record) = self.state.calls.last().copied() else { return Ok(()) };
        self.check_frame()?;
        self.check_references(record)?;
        self.free_frame(interval);
        let state = &mut *self.state;
        state.calls.pop();
        state.ints.truncate(state.frame.ints as usize);
        state.reals.truncate(state.frame.reals as usize);
        state.references.truncate(state.frame.references as usize);
        state.frame = record.frame;
        if keeps(Rule::DirectionIsRestored) {
            state.inverted = record.inverted;
        }
        self.direction = effective_direction(state.inverted, self.travel);
        let behind_the_call = if self.direction == FORWARD { record.site + 1 } else { record.site };
        self.counter = self.program.counter(behind_the_call, self.direction);
        Ok(())
    }

    fn check_frame(&self) -> Result<(), Cause> {
        if !keeps(Rule::FramesAreChecked) {
            return Ok(());
        }
        let state = &*self.state;
        let not_vacant =
            |class, start: u32, n: usize| Cause::FrameNotVacant { class, cell: start + n as u32 };
        let (ints, reals) = (state.frame.ints, state.frame.reals);
        if let Some(n) = state.ints[ints as usize..].iter().position(|&value| value != 0) {
            return Err(not_vacant(Class::Int, ints, n));
        }
        let occupied = |&bits: &u64| !vacant(self.numbers.reals, self.tolerance, bits);
        match state.reals[reals as usize..].iter().position(occupied) {
            Some(n) => Err(not_vacant(Class::Real, reals, n)),
            None => Ok(()),
        }
    }

    /// The caller's arguments must still refer to the cells that the callee worked on.
    fn check_references(&self, record: CallRecord) -> Result<(), Cause> {
        let state = &*self.state;
        let forward = &self.program.code[FORWARD];
        let site = &self.program.calls[forward[record.site as usize].a as usize];
        let scope = Scope { frame: record.frame, ..self.scope() };
        let own = &state.references[state.frame.references as usize..];
        for (n, (argument, reference)) in site.arguments.iter().zip(own).enumerate() {
            let now = scope.reference(n as u32, argument, &state.ints)?;
            if now != *reference && keeps(Rule::ReferencesAreChecked) {
                return Err(Cause::ReferenceChanged { argument: n as u32 });
            }
        }
        Ok(())
    }

    /// Counts and records what remains in the vacant cells of the frame.
    fn free_frame(&mut self, interval: i64) {
        let restores = self.restores(interval);
        let State { reals, counters, frame, .. } = &mut *self.state;
        let mut journal = Journal { history: &mut *self.history, interval, restores };
        for (cell, &bits) in reals.iter().enumerate().skip(frame.reals as usize) {
            journal.discarded(self.numbers.reals, cell, bits, counters);
        }
    }

    /// Moves a value between a cell and a stack or a tape.
    fn transfer(&mut self, op: &Op, cell: usize, interval: i64) -> Result<(), Cause> {
        use Kind::*;
        match op.kind {
            PushInt | PushReal => self.push(op, cell),
            PopInt | PopReal => self.pop(op, cell, interval),
            UnreadInt | UnreadReal => {
                let value = self.take(op, cell);
                self.state.input.push(value.entry());
                Ok(())
            }
            WriteInt | WriteReal => {
                let value = self.take(op, cell);
                self.state.output.push(value.entry());
                Ok(())
            }
            ReadInt | ReadReal => self.take_from_tape(op, cell, interval, false),
            UnwriteInt | UnwriteReal => self.take_from_tape(op, cell, interval, true),
            _ => Ok(()),
        }
    }

    /// The class that an op moves.
    fn class(op: &Op) -> Class {
        use Kind::*;
        match op.kind {
            PushInt | PopInt | ReadInt | UnreadInt | WriteInt | UnwriteInt => Class::Int,
            _ => Class::Real,
        }
    }

    fn take(&mut self, op: &Op, cell: usize) -> Moved {
        let State { ints, reals, .. } = &mut *self.state;
        match Self::class(op) {
            Class::Int if !keeps(Rule::MovesVacate) => Moved::Int(ints[cell]),
            Class::Int => Moved::Int(std::mem::take(&mut ints[cell])),
            Class::Real if !keeps(Rule::MovesVacate) => Moved::Real(reals[cell]),
            Class::Real => Moved::Real(std::mem::take(&mut reals[cell])),
        }
    }

    fn push(&mut self, op: &Op, cell: usize) -> Result<(), Cause> {
        let limit = self.program.module().limits.stack;
        let entries = match Self::class(op) {
            Class::Int => self.state.int_stack.len(),
            Class::Real => self.state.real_stack.len(),
        };
        if entries as u64 >= u64::from(limit) && keeps(Rule::StacksAreLimited) {
            return Err(Cause::StackFull { limit });
        }
        match self.take(op, cell) {
            Moved::Int(value) => self.state.int_stack.push(value),
            Moved::Real(bits) => self.state.real_stack.push(bits),
        }
        Ok(())
    }

    fn pop(&mut self, op: &Op, cell: usize, interval: i64) -> Result<(), Cause> {
        let class = Self::class(op);
        let top = match class {
            Class::Int => self.state.int_stack.last().map(|&value| Moved::Int(value)),
            Class::Real => self.state.real_stack.last().map(|&bits| Moved::Real(bits)),
        };
        let top = top.ok_or(Cause::StackEmpty { class })?;
        self.fill(cell, top, interval)?;
        match class {
            Class::Int => drop_last(&mut self.state.int_stack),
            Class::Real => drop_last(&mut self.state.real_stack),
        }
        Ok(())
    }

    fn take_from_tape(&mut self, op: &Op, cell: usize, interval: i64, output: bool) -> Result<(), Cause> {
        let wanted = Self::class(op);
        let tape = if output { &self.state.output } else { &self.state.input };
        let value = match tape.last() {
            None => return Err(Cause::TapeEmpty { output }),
            Some(TapeEntry::Int(value)) => Moved::Int(*value),
            Some(TapeEntry::Real(bits)) => Moved::Real(*bits),
        };
        if value.class() != wanted && keeps(Rule::TapeClassesAreChecked) {
            return Err(Cause::TapeClass { output, wanted });
        }
        self.fill(cell, value, interval)?;
        drop_last(if output { &mut self.state.output } else { &mut self.state.input });
        Ok(())
    }

    /// Puts a value into a vacant cell.
    fn fill(&mut self, cell: usize, value: Moved, interval: i64) -> Result<(), Cause> {
        let restores = self.restores(interval);
        let State { ints, reals, counters, .. } = &mut *self.state;
        match value {
            Moved::Int(value) => {
                if ints[cell] != 0 && keeps(Rule::VacancyIsChecked) {
                    return Err(Cause::NotVacant { class: Class::Int, cell: cell as u32 });
                }
                ints[cell] = value;
            }
            Moved::Real(bits) => {
                let vacant = vacant(self.numbers.reals, self.tolerance, reals[cell]);
                if !vacant && keeps(Rule::VacancyIsChecked) {
                    return Err(Cause::NotVacant { class: Class::Real, cell: cell as u32 });
                }
                let mut journal = Journal { history: &mut *self.history, interval, restores };
                journal.discarded(self.numbers.reals, cell, reals[cell], counters);
                reals[cell] = bits;
            }
        }
        Ok(())
    }
}

/// Removes the entry that a move took.
fn drop_last<T>(entries: &mut Vec<T>) {
    if keeps(Rule::MovesTake) {
        entries.pop();
    }
}
