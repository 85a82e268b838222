//! Moves between cells and stacks or tapes. In gradient mode a value moves together with its adjoint. Before a move
//! changes the state, it checks that it can succeed.

use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Reals, Words};
use reviver_isa::update::Action;

use crate::history::{Cost, History, KeptSlot};
use crate::interp::Run;
use crate::interp::address::ADJOINT;
use crate::interp::mode::is_silent;
use crate::interp::op::Op;
use crate::interp::recording::is_vacant;
use crate::interp::store::{Moved, StoreOfMoves};
use crate::state::lanes::Lanes;
use crate::trap::Cause;
use crate::travel::Interval;

impl<W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>> Run<'_, W, R, H> {
    /// Moves a value between a cell and a stack or a tape.
    pub(super) fn transfer(
        &mut self,
        op: &Op,
        class: Class,
        cell: usize,
        interval: Interval,
    ) -> Result<(), Cause> {
        match op.update.action() {
            Action::Put(store) => self.put_from(class, cell, StoreOfMoves::of(store, class), interval)?,
            Action::Take(store) => self.fill_from(class, cell, StoreOfMoves::of(store, class), interval)?,
            // No other action is a move.
            Action::Accumulate
            | Action::Replace
            | Action::Erase(_)
            | Action::Map
            | Action::Exchange
            | Action::Rotate
            | Action::Clear
            | Action::Test
            | Action::Jump
            | Action::Join
            | Action::Begin
            | Action::End
            | Action::Call(_)
            | Action::Tasks(_)
            | Action::Show
            | Action::Switch(_) => {}
        }
        self.counter += 1;
        Ok(())
    }

    /// Moves a cell's value, with its adjoint in gradient mode, to a store.
    fn put_from(
        &mut self,
        class: Class,
        cell: usize,
        store: StoreOfMoves,
        interval: Interval,
    ) -> Result<(), Cause> {
        let (limit, full) = store.limit(self.program.module().limits);
        if store.count(self.state) as u64 >= u64::from(limit) && keeps(Rule::StacksAreLimited) {
            return Err(full);
        }
        store.reserve_memory(self.state).map_err(|_| Cause::NoMemory(store.purpose()))?;
        let moved = self.take(class, cell);
        let adjoint = self.recorded_entry(interval);
        store.push(self.state, moved, adjoint);
        Ok(())
    }

    fn take(&mut self, class: Class, cell: usize) -> Moved<R::Bits> {
        let vacates = keeps(Rule::MovesVacate);
        if class == Class::Int {
            let value = self.state.ints[cell];
            if vacates {
                self.state.ints[cell] = 0;
            }
            return Moved::Int(value);
        }
        let bits = self.real(cell);
        if vacates {
            self.set_real(cell, R::Bits::default());
        }
        let carries = self.state.mode() && cell & ADJOINT == 0 && keeps(Rule::MovesCarryAdjoints);
        let adjoint = match &mut self.state.adjoints {
            Some(adjoints) if carries => std::mem::take(&mut adjoints.cells[cell]),
            _ => R::Bits::default(),
        };
        Moved::Real(bits, adjoint)
    }

    /// Moves the last value of a store, with its adjoint, into a vacant cell.
    fn fill_from(
        &mut self,
        class: Class,
        cell: usize,
        store: StoreOfMoves,
        interval: Interval,
    ) -> Result<(), Cause> {
        let moved = store.last(self.state).ok_or(store.empty())?;
        if let StoreOfMoves::Tape { output } = store
            && moved.class() != class
            && keeps(Rule::TapeClassesAreChecked)
        {
            return Err(Cause::TapeClass { output, wanted: class });
        }
        self.check_vacant(class, cell)?;
        match moved {
            Moved::Int(value) => self.state.ints[cell] = value,
            Moved::Real(bits, adjoint) => self.fill_real(cell, bits, adjoint, interval),
        }
        if keeps(Rule::MovesTake) {
            store.pop(self.state);
        }
        Ok(())
    }

    fn fill_real(&mut self, cell: usize, bits: R::Bits, adjoint: R::Bits, interval: Interval) {
        if cell & ADJOINT == 0 && self.state.mode() {
            self.free(cell, interval);
            if let Some(adjoints) = &mut self.state.adjoints {
                adjoints.cells[cell] = adjoint;
            }
        } else {
            if cell & ADJOINT == 0 {
                self.report(self.real(cell), None);
            }
            self.discard(cell, interval);
            self.discard_adjoint(adjoint, interval);
        }
        self.set_real(cell, bits);
    }

    /// Discards and records the adjoint of a value that moves without its adjoint: outside of gradient mode, or into an
    /// adjoint.
    fn discard_adjoint(&mut self, adjoint: R::Bits, interval: Interval) {
        let reals = self.numbers.reals;
        if adjoint != R::Bits::default() {
            let drops = i32::from(!is_silent(reals, reals.of_bits(adjoint)));
            let cost = Cost { drops, ..Cost::default() };
            let (mut journal, _, counters) = self.journal(interval);
            cost.charge(counters);
            journal.keep(KeptSlot::Entry, 0, adjoint, cost);
        }
    }

    /// Returns the adjoint that was discarded when the value was moved, if this step undoes that move. Removes its
    /// record.
    fn recorded_entry(&mut self, interval: Interval) -> Option<R::Bits> {
        if !H::ACTIVE || !self.travel.restores(interval) {
            return None;
        }
        self.history.latest(interval).filter(|kept| kept.slot == KeptSlot::Entry)?;
        let kept = self.history.take(interval)?;
        kept.cost.refund(&mut self.state.counters);
        Some(kept.bits)
    }

    /// Counts and records the content of a cell that is vacant within the tolerance, but not 0. Adjoints stay
    /// unchanged.
    fn discard(&mut self, address: usize, interval: Interval) {
        let bits = self.real(address);
        let width = self.numbers.reals.width();
        let (mut journal, _, counters) = self.journal(interval);
        journal.copies_of = Some([address as u32; 3]);
        journal.discarded(width, 0, bits, counters);
    }

    fn check_vacant(&self, class: Class, cell: usize) -> Result<(), Cause> {
        let vacant = match class {
            Class::Int => self.state.ints[cell] == 0,
            Class::Real => is_vacant(self.numbers.reals, self.tolerance, self.real(cell)),
        };
        if !vacant && keeps(Rule::VacancyIsChecked) {
            return Err(Cause::NotVacant { class, cell: cell as u32 });
        }
        Ok(())
    }
}
