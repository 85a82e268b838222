//! Calls and returns. A call creates a frame and its references, and continues at the entry of the callee or, in the
//! backward direction, at its exit. A return frees the frame. In gradient mode, a callee with a derivative rule is
//! executed in two parts: the body and the rule.

use reviver_flow::CallSite;
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Reals, Words};
use reviver_isa::verify::MAX_CELLS;

use crate::allocation::{self, AllocationPurpose};
use crate::history::History;
use crate::interp::address::Addresses;
use crate::interp::op::{Kind, Op};
use crate::interp::recording::is_vacant;
use crate::interp::resolve::calls::ResolvedCall;
use crate::interp::{Run, effective_direction};
use crate::program::FORWARD;
use crate::state::lanes::Lanes;
use crate::state::{CallRecord, Frame, Part};
use crate::trap::Cause;
use crate::travel::{Interval, Track};

impl<'a, W: Words, R: Reals<Bits: Lanes>, H: History<R::Bits>> Run<'a, W, R, H> {
    pub(super) fn enter(&mut self, op: &Op, interval: Interval) -> Result<(), Cause> {
        let limit = self.program.module().limits.depth;
        if self.state.calls.len() as u64 >= u64::from(limit) && keeps(Rule::DepthIsLimited) {
            return Err(Cause::DepthExceeded { limit });
        }
        let (site, call) = self.program.call(op.a);
        let (part, inverted) = (self.first_part(op, call), self.inverted_within(op));
        let procedure = call.executed(part);
        self.reserve_memory(call, procedure)?;
        self.refer(site, call)?;
        let references = self.state.references.len() - call.known.len();
        if call.is_task && self.state.mode() && !R::EXACT {
            let shared = self.only_read(call, references);
            self.defer(&shared, interval);
        }
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

    pub(super) fn leave(&mut self, interval: Interval) -> Result<(), Cause> {
        let Some(record) = self.state.calls.last().copied() else { return Ok(()) };
        let (site, call) = self.program.call(self.program.code[FORWARD][record.site as usize].a);
        self.check_frame()?;
        self.check_references(site, call, record)?;
        let joined = self.joined()?;
        let next = self.next_part(record).map(|part| (part, call.executed(part)));
        if let Some((_, procedure)) = next {
            self.reserve_memory(call, procedure)?;
        }
        self.free_frame(interval);
        match next {
            Some((part, procedure)) => self.continue_call(procedure, part),
            None => {
                self.return_from(record, call.caller as usize);
                self.join_adjoints(&joined, interval);
                self.count_call();
            }
        }
        Ok(())
    }

    /// Returns the part that a call executes first. A rule acts at the callee's entry: before the body when
    /// going forward, and after it when going backward.
    fn first_part(&self, op: &Op, call: &ResolvedCall) -> Part {
        if call.rule.is_none() || !self.state.mode() || !keeps(Rule::RulesStandIn) {
            return Part::Whole;
        }
        let forward = effective_direction(self.inverted_within(op), self.travel) == FORWARD;
        if forward == keeps(Rule::RulesActAtTheEntry) { Part::Rule } else { Part::Body }
    }

    /// Returns the machine's direction inside of the call.
    fn inverted_within(&self, op: &Op) -> bool {
        let turned = op.kind == Kind::Uncall && keeps(Rule::UncallsRunBackward);
        self.state.inverted ^ turned
    }

    /// Returns the part that an open call executes after the part that ends now.
    fn next_part(&self, record: CallRecord) -> Option<Part> {
        match (record.part, self.direction == FORWARD) {
            (Part::Body, false) => Some(Part::Rule),
            (Part::Rule, false) => Some(Part::Body),
            _ => None,
        }
    }

    /// Returns the track in which the next step is numbered. A step that enters a rule is in the rule track, if the
    /// rule is the call's first part. A step between the body and the rule is in the program track. So the steps of the
    /// body have the same numbers with and without a rule.
    pub(super) fn track_over(&self, op: &Op) -> Track {
        if !self.program.has_rules {
            return self.track;
        }
        let enters = matches!(op.kind, Kind::Call | Kind::Uncall);
        let turns = || self.state.calls.last().is_some_and(|record| self.next_part(*record).is_some());
        match op.kind {
            Kind::Leave if turns() => Track::Program,
            _ if enters && self.first_part(op, self.program.call(op.a).1) == Part::Rule => Track::Rules,
            _ => self.track,
        }
    }

    /// Reserves memory for the record, the references and the frame of a call's part.
    fn reserve_memory(&mut self, call: &ResolvedCall, procedure: usize) -> Result<(), Cause> {
        let layout = self.program.layout();
        let (ints, reals) = (layout.frame_ints[procedure] as usize, layout.frame_reals[procedure] as usize);
        let state = &mut *self.state;
        if (state.ints.len() + ints).max(state.reals.len() + reals) as u64 > MAX_CELLS {
            return Err(Cause::FramesFull);
        }
        let adjoints = state.adjoints.as_mut().map_or(Ok(()), |a| {
            let deferred = if call.is_task { a.cells.len() } else { 0 };
            allocation::more(&mut a.cells, reals).and_then(|()| allocation::more(&mut a.deferred, deferred))
        });
        allocation::more(&mut state.calls, 1)
            .and_then(|()| allocation::more(&mut state.references, call.known.len()))
            .and_then(|()| allocation::more(&mut state.ints, ints))
            .and_then(|()| allocation::more(&mut state.reals, reals))
            .and(adjoints)
            .map_err(|_| Cause::NoMemory(AllocationPurpose::Frame))
    }

    /// Resolves the arguments of a call and pushes their references. On failure nothing is changed.
    pub(super) fn refer(&mut self, site: &CallSite, call: &ResolvedCall) -> Result<(), Cause> {
        let start = self.state.references.len();
        let outcome = self.push_references(site, call, start);
        if outcome.is_err() {
            self.state.references.truncate(start);
        }
        outcome
    }

    fn push_references(&mut self, site: &CallSite, call: &ResolvedCall, start: usize) -> Result<(), Cause> {
        let frame = self.state.frame;
        for (n, known) in (0..).zip(&call.known) {
            let reference = match known.and_then(|known| known.of(frame, &self.state.references)) {
                Some(reference) => reference,
                None => self.scope().reference(n, &site.arguments[n as usize], &self.state.ints)?,
            };
            self.state.references.push(reference);
        }
        match call.distinct.violation(&self.state.references[start..]) {
            Some((first, second)) if keeps(Rule::OverlapIsChecked) => {
                Err(Cause::ArgumentsOverlap { first, second })
            }
            _ => Ok(()),
        }
    }

    /// Creates the frame for a part of a call. Moves the machine to the entry of the part, or if the part runs
    /// backward, to its exit.
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
        self.fill_window(procedure);
    }

