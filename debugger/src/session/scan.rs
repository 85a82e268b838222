//! The loop under every motion: steps in a direction until something is to be looked at. Between two
//! places where a point could matter the machine runs at its own speed ([`Stops`]).

use reviver_isa::instruction::Class;
use reviver_vm::room::OutOfMemory;
use reviver_vm::values::Value;
use reviver_vm::{Cause, State, Stop, Trap, Travel, explain};

use super::goal::{SLICE, Scan, ScanResult, Until};
use super::stretch::{Forth, Skip};
use super::{Session, SessionError, scene};
use crate::access::{self, Access};
use crate::expression::{Scene, WrittenValues};
use crate::listing::spell;
use crate::memory::Cell;
use crate::outcome::{Hit, HitKind, Print, Printed, Reason, Touch};
use crate::points::{Point, PointVerdict, Trigger, WatchMode, candidates};
use reviver_vm::stops::{Node, Stops};

/// A cell that a watchpoint waits for, before a step and after it.
pub(super) struct WatchedCell {
    pub point: usize,
    cell: Cell,
    watch: WatchMode,
    read: bool,
    written: bool,
    before: Option<Value>,
}

impl Session {
    pub(super) fn scan(&mut self, scan: &Scan) -> ScanResult {
        let mut found = ScanResult { reason: Reason::Arrived, printed: Printed::default() };
        found.reason = self.scan_into(scan, &mut found.printed);
        found
    }

    fn scan_into(&mut self, scan: &Scan, printed: &mut Printed) -> Reason {
        let fence = self.fence_ahead(scan.travel);
        let reach = self.within_reach(scan.travel);
        let budget = scan.budget.min(fence.unwrap_or(u64::MAX)).min(reach);
        let first = self.step_number();
        // One step is looked at in any case; a plan would take longer.
        let single = budget == 1;
        let plan = if single { None } else { self.plan(scan) };
        self.timeline.branch_mut().prepare(scan.travel, budget);
        let mut forth = Forth::new();
        let mut watched = Vec::new();
        loop {
            let left = budget - self.step_number().abs_diff(first);
            if left == 0 {
                return self.spent(scan, budget, first);
            }
            if !self.goes_on(self.step_number()) {
                return Reason::Interrupted;
            }
            match self.skip_stretch(scan, left, &mut forth) {
                Skip::Skipped => continue,
                Skip::Interrupted => return Reason::Interrupted,
                Skip::Nothing => {}
            }
            let node = Node::of(self.state(), scan.travel);
            let looks = single || plan.as_ref().is_some_and(|plan| plan.contains(node));
            if looks {
                self.look_at_watched(node, &mut watched);
            }
            let outcome = match looks {
                true => self.timeline.run(scan.travel, 1),
                false => self.timeline.run_until(plan.as_ref(), scan.travel, left.min(SLICE)),
            };
            if let Some(reason) = self.paused(outcome, scan.travel, printed) {
                return reason;
            }
            let hits = self.written(node, &mut watched, scan.travel, printed);
            let here = Node::of(self.state(), scan.travel);
            let looks = single || plan.as_ref().is_some_and(|plan| plan.contains(here));
            if let Some(reason) = self.here(scan, here, looks, hits, printed) {
                return reason;
            }
        }
    }

    /// Why a scan from a step goes no further than its budget, which a fence or the step limit may have cut.
    fn spent(&mut self, scan: &Scan, budget: u64, first: i64) -> Reason {
        let here = self.step_number();
        if here != first && self.fences().any(|fence| fence == here) {
            Reason::Fence
        } else if budget == scan.budget {
            Reason::Arrived
        } else {
            self.at_limit(scan.travel)
        }
    }

    /// The reason to stop that the machine gives, if any.
    pub(super) fn paused(
        &mut self,
        outcome: Result<Stop, Trap>,
        travel: Travel,
        printed: &mut Printed,
    ) -> Option<Reason> {
        match outcome {
            Ok(Stop::Budget | Stop::Interrupted) => None,
            Ok(Stop::Bound) if travel == Travel::Forward => Some(Reason::HistoryEnd),
            Ok(Stop::Bound) => Some(Reason::HistoryBegin),
            Ok(Stop::Shown { at, class, bits }) => {
                let value = if class == Class::Int { Value::Int(bits as i64) } else { Value::Real(bits) };
                printed.add(Print::Shown { at, value });
                None
            }
            Err(trap) => {
                let mut explanation = explain::explain(self.program(), self.state(), trap);
                // The history keeps what steps lose, but nobody has made this one.
                if trap.cause == Cause::Irreversible && self.moment().branch > 0 {
                    explanation.notes.push("an edit began this branch: `timeline up` leads out of it".into());
                }
                Some(Reason::Trap(Box::new(explanation)))
            }
        }
    }

