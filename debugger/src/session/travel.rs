//! Movements: by steps, over calls, to places, to steps, and to other branches.

use std::sync::atomic::Ordering;

use reviver_vm::Travel;

use super::goal::{Scan, ScanResult, Until};
use super::{Session, SessionError};
use crate::outcome::{Motion, Printed, Reason};
use crate::points::BreakPlace;
use crate::timeline::{BranchNumber, StepSpan, TimePoint};

impl Session {
    /// Executes at most `count` steps. A point or a fence can end the movement early.
    pub fn step(&mut self, travel: Travel, count: u64) -> Motion {
        self.travel(Scan { travel, budget: count, until: Until::Budget })
    }

    /// Runs until a point or a fence stops the run, or to the end of the history in the direction of travel.
    pub fn resume(&mut self, travel: Travel) -> Motion {
        self.step(travel, u64::MAX)
    }

    /// Travels to the start, then runs forward like [`Session::resume`].
    pub fn run(&mut self) -> Motion {
        let from = self.begin();
        let mut printed = Printed::default();
        let found = match self.travel_to(i64::MIN, &mut printed) {
            Reason::HistoryBegin => {
                let whole = Scan { travel: Travel::Forward, budget: u64::MAX, until: Until::Budget };
                self.scan(&whole)
            }
            // The start wasn't reached, for example because of an interrupt.
            reason => ScanResult { reason, printed },
        };
        self.ended(from, Travel::Forward, found)
    }

    /// Executes `count` steps, where a call counts as one step. A point inside the call can end the movement
    /// early.
    pub fn next(&mut self, travel: Travel, count: u64) -> Motion {
        let from = self.begin();
        let mut all = ScanResult { reason: Reason::Arrived, printed: Printed::default() };
        for _ in 0..count {
            let depth = self.state().calls.len();
            self.continue_scan(Scan { travel, budget: 1, until: Until::Budget }, &mut all);
            if all.reason == Reason::Arrived && self.state().calls.len() > depth {
                let until = Until::Depth(depth);
                self.continue_scan(Scan { travel, budget: u64::MAX, until }, &mut all);
            }
            if all.reason != Reason::Arrived {
                break;
            }
        }
        self.ended(from, travel, all)
    }

    fn continue_scan(&mut self, scan: Scan, all: &mut ScanResult) {
        let found = self.scan(&scan);
        all.reason = found.reason;
        all.printed.append(found.printed);
    }

    /// Runs until the call of the selected frame is closed. A forward run ends after the call, and a backward run
    /// before it.
    ///
    /// # Errors
    /// The frame of main is selected, which has no caller.
    pub fn finish(&mut self, travel: Travel) -> Result<Motion, SessionError> {
        let depth = self.depth().checked_sub(1).ok_or(SessionError::NoCaller)?;
        Ok(self.travel(Scan { travel, budget: u64::MAX, until: Until::Depth(depth) }))
    }

    /// Runs to the nearest of some places. A point can end the movement early.
    pub fn run_to(&mut self, places: &[BreakPlace], travel: Travel) -> Motion {
        let nodes = places.iter().flat_map(|place| place.nodes(self.program(), travel)).collect();
        self.travel(Scan { travel, budget: u64::MAX, until: Until::Nodes(nodes) })
    }

    fn travel(&mut self, scan: Scan) -> Motion {
        let from = self.begin();
        let found = self.scan(&scan);
        self.ended(from, scan.travel, found)
    }

    pub(super) fn begin(&mut self) -> TimePoint {
        self.interrupt.store(false, Ordering::Relaxed);
        self.tell(self.step_number());
        self.timeline.branch_mut().begin_motion();
        self.timeline.time_point()
    }

    pub(super) fn ended(&mut self, from: TimePoint, travel: Travel, found: ScanResult) -> Motion {
        let to = self.timeline.time_point();
        let ScanResult { reason, printed } = found;
        let (next, inverted) = (self.next_instruction(), self.state().inverted);
        let motion = Motion { from, to, travel, reason, beyond: None, next, inverted, printed };
        self.arrived(&motion);
        motion
    }

    /// Travels to a step of the current branch. Points and fences don't stop the movement. If the history
    /// doesn't contain the step, travels as near to it as possible.
    pub fn goto(&mut self, step: i64) -> Motion {
        let from = self.begin();
        let travel = direction(from.step, step);
        let mut printed = Printed::default();
        let reason = self.travel_to(step, &mut printed);
        self.ended(from, travel, ScanResult { reason, printed })
    }