    /// Switches from the callee's entry to the entry of its rule, or from the rule to the callee, and
    /// reverses the direction.
    fn continue_call(&mut self, procedure: usize, part: Part) {
        if let Some(record) = self.state.calls.last_mut() {
            record.part = part;
        }
        let inverted = !self.state.inverted;
        self.begin(procedure, part, inverted);
    }

    fn return_from(&mut self, record: CallRecord, caller: usize) {
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
        self.fill_window(caller);
    }

    /// Counts a step that enters or leaves a call.
    fn count_call(&mut self) {
        let calls = &mut self.state.counters.calls;
        *calls = calls.wrapping_add(self.travel.sign());
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

    /// Fails unless the caller's arguments still refer to the same cells as at the start of the call.
    fn check_references(
        &self,
        site: &CallSite,
        call: &ResolvedCall,
        record: CallRecord,
    ) -> Result<(), Cause> {
        let state = &*self.state;
        let scope = Addresses { frame: record.frame, ..self.scope() };
        let own = &state.references[state.frame.references as usize..];
        for &argument in &call.computed {
            let (passed, was) = (&site.arguments[argument as usize], own[argument as usize]);
            let now = scope.reference(argument, passed, &state.ints)?;
            if now != was && keeps(Rule::ReferencesAreChecked) {
                return Err(Cause::ReferenceChanged { argument });
            }
        }
        Ok(())
    }

    /// Frees the cells of the frame. Values that remain in reals are counted and recorded.
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
}