    /// The places that must be looked at; none where nothing must.
    fn plan(&self, scan: &Scan) -> Option<Stops> {
        let mut goals = Vec::new();
        if scan.budget > 0 {
            for point in self.points.iter().filter(|point| point.enabled) {
                self.goals_of(point, scan.travel, &mut goals);
            }
        }
        match &scan.until {
            Until::Budget => {}
            Until::Nodes(nodes) => goals.extend(nodes),
            Until::Depth(depth) => goals.extend(self.exits(*depth)),
        }
        (!goals.is_empty()).then(|| Stops::new(self.program(), goals))
    }

    pub(super) fn goals_of(&self, point: &Point, travel: Travel, goals: &mut Vec<Node>) {
        match &point.trigger {
            Trigger::Break(places) => {
                goals.extend(places.iter().flat_map(|place| place.nodes(self.program(), travel)));
            }
            Trigger::Watch { target, watch, .. } => {
                goals.extend(candidates(&self.memory, *target, *watch).into_iter().flat_map(Node::over));
            }
        }
    }

    /// Where the procedure that is open above a call depth is left.
    fn exits(&self, depth: usize) -> Vec<Node> {
        let Some(record) = self.state().calls.get(depth) else { return Vec::new() };
        let callee = self.memory.program().callee(record.site);
        // In gradient mode a call may be left from its rule.
        let rule = callee.and_then(|callee| self.memory.program().rule(callee));
        let module = self.program().module();
        let procedures = callee.into_iter().chain(rule).filter_map(|n| module.procedures.get(n));
        let exits = |p: &reviver_isa::module::Procedure| {
            [Node { position: p.exit, backward: false }, Node { position: p.entry + 1, backward: true }]
        };
        procedures.flat_map(exits).collect()
    }

    /// Steps to the nearest fence in a direction.
    fn fence_ahead(&self, travel: Travel) -> Option<u64> {
        let here = self.step_number();
        let fences = self.fences.get(&self.timeline.moment().branch)?;
        let ahead = match travel {
            Travel::Forward => fences.range(here.saturating_add(1)..).next(),
            Travel::Backward => fences.range(..here).next_back(),
        };
        ahead.map(|step| step.abs_diff(here))
    }

    /// Which watched cells the step from a node reads and writes, and what they hold before it.
    pub(super) fn look_at_watched(&self, node: Node, watched: &mut Vec<WatchedCell>) {
        watched.clear();
        let state = self.state();
        for (n, point) in self.points.iter().enumerate().filter(|(_, point)| point.enabled) {
            if let Trigger::Watch { target, watch, .. } = point.trigger
                && let Some(cell) = self.memory.resolve(state, target)
            {
                let before = cell.value(state);
                watched.push(WatchedCell { point: n, cell, watch, read: false, written: false, before });
            }
        }
        if !watched.is_empty() {
            access::visit(&self.memory, state, node, |access, cell| mark(watched, access, cell));
        }
    }

    /// The watchpoints that a step has hit.
    fn written(
        &mut self,
        node: Node,
        watched: &mut Vec<WatchedCell>,
        travel: Travel,
        printed: &mut Printed,
    ) -> Vec<Hit> {
        self.look_at_partner(node, watched);
        let mut hits = Vec::new();
        for seen in watched.drain(..) {
            if !self.is_wanted(&seen) {
                continue;
            }
            let verdict = self.judge_touch(&seen, travel);
            if !matches!(verdict, PointVerdict::Passes) {
                let write = self.touch(&seen, node, travel);
                let kind = HitKind::Watch { watch: seen.watch, write };
                hits.extend(self.decide(verdict, seen.point, kind, printed));
            }
        }
        hits
    }

    /// Adds what a taken branch has read at its partner. Where nothing is watched, more than one step may have
    /// been made from the node, into another frame.
    pub(super) fn look_at_partner(&self, node: Node, watched: &mut [WatchedCell]) {
        if watched.is_empty() {
            return;
        }
        let state = self.timeline.state();
        if access::jumped(&self.memory, node, state.position) {
            access::visit_partner(&self.memory, state, node, |access, cell| mark(watched, access, cell));
        }
    }

    /// Whether the step that was just made did to a cell what its watchpoint waits for.
    pub(super) fn is_wanted(&self, seen: &WatchedCell) -> bool {
        let changed = seen.written && seen.before != seen.cell.value(self.state());
        seen.watch.wants(seen.read, seen.written, changed)
    }

    fn touch(&self, seen: &WatchedCell, node: Node, travel: Travel) -> Touch {
        let (from, to) = (seen.before, seen.cell.value(self.state()));
        self.touch_of(seen.cell, (seen.read, seen.written), (from, to), node, travel)
    }

