//! The main loop of every movement: executes steps in a direction until there is a reason to stop. Only the states
//! at certain nodes are checked ([`Stops`]). Between these nodes, the machine runs at full speed.

use reviver_vm::{Cause, ShownValue, Stop, Trap, Travel, explain};

use super::goal::{Scan, ScanResult, Until};
use super::interval::{OppositeScan, Skip};
use super::watching::Watching;
use super::{Session, scene};
use crate::outcome::{Hit, HitKind, Print, Printed, Reason};
use crate::points::{Point, PointVerdict, Trigger, WatchMode, WatchedPlace, candidates};
use reviver_vm::stops::{Node, Stops};

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
        // For a single step no stops are computed, because that would take longer. The state after the step is
        // checked instead.
        let single = budget == 1;
        let plan = if single { None } else { self.plan(scan) };
        self.timeline.branch_mut().prepare(scan.travel, budget);
        let mut opposite = OppositeScan::new();
        let mut watching = Watching::default();
        loop {
            let left = budget - self.step_number().abs_diff(first);
            if left == 0 {
                return self.spent(scan, budget, first);
            }
            if !self.may_continue(self.step_number()) {
                return Reason::Interrupted;
            }
            match self.skip_interval(scan, left, &mut opposite) {
                Skip::Skipped => continue,
                Skip::Interrupted => return Reason::Interrupted,
                Skip::Nothing => {}
            }
            let node = Node::of(self.state(), scan.travel);
            let looks = single || plan.as_ref().is_some_and(|plan| plan.contains(node));
            if looks {
                self.look_at_watched(node, &mut watching);
            }
            let outcome = match looks {
                true => self.timeline.run(scan.travel, 1),
                false => self.timeline.run_until(plan.as_ref(), scan.travel, left.min(self.slice())),
            };
            if let Some(reason) = self.paused(outcome, scan.travel, printed) {
                return reason;
            }
            let hits = self.written(node, &mut watching, scan.travel, printed);
            let here = Node::of(self.state(), scan.travel);
            let looks = single || plan.as_ref().is_some_and(|plan| plan.contains(here));
            if let Some(reason) = self.here(scan, here, looks, hits, printed) {
                return reason;
            }
        }
    }

    /// Returns the reason why a scan ended after `budget` steps. If a fence or the step limit is near, `budget` is
    /// smaller than the scan's own budget.
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

    /// Converts the outcome of a run of the machine to a reason to stop. Returns `None` if the scan
    /// continues.
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
                printed.add(Print::Shown(ShownValue::new(at, class, bits)));
                None
            }
            Err(trap) => {
                let mut explanation = explain::explain(self.program(), self.state(), trap);
                // A step before the origin of an edited branch was never executed on that branch, so no history
                // can undo the step.
                if trap.cause == Cause::Irreversible && self.time_point().branch > 0 {
                    explanation
                        .notes
                        .push("an edit began this branch: `timeline up` goes to its parent".into());
                }
                Some(Reason::Trap(Box::new(explanation)))
            }
        }
    }

    /// Returns the nodes at which a scan must check the state. Returns `None` if there are none.
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
            Trigger::Watch { watched: WatchedPlace::Cells(cells), watch, .. } => {
                goals.extend(candidates(&self.memory, *cells, *watch).into_iter().flat_map(Node::over));
            }
            Trigger::Watch { watched: WatchedPlace::Value(expression), .. } => {
                let sets = expression.cells().into_iter();
                let written = sets.flat_map(|cells| candidates(&self.memory, cells, WatchMode::Write));
                goals.extend(written.flat_map(Node::over));
            }
        }
    }

    /// Returns the nodes from which a step leaves the called procedure. The called procedure is that of the open
    /// call in the frame at call depth `depth`.
    fn exits(&self, depth: usize) -> Vec<Node> {
        let Some(record) = self.state().calls.get(depth) else { return Vec::new() };
        let callee = self.memory.program().callee(record.site);
        // In gradient mode, a step may leave the call from the derivative rule of the procedure.
        let rule = callee.and_then(|callee| self.memory.program().rule(callee));
        let module = self.program().module();
        let procedures = callee.into_iter().chain(rule).filter_map(|n| module.procedures.get(n));
        let exits = |p: &reviver_isa::module::Procedure| {
            [Node { position: p.exit, backward: false }, Node { position: p.entry + 1, backward: true }]
        };
        procedures.flat_map(exits).collect()
    }

    /// Returns the number of steps to the nearest fence in a direction, or `None` if there is none.
    fn fence_ahead(&self, travel: Travel) -> Option<u64> {
        let here = self.step_number();
        let fences = self.fences.get(&self.timeline.time_point().branch)?;
        let ahead = match travel {
            Travel::Forward => fences.range(here.saturating_add(1)..).next(),
            Travel::Backward => fences.range(..here).next_back(),
        };
        ahead.map(|step| step.abs_diff(here))
    }

    /// Returns the reason to stop in the current state, if there is one. `hits` has the watchpoints that the last
    /// step triggered. `looks` is true if breakpoints must be checked, too.
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
                    let verdict = self.points.get(n).map_or(PointVerdict::Passes, |p| p.verdict(innermost));
                    hits.extend(self.decide(vec![verdict], n, kind, printed));
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

    /// Returns the hit of the point with index `n`, if it is a breakpoint and the state is at its location.
    pub(super) fn is_at(&self, n: usize) -> Option<HitKind> {
        let point = self.points.get(n).filter(|point| point.enabled)?;
        let Trigger::Break(places) = &point.trigger else { return None };
        let at = places.iter().any(|place| place.is_at(self.program(), self.state()));
        at.then(|| HitKind::Break { text: point.text.clone() })
    }

    /// Counts a hit of a point, unless the point's condition is false for all `verdicts`. Returns the hit if it
    /// stops the scan. A hit that the point ignores doesn't stop the scan, and a log point never does.
    pub(super) fn decide(
        &mut self,
        verdicts: Vec<PointVerdict>,
        n: usize,
        what: HitKind,
        printed: &mut Printed,
    ) -> Option<Hit> {
        let counting = verdicts.into_iter().filter_map(|verdict| match verdict {
            PointVerdict::Passes => None,
            PointVerdict::Counts { condition_error, message } => Some((condition_error, message)),
        });
        let counting: Vec<_> = counting.collect();
        let point = self.points.get_mut(n).filter(|_| !counting.is_empty())?;
        point.hits += 1;
        if point.ignore > 0 {
            point.ignore -= 1;
            return None;
        }
        if point.log.is_some() {
            for (condition_error, message) in counting {
                printed.add(Print::Logged(message.or(condition_error).unwrap_or_default()));
            }
            return None;
        }
        let condition_error = counting.into_iter().find_map(|(error, _)| error);
        Some(Hit { id: point.id, temporary: point.temporary, hits: point.hits, what, condition_error })
    }
}
