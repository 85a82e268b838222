//! The steps that change more than cells: calls, stacks, tapes, and `show`.
//!
//! Each step first finds out whether it can be made, then makes it, so that a trap changes nothing.

use reviver_flow::CallSite;
use reviver_isa::instruction::Class;
use reviver_isa::module::Limits;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Reals, Words};
use reviver_isa::update::{self, Action};
use reviver_isa::verify::MAX_CELLS;

use crate::address::{ADJOINT, Scope};
use crate::history::{Cells, Cost, History, RECORDS_OF_A_STEP, Slot};
use crate::interp::keeping::{Freeing, is_vacant, report_freed};
use crate::interp::mode::is_silent;
use crate::interp::{Run, effective_direction};
use crate::journal::Journal;
use crate::lanes::Lanes;
use crate::op::{Kind, Op};
use crate::program::FORWARD;
use crate::room::{self, Room};
use crate::state::{Adjoints, CallRecord, Counters, Frame, Part, Reference, State, TapeEntry};
use crate::trap::Cause;
use crate::travel::{Interval, Stop, Track, Travel};

/// A value on its way between a cell and a stack or tape, a real with its adjoint.
#[derive(Clone, Copy)]
enum Moved<B> {
    Int(i64),
    Real(B, B),
}

impl<B: Lanes> Moved<B> {
    fn class(self) -> Class {
        match self {
            Moved::Int(_) => Class::Int,
            Moved::Real(..) => Class::Real,
        }
    }

    fn entry(self) -> TapeEntry<B> {
        match self {
            Moved::Int(value) => TapeEntry::Int(value),
            Moved::Real(bits, _) => TapeEntry::Real(bits),
        }
    }

    fn adjoint(self) -> B {
        match self {
            Moved::Int(_) => B::default(),
            Moved::Real(_, adjoint) => adjoint,
        }
    }
}

/// A place that values move to and from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Store {
    Stack(Class),
    Tape { output: bool },
}

impl Store {
    fn of(store: update::Store, class: Class) -> Store {
        match store {
            update::Store::Stack => Store::Stack(class),
            update::Store::Input => Store::Tape { output: false },
            update::Store::Output => Store::Tape { output: true },
        }
    }
}

impl<'a, W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>> Run<'a, W, R, H> {
    /// Makes one step over an instruction that the inner loop doesn't handle.
    pub(crate) fn structural(&mut self) -> Result<Option<Stop>, Cause> {
        let op = self.program.code[self.direction][self.counter];
        let track = self.track_over(&op);
        let interval = self.clock(track).interval(self.left);
        let mut stop = None;
        if H::ACTIVE && !self.travel.restores(interval) {
            self.history.make_room(interval, self.most_records(&op))?;
        }
        match op.kind {
            Kind::Call | Kind::Uncall => self.enter(&op)?,
            Kind::Stop => return Ok(Some(Stop::Budget)),
            Kind::Leave if self.state.calls.is_empty() => return Ok(Some(Stop::Bound)),
            Kind::Leave => self.leave(interval)?,
            Kind::Show => stop = self.show()?,
            Kind::GradOn | Kind::GradOff => self.switch(op.kind == Kind::GradOn)?,
            Kind::Move => self.transfer(&op, interval)?,
            // The loop's own; and bounds that a call passes are never executed.
            _ => {}
        }
        let (mut journal, mut cells, counters) = self.journal(interval);
        journal.put_back(&mut cells, counters);
        self.left -= 1;
        self.state.passed(self.travel, track, 1);
        Ok(stop)
    }

    /// The most records that a step may make: of each real that it frees, the value and the adjoint.
    fn most_records(&self, op: &Op) -> usize {
        let frees = match op.kind {
            Kind::Leave => self.state.reals.len() - self.state.frame.reals as usize,
            _ => 1,
        };
        RECORDS_OF_A_STEP + 2 * frees
    }