    /// What becomes of a touch, by the state behind the step in the order of the program. Where that state has
    /// just been left, going backward, the step is made once more to look at it.
    pub(super) fn judge_touch(&mut self, seen: &WatchedCell, travel: Travel) -> PointVerdict {
        let Some(point) = self.points.get(seen.point) else { return PointVerdict::Passes };
        let (from, to) = (seen.before, seen.cell.value(self.timeline.state()));
        if travel == Travel::Forward {
            let written = Some(WrittenValues { old: from, new: to });
            return point.judge(Scene { written, ..scene(&self.memory, &self.timeline) });
        }
        if point.condition.is_none() && point.log.is_none() {
            return PointVerdict::Counts { condition_error: None, message: None };
        }
        let (memory, step) = (&self.memory, self.timeline.moment().step + 1);
        let written = Some(WrittenValues { old: to, new: from });
        let judge = |state: &State, _| {
            let depth = state.calls.len();
            point.judge(Scene { memory, state, step, depth, before: None, written })
        };
        match self.timeline.branch_mut().peek(Travel::Forward, judge) {
            Ok(Some(verdict)) => verdict,
            // The step was there a moment ago: it is memory that is missing.
            Ok(None) | Err(_) => {
                let error = SessionError::NoMemory(OutOfMemory).to_string();
                PointVerdict::Counts { condition_error: Some(error), message: None }
            }
        }
    }

    /// What a step that was just made from `node` did to a cell, told in the order of time.
    pub(super) fn touch_of(
        &self,
        cell: Cell,
        (read, written): (bool, bool),
        (from, to): (Option<Value>, Option<Value>),
        node: Node,
        travel: Travel,
    ) -> Touch {
        let text = |value: Option<Value>| value.map_or_else(|| "?".into(), |v| self.program().text(v));
        let (before, after) = if travel == Travel::Forward { (from, to) } else { (to, from) };
        // A step back may leave by a `from`, or the beginning of a procedure, what in time is a jump or a call.
        let has_stepped = Node::of(self.state(), travel) != node;
        let next = self.next_instruction().filter(|_| has_stepped && travel == Travel::Backward);
        let at = next.unwrap_or(node.instruction());
        let back = i64::from(travel == Travel::Forward);
        Touch {
            cell,
            name: self.memory.name(self.state(), cell),
            before: text(before),
            after: text(after),
            written,
            read,
            step: self.step_number() - back,
            at,
            // In time the instruction was inverted where the machine itself ran backward.
            instruction: spell(self.program(), at, node.backward != (travel == Travel::Backward)),
            line: self.listing.line(at),
        }
    }

    /// Whether the scan ends in the state where it is now.
    fn here(
        &mut self,
        scan: &Scan,
        node: Node,
        looks: bool,
        mut hits: Vec<Hit>,
        printed: &mut Printed,
    ) -> Option<Reason> {
        if looks {
            for n in 0..self.points.len() {
                if let Some(kind) = self.is_at(n) {
                    let innermost = scene(&self.memory, &self.timeline);
                    let verdict = self.points.get(n).map_or(PointVerdict::Passes, |p| p.judge(innermost));
                    hits.extend(self.decide(verdict, n, kind, printed));
                }
            }
        }
        if !hits.is_empty() {
            self.points.retain(|point| !hits.iter().any(|hit| hit.temporary && hit.id == point.id));
            return Some(Reason::Points(hits));
        }
        let arrived = match &scan.until {
            Until::Budget => false,
            Until::Nodes(nodes) => looks && nodes.contains(&node),
            Until::Depth(depth) => self.state().calls.len() <= *depth,
        };
        arrived.then_some(Reason::Arrived)
    }

    /// What to say of a breakpoint if the state is at its place.
    pub(super) fn is_at(&self, n: usize) -> Option<HitKind> {
        let point = self.points.get(n).filter(|point| point.enabled)?;
        let Trigger::Break(places) = &point.trigger else { return None };
        let at = places.iter().any(|place| place.is_at(self.program(), self.state()));
        at.then(|| HitKind::Break { text: point.text.clone() })
    }

    /// Whether a point that is hit stops the scan: its condition holds, it isn't to be ignored, and it
    /// doesn't just print.
    fn decide(
        &mut self,
        verdict: PointVerdict,
        n: usize,
        what: HitKind,
        printed: &mut Printed,
    ) -> Option<Hit> {
        let PointVerdict::Counts { condition_error, message } = verdict else { return None };
        let point = self.points.get_mut(n)?;
        point.hits += 1;
        if point.ignore > 0 {
            point.ignore -= 1;
            return None;
        }
        if point.log.is_some() {
            printed.add(Print::Logged(message.or(condition_error).unwrap_or_default()));
            return None;
        }
        Some(Hit { id: point.id, temporary: point.temporary, hits: point.hits, what, condition_error })
    }
}

fn mark(watched: &mut [WatchedCell], access: Access, cell: Cell) {
    for seen in watched.iter_mut().filter(|seen| seen.cell == cell) {
        match access {
            Access::Read => seen.read = true,
            Access::Write => seen.written = true,
        }
    }
}