    /// Travels to the last state of the current branch.
    pub fn goto_end(&mut self) -> Motion {
        self.goto(i64::MAX)
    }

    /// Travels to the first state of the current branch.
    pub fn goto_start(&mut self) -> Motion {
        self.goto(i64::MIN)
    }

    /// Travels to a position in the whole branch, in percent. If the end of the branch isn't known yet, the session
    /// first runs to the end. The position 0 % is the first step of [`crate::timeline::Timeline::span`], even if
    /// the branch has earlier steps that weren't reached yet.
    pub fn goto_percent(&mut self, percent: f64) -> Motion {
        let from = self.begin();
        let mut printed = Printed::default();
        let reason = self.travel_to_percent(percent, &mut printed);
        let travel = direction(from.step, self.step_number());
        self.ended(from, travel, ScanResult { reason, printed })
    }

    pub(super) fn travel_to_percent(&mut self, percent: f64, printed: &mut Printed) -> Reason {
        match self.find_end(printed) {
            reason @ (Reason::Interrupted | Reason::StepLimit) => reason,
            _ => {
                let StepSpan { first, last, .. } = self.timeline.span();
                let part = (last - first) as f64 * (percent / 100.0).clamp(0.0, 1.0);
                self.travel_to(first + part.round() as i64, printed)
            }
        }
    }

    /// Finds the end of the current branch. If the end isn't known yet, the session runs to the end.
    fn find_end(&mut self, printed: &mut Printed) -> Reason {
        match self.timeline.branch().end(Travel::Forward) {
            Some(_) => Reason::Arrived,
            None => self.travel_to(i64::MAX, printed),
        }
    }

    /// Travels to a step. Only an interrupt, a trap, the step limit, or the beginning or the end of the history can
    /// stop the movement before this step.
    pub(super) fn travel_to(&mut self, step: i64, printed: &mut Printed) -> Reason {
        let (wanted, step) = (step, self.within_limit(step));
        self.timeline.branch_mut().approach(step);
        loop {
            let here = self.step_number();
            if here == step {
                return if wanted == step { Reason::Arrived } else { self.at_limit(direction(step, wanted)) };
            }
            if !self.may_continue(here) {
                return Reason::Interrupted;
            }
            let travel = direction(here, step);
            let outcome = self.timeline.run(travel, step.abs_diff(here).min(self.slice()));
            if let Some(reason) = self.paused(outcome, travel, printed) {
                return reason;
            }
        }
    }

    /// Returns the step that is nearest to `step` within the step limit.
    pub(super) fn within_limit(&self, step: i64) -> i64 {
        let most = i64::try_from(self.most_steps).unwrap_or(i64::MAX);
        step.clamp(-most, most)
    }

    /// Returns the number of steps that the step limit allows in a direction.
    pub(super) fn within_reach(&self, travel: Travel) -> u64 {
        let here = self.step_number();
        let bound = if travel == Travel::Forward { i64::MAX } else { i64::MIN };
        self.within_limit(bound).abs_diff(here)
    }

    /// Returns the reason for stopping at the step limit. If the history begins or ends at the same step, returns
    /// this beginning or end as the reason instead.
    pub(super) fn at_limit(&mut self, travel: Travel) -> Reason {
        if self.instruction(travel).is_some() {
            return Reason::StepLimit;
        }
        let outcome = self.timeline.run(travel, 1);
        self.paused(outcome, travel, &mut Printed::default()).unwrap_or(Reason::StepLimit)
    }

    /// Switches to the branch that the current branch left, at the last position on that branch.
    ///
    /// # Errors
    /// The current branch is the program's own.
    pub fn timeline_up(&mut self) -> Result<Motion, SessionError> {
        let from = self.begin();
        self.timeline.up().ok_or(SessionError::TopBranch)?;
        Ok(self.ended(from, Travel::Forward, arrived()))
    }

    /// Switches to another branch, at the last position on that branch.
    ///
    /// # Errors
    /// There is no such branch.
    pub fn timeline_switch(&mut self, branch: BranchNumber) -> Result<Motion, SessionError> {
        let from = self.begin();
        self.timeline.switch(branch).ok_or(SessionError::NoFork(branch))?;
        Ok(self.ended(from, Travel::Forward, arrived()))
    }
}

/// Returns the direction that leads from one step to another; forward if they are equal.
pub(super) fn direction(from: i64, to: i64) -> Travel {
    if to >= from { Travel::Forward } else { Travel::Backward }
}

fn arrived() -> ScanResult {
    ScanResult { reason: Reason::Arrived, printed: Printed::default() }
}
