//! Scans toward the origin of a branch over intervals without residues, in programs that lose bits. Executing such
//! an interval toward the origin is slow. So the interval is first executed in the other direction, from the
//! checkpoint before it. If this run finds no reason to stop, the scan skips the whole interval. Otherwise the scan
//! executes the interval toward the origin.

use reviver_vm::Stop;

use super::goal::{Scan, Until};
use super::watching::Watching;
use super::{Session, scene};
use reviver_vm::stops::{Node, Stops};

/// Result of an attempt to skip the next interval.
pub(super) enum Skip {
    /// No interval was skipped. Either no interval begins at this step, or the interval contains a reason to stop
    /// or is too long, or memory for copies of states is lacking.
    Nothing,
    /// The interval was skipped. The scan continues at the far end of the interval.
    Skipped,
    Interrupted,
}

/// The stops of a scan for a run in the opposite direction. They are computed on first use.
pub(super) struct OppositeScan {
    plan: Option<Option<Stops>>,
    /// The step at the near end of an interval that contains a reason to stop. This interval isn't checked
    /// again.
    busy: Option<i64>,
}

impl OppositeScan {
    pub fn new() -> OppositeScan {
        OppositeScan { plan: None, busy: None }
    }
}

impl Session {
    /// Skips the next interval if it contains no reason to stop and has at most `left` steps.
    pub(super) fn skip_interval(&mut self, scan: &Scan, left: u64, opposite: &mut OppositeScan) -> Skip {
        let Some(start) = self.timeline.branch().interval(scan.travel) else { return Skip::Nothing };
        let here = self.state().step;
        if start.step.abs_diff(here) > left || opposite.busy == Some(here) {
            return Skip::Nothing;
        }
        // Without memory for copies, the interval is executed backward.
        let Ok(other_end) = start.try_clone() else { return Skip::Nothing };
        let plan = opposite.plan.get_or_insert_with(|| self.plan_opposite(scan));
        let Some(plan) = plan else {
            self.timeline.branch_mut().install(other_end);
            return Skip::Skipped;
        };
        let (Ok(end), Ok(scout)) = (self.state().try_clone(), other_end.try_clone()) else {
            return Skip::Nothing;
        };
        self.timeline.branch_mut().install(scout);
        let (state, skip) = match self.is_quiet(scan, here, plan) {
            Some(true) => (other_end, Skip::Skipped),
            Some(false) => {
                opposite.busy = Some(here);
                (end, Skip::Nothing)
            }
            None => (end, Skip::Interrupted),
        };
        self.timeline.branch_mut().install(state);
        skip
    }

    /// Builds the scan's plan for the opposite direction.
    fn plan_opposite(&self, scan: &Scan) -> Option<Stops> {
        let mut goals = Vec::new();
        for point in self.points.iter().filter(|point| point.enabled) {
            self.goals_of(point, scan.travel.reversed(), &mut goals);
        }
        match &scan.until {
            Until::Budget => {}
            Until::Nodes(nodes) => goals.extend(nodes.iter().map(|node| turned(*node))),
            Until::Depth(depth) => goals.extend(self.calls_of(*depth)),
        }
        (!goals.is_empty()).then(|| Stops::new(self.program(), goals))
    }

    /// Returns the nodes of all call instructions for the called procedure, in both directions of travel. The
    /// called procedure is that of the open call in the frame at call depth `depth`.
    fn calls_of(&self, depth: usize) -> Vec<Node> {
        let open = self.state().calls.get(depth).and_then(|record| self.memory.program().callee(record.site));
        let sites = 0..self.program().module().code.len() as u32;
        let calls = sites.filter(|&site| open.is_some() && self.memory.program().callee(site) == open);
        calls.flat_map(Node::over).collect()
    }

    /// Runs to a step of the branch. Returns true if nothing before that step stops the scan, or `None` if
    /// the user interrupts.
    fn is_quiet(&mut self, scan: &Scan, end: i64, plan: &Stops) -> Option<bool> {
        let opposite = scan.travel.reversed();
        let mut watching = Watching::default();
        while self.state().step != end {
            if !self.may_continue(self.step_number()) {
                return None;
            }
            let node = Node::of(self.state(), opposite);
            let looks = plan.contains(node);
            if looks {
                if self.stops_at_state(scan, node) {
                    return Some(false);
                }
                self.look_at_watched(node, &mut watching);
            }
            let depth = self.state().calls.len();
            let steps = self.state().step.abs_diff(end).min(self.slice());
            let outcome = match looks {
                true => self.timeline.run(opposite, 1),
                false => self.timeline.run_until(Some(plan), opposite, steps),
            };
            if !matches!(outcome, Ok(Stop::Budget | Stop::Shown { .. })) {
                return Some(false);
            }
            let entered = matches!(scan.until, Until::Depth(d) if depth <= d && self.state().calls.len() > d);
            if entered || self.has_hit(node, &mut watching, opposite) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns true if the scan would stop in the current state.
    fn stops_at_state(&self, scan: &Scan, node: Node) -> bool {
        let is_goal = matches!(&scan.until, Until::Nodes(nodes) if nodes.contains(&turned(node)));
        let breaks = |n: usize| self.is_at(n).is_some() && self.may_stop(n);
        is_goal || (0..self.points.len()).any(breaks)
    }

    /// Returns true if a point's condition holds in the current state, or can't be evaluated.
    fn may_stop(&self, n: usize) -> bool {
        let innermost = scene(&self.memory, &self.timeline);
        self.points.get(n).is_none_or(|point| point.holds(innermost).unwrap_or(true))
    }
}

/// Returns the node that a state has for the opposite direction of travel, given the state's node for one
/// direction.
fn turned(node: Node) -> Node {
    Node { backward: !node.backward, ..node }
}