    /// Whose step the next one is. A call whose rule comes first, or that ends with it, is entered and left
    /// as in plain mode where its body begins or ends; the rule is on the other side of that step.
    fn track_over(&self, op: &Op) -> Track {
        let enters = matches!(op.kind, Kind::Call | Kind::Uncall);
        let turns = || self.state.calls.last().is_some_and(|record| self.next_part(*record).is_some());
        match op.kind {
            Kind::Leave if turns() => Track::Program,
            _ if enters && self.first_part(op) == Part::Rule => Track::Rules,
            _ => self.track,
        }
    }

    /// What a call executes first. A rule acts at the callee's entry: going forward before the body, going
    /// backward after it.
    fn first_part(&self, op: &Op) -> Part {
        let has_rule = self.program.call(op.a).1.is_some();
        if !has_rule || !self.state.mode() || !keeps(Rule::RulesStandIn) {
            return Part::Whole;
        }
        let forward = effective_direction(self.inverted_within(op), self.travel) == FORWARD;
        if forward == keeps(Rule::RulesActAtTheEntry) { Part::Rule } else { Part::Body }
    }

    /// The machine's direction inside of a call.
    fn inverted_within(&self, op: &Op) -> bool {
        let turned = op.kind == Kind::Uncall && keeps(Rule::UncallsRunBackward);
        self.state.inverted ^ turned
    }

    /// What an open call executes after the part that ends here.
    fn next_part(&self, record: CallRecord) -> Option<Part> {
        match (record.part, self.direction == FORWARD) {
            (Part::Body, false) => Some(Part::Rule),
            (Part::Rule, false) => Some(Part::Body),
            _ => None,
        }
    }

    fn switch(&mut self, on: bool) -> Result<(), Cause> {
        if self.state.mode() == on && keeps(Rule::SwitchesAreChecked) {
            return Err(Cause::ModeIs { on });
        }
        if on {
            self.state.make_adjoints().map_err(|_| Cause::NoMemory(Room::Adjoints))?;
        }
        self.state.set_mode(on);
        self.counter += 1;
        Ok(())
    }

    fn scope(&self) -> Scope<'_> {
        Scope { flow: self.program.flow(), frame: self.state.frame, references: &self.state.references }
    }

    /// The class and the cell of the next step's one operand.
    fn operand(&self) -> Result<(Class, usize), Cause> {
        let at = self.program.instruction_at(self.counter, self.direction);
        let Some(step) = self.program.flow().step(at) else { return Ok((Class::Int, 0)) };
        let [cell, ..] = self.scope().operands(step, &self.state.ints)?;
        Ok((step.class(), cell))
    }

    fn show(&mut self) -> Result<Option<Stop>, Cause> {
        let (class, cell) = self.operand()?;
        let at = self.program.instruction_at(self.counter, self.direction);
        let bits = match class {
            Class::Int => self.state.ints[cell] as u64,
            Class::Real => self.real(cell).word(),
        };
        self.counter += 1;
        let step = self.state.step + 1;
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
        let (part, inverted) = (self.first_part(op), self.inverted_within(op));
        let (site, procedure) = self.executed(op.a, part);
        self.make_room(site, procedure)?;
        self.refer(op.a, site)?;
        let references = self.state.references.len() - site.arguments.len();
        let at = self.program.instruction_at(self.counter, self.direction);
        let state = &mut *self.state;
        let (caller, outer) = (state.frame, state.inverted);
        state.calls.push(CallRecord { site: at, inverted: outer, frame: caller, part });
        state.frame.references = references as u32;
        if part != Part::Whole && keeps(Rule::RulesSwitchTheModeOff) {
            state.set_mode(false);
        }
        self.begin(procedure, part, if part == Part::Rule { !inverted } else { inverted });
        self.count_call();
        Ok(())
    }

    /// A step has entered a call or left one.
    fn count_call(&mut self) {
        let calls = &mut self.state.counters.calls;
        *calls = calls.wrapping_add(self.travel.sign());
    }

    /// Finds memory for the record, the references and the frame of a call's part.
    fn make_room(&mut self, site: &CallSite, procedure: usize) -> Result<(), Cause> {
        let layout = self.program.layout();
        let (ints, reals) = (layout.frame_ints[procedure] as usize, layout.frame_reals[procedure] as usize);
        let state = &mut *self.state;
        if (state.ints.len() + ints).max(state.reals.len() + reals) as u64 > MAX_CELLS {
            return Err(Cause::FramesFull);
        }
        let adjoints = state.adjoints.as_mut().map_or(Ok(()), |a| room::more(&mut a.cells, reals));
        room::more(&mut state.calls, 1)
            .and_then(|()| room::more(&mut state.references, site.arguments.len()))
            .and_then(|()| room::more(&mut state.ints, ints))
            .and_then(|()| room::more(&mut state.reals, reals))
            .and(adjoints)
            .map_err(|_| Cause::NoMemory(Room::Frame))
    }

    /// Makes the frame of a call's part and goes to its near bound.
    fn begin(&mut self, procedure: usize, part: Part, inverted: bool) {
        let program = self.program;
        let state = &mut *self.state;
        state.frame.ints = state.ints.len() as u32;
        state.frame.reals = state.reals.len() as u32;
        state.ints.resize(state.ints.len() + program.layout().frame_ints[procedure] as usize, 0);
        let reals = state.reals.len() + program.layout().frame_reals[procedure] as usize;
        state.reals.resize(reals, R::Bits::default());
        if let Some(adjoints) = &mut state.adjoints {
            adjoints.cells.resize(reals, R::Bits::default());
        }
        state.inverted = inverted;
        if part != Part::Whole {
            self.track = if part == Part::Rule { Track::Rules } else { Track::Program };
        }
        self.direction = effective_direction(inverted, self.travel);
        let bounds = &program.module().procedures[procedure];
        let near_bound = if self.direction == FORWARD { bounds.entry + 1 } else { bounds.exit };
        self.counter = program.counter(near_bound, self.direction);
    }

    /// Resolves the arguments of a call onto the references, or changes nothing.
    fn refer(&mut self, call: u32, site: &CallSite) -> Result<(), Cause> {
        let start = self.state.references.len();
        let outcome = self.push_references(call, site, start);
        if outcome.is_err() {
            self.state.references.truncate(start);
        }
        outcome
    }

    fn push_references(&mut self, call: u32, site: &CallSite, start: usize) -> Result<(), Cause> {
        for (n, argument) in site.arguments.iter().enumerate() {
            let reference = self.scope().reference(n as u32, argument, &self.state.ints)?;
            self.state.references.push(reference);
        }
        let own: &[Reference] = &self.state.references[start..];
        match self.program.distinct[call as usize].violation(own) {
            Some((first, second)) if keeps(Rule::OverlapIsChecked) => {
                Err(Cause::ArgumentsOverlap { first, second })
            }
            _ => Ok(()),
        }
    }

    fn leave(&mut self, interval: Interval) -> Result<(), Cause> {
        let Some(record) = self.state.calls.last().copied() else { return Ok(()) };
        let call = self.program.code[FORWARD][record.site as usize].a;
        let (site, _) = self.program.call(call);
        self.check_frame()?;
        self.check_references(site, record)?;
        let next = self.next_part(record).map(|part| (part, self.executed(call, part).1));
        if let Some((_, procedure)) = next {
            self.make_room(site, procedure)?;
        }
        self.free_frame(interval);
        match next {
            Some((part, procedure)) => self.go_on(procedure, part),
            None => {
                self.return_from(record);
                self.count_call();
            }
        }
        Ok(())
    }

    /// From the entry of a callee to that of its rule, or the other way round: the machine turns.
    fn go_on(&mut self, procedure: usize, part: Part) {
        if let Some(record) = self.state.calls.last_mut() {
            record.part = part;
        }
        let inverted = !self.state.inverted;
        self.begin(procedure, part, inverted);
    }

    /// A call of the flow, and the procedure that a part of it executes.
    fn executed(&self, call: u32, part: Part) -> (&'a CallSite, usize) {
        let (site, rule) = self.program.call(call);
        let rule = if part == Part::Rule { rule } else { None };
        (site, rule.unwrap_or(site.procedure) as usize)
    }

    fn return_from(&mut self, record: CallRecord) {
        let state = &mut *self.state;
        state.calls.pop();
        state.references.truncate(state.frame.references as usize);
        state.frame = record.frame;
        if keeps(Rule::DirectionIsRestored) {
            state.inverted = record.inverted;
        }
        if record.part != Part::Whole {
            state.set_mode(true);
            self.track = Track::Program;
        }
        self.direction = effective_direction(state.inverted, self.travel);
        let behind_the_call = if self.direction == FORWARD { record.site + 1 } else { record.site };
        self.counter = self.program.counter(behind_the_call, self.direction);
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
        let occupied = |&bits: &R::Bits| !is_vacant(self.numbers.reals, self.tolerance, bits);
        match state.reals[reals as usize..].iter().position(occupied) {
            Some(n) => Err(not_vacant(Class::Real, reals, n)),
            None => Ok(()),
        }
    }

    /// The caller's arguments must still refer to the cells that the callee worked on.
    fn check_references(&self, site: &CallSite, record: CallRecord) -> Result<(), Cause> {
        let state = &*self.state;
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

    /// Frees the cells of the frame: what remains in them is counted and recorded.
    fn free_frame(&mut self, interval: Interval) {
        let Frame { ints, reals, .. } = self.state.frame;
        for cell in reals as usize..self.state.reals.len() {
            self.free(cell, interval);
        }
        let state = &mut *self.state;
        state.ints.truncate(ints as usize);
        state.reals.truncate(reals as usize);
        if let Some(adjoints) = &mut state.adjoints {
            adjoints.cells.truncate(reals as usize);
        }
    }

    /// A vacant real cell goes out of use, or gets another value: what it held is discarded, and its
    /// adjoint dropped.
    fn free(&mut self, cell: usize, interval: Interval) {
        let reals = self.numbers.reals;
        let bits = self.state.reals[cell];
        let adjoint = self.state.adjoints.as_ref().map(|adjoints| adjoints.cells[cell]);
        let cotangent = adjoint.map(|bits| reals.of_bits(bits));
        self.report(bits, cotangent);
        let (mut journal, _, counters) = self.journal(interval);
        journal.discarded(reals.width(), cell, bits, counters);
        if let Some(bits) = adjoint {
            let counts = cotangent.is_some_and(|cotangent| !is_silent(reals, cotangent));
            journal.dropped(cell, bits, counts, counters);
        }
    }

    /// Reports what a cell holds that is freed.
    fn report(&mut self, bits: R::Bits, cotangent: Option<R::Cell>) {
        let at = self.program.instruction_at(self.counter, self.direction);
        let is_watched = self.track == Track::Program;
        let place = Freeing { at, tolerance: self.tolerance, is_watched };
        report_freed(self.reports, self.numbers.reals, place, bits, cotangent);
    }

    /// The history as this step sees it, with the cells that it may change and what is counted.
    fn journal(&mut self, interval: Interval) -> (Journal<'_, H>, Cells<'_, R::Bits>, &mut Counters) {
        let restores = self.travel.restores(interval);
        let gradient = self.state.mode();
        let journal = Journal { interval, restores, gradient, copies_of: None, history: &mut *self.history };
        let (cells, counters) = self.state.cells();
        (journal, cells, counters)
    }

    /// Moves a value between a cell and a stack or a tape.
    fn transfer(&mut self, op: &Op, interval: Interval) -> Result<(), Cause> {
        let (class, cell) = self.operand()?;
        match op.update.action() {
            Action::Put(store) => self.put_from(class, cell, Store::of(store, class), interval)?,
            Action::Take(store) => self.fill_from(class, cell, Store::of(store, class), interval)?,
            // Nothing else moves a value: `resolve` has asked the same.
            _ => {}
        }
        self.counter += 1;
        Ok(())
    }

    /// Finds memory for another value on a store.
    fn make_place(&mut self, store: Store) -> Result<(), Cause> {
        let Limits { stack, tape, .. } = self.program.module().limits;
        let State { int_stack, real_stack, input, output, adjoints, .. } = &mut *self.state;
        let mut beside = |of: fn(&mut Adjoints<R::Bits>) -> &mut Vec<R::Bits>| {
            adjoints.as_mut().map_or(Ok(()), |adjoints| room::more(of(adjoints), 1))
        };
        let (entries, found) = match store {
            Store::Stack(Class::Int) => (int_stack.len(), room::more(int_stack, 1)),
            Store::Stack(Class::Real) => {
                (real_stack.len(), room::more(real_stack, 1).and_then(|()| beside(|a| &mut a.stack)))
            }
            Store::Tape { output: false } => {
                (input.len(), room::more(input, 1).and_then(|()| beside(|a| &mut a.input)))
            }
            Store::Tape { output: true } => {
                (output.len(), room::more(output, 1).and_then(|()| beside(|a| &mut a.output)))
            }
        };
        let (limit, full, room) = match store {
            Store::Stack(_) => (stack, Cause::StackFull { limit: stack }, Room::Stack),
            Store::Tape { output } => (tape, Cause::TapeFull { output, limit: tape }, Room::Tape),
        };
        if entries as u64 >= u64::from(limit) && keeps(Rule::StacksAreLimited) {
            return Err(full);
        }
        found.map_err(|_| Cause::NoMemory(room))
    }

    /// Moves a cell's value, with its adjoint in gradient mode, onto a store.
    fn put_from(&mut self, class: Class, cell: usize, store: Store, interval: Interval) -> Result<(), Cause> {
        self.make_place(store)?;
        let moved = self.take(class, cell);
        let adjoint = self.recorded_entry(interval).unwrap_or(moved.adjoint());
        let State { int_stack, real_stack, input, output, adjoints, .. } = &mut *self.state;
        match (store, moved) {
            (Store::Stack(_), Moved::Int(value)) => int_stack.push(value),
            (Store::Stack(_), Moved::Real(bits, _)) => real_stack.push(bits),
            (Store::Tape { output: false }, _) => input.push(moved.entry()),
            (Store::Tape { output: true }, _) => output.push(moved.entry()),
        }
        let Some(adjoints) = adjoints else { return Ok(()) };
        match store {
            Store::Stack(Class::Int) => {}
            Store::Stack(Class::Real) => adjoints.stack.push(adjoint),
            Store::Tape { output: false } => adjoints.input.push(adjoint),
            Store::Tape { output: true } => adjoints.output.push(adjoint),
        }
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
        store: Store,
        interval: Interval,
    ) -> Result<(), Cause> {
        let moved = self.last_of(class, store)?;
        self.check_vacant(class, cell)?;
        match moved {
            Moved::Int(value) => self.state.ints[cell] = value,
            Moved::Real(bits, adjoint) => self.fill_real(cell, bits, adjoint, interval),
        }
        if keeps(Rule::MovesTake) {
            self.remove_last_of(store);
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
            self.leave_behind(adjoint, interval);
        }
        self.set_real(cell, bits);
    }

    /// A value moves to where its adjoint can't follow: outside of gradient mode, or into an adjoint.
    fn leave_behind(&mut self, adjoint: R::Bits, interval: Interval) {
        let reals = self.numbers.reals;
        if adjoint != R::Bits::default() {
            let drops = i32::from(!is_silent(reals, reals.of_bits(adjoint)));
            let cost = Cost { drops, ..Cost::default() };
            let (mut journal, _, counters) = self.journal(interval);
            cost.charge(counters);
            journal.keep(Slot::Entry, 0, adjoint, cost);
        }
    }

    /// The adjoint that a value left behind when it was moved away, if the step undoes that.
    fn recorded_entry(&mut self, interval: Interval) -> Option<R::Bits> {
        if !H::ACTIVE || !self.travel.restores(interval) {
            return None;
        }
        self.history.latest(interval).filter(|kept| kept.slot == Slot::Entry)?;
        let kept = self.history.take(interval)?;
        kept.cost.refund(&mut self.state.counters);
        Some(kept.bits)
    }

    /// What a vacant cell holds is counted and recorded; adjoints are left alone.
    fn discard(&mut self, address: usize, interval: Interval) {
        let bits = self.real(address);
        let width = self.numbers.reals.width();
        let (mut journal, _, counters) = self.journal(interval);
        journal.copies_of = Some([address as u32; 3]);
        journal.discarded(width, 0, bits, counters);
    }

    fn last_of(&self, class: Class, store: Store) -> Result<Moved<R::Bits>, Cause> {
        let State { int_stack, real_stack, input, output, adjoints, .. } = &*self.state;
        let latest = |of: fn(&Adjoints<R::Bits>) -> &Vec<R::Bits>| {
            adjoints.as_ref().and_then(|adjoints| of(adjoints).last()).copied().unwrap_or_default()
        };
        let (tape, is_output, adjoint) = match store {
            Store::Stack(Class::Int) => {
                return int_stack.last().map(|&value| Moved::Int(value)).ok_or(Cause::StackEmpty { class });
            }
            Store::Stack(Class::Real) => {
                let top = real_stack.last().map(|&bits| Moved::Real(bits, latest(|a| &a.stack)));
                return top.ok_or(Cause::StackEmpty { class });
            }
            Store::Tape { output: false } => (input, false, latest(|a| &a.input)),
            Store::Tape { output: true } => (output, true, latest(|a| &a.output)),
        };
        let moved = match tape.last() {
            None => return Err(Cause::TapeEmpty { output: is_output }),
            Some(TapeEntry::Int(value)) => Moved::Int(*value),
            Some(TapeEntry::Real(bits)) => Moved::Real(*bits, adjoint),
        };
        if moved.class() != class && keeps(Rule::TapeClassesAreChecked) {
            return Err(Cause::TapeClass { output: is_output, wanted: class });
        }
        Ok(moved)
    }

    fn remove_last_of(&mut self, store: Store) {
        let State { int_stack, real_stack, input, output, adjoints, .. } = &mut *self.state;
        match store {
            Store::Stack(Class::Int) => drop(int_stack.pop()),
            Store::Stack(Class::Real) => drop(real_stack.pop()),
            Store::Tape { output: false } => drop(input.pop()),
            Store::Tape { output: true } => drop(output.pop()),
        }
        let Some(adjoints) = adjoints else { return };
        match store {
            Store::Stack(Class::Int) => {}
            Store::Stack(Class::Real) => drop(adjoints.stack.pop()),
            Store::Tape { output: false } => drop(adjoints.input.pop()),
            Store::Tape { output: true } => drop(adjoints.output.pop()),
        }
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

    /// The real, or the adjoint, at an address.
    fn real(&self, address: usize) -> R::Bits {
        match &self.state.adjoints {
            Some(adjoints) if address & ADJOINT != 0 => adjoints.cells[address & !ADJOINT],
            _ => self.state.reals[address],
        }
    }

    fn set_real(&mut self, address: usize, bits: R::Bits) {
        match &mut self.state.adjoints {
            Some(adjoints) if address & ADJOINT != 0 => adjoints.cells[address & !ADJOINT] = bits,
            _ => self.state.reals[address] = bits,
        }
    }
}
