//! Execution counts of lines: how often each line was executed between the program's start and the current step. A
//! breakpoint on the line would have stopped equally often. The next instruction isn't counted before it is
//! executed. The machine counts nothing while it runs. When counts are requested, the steps since the last count
//! are executed again. If the session is now at an earlier step than at the last count, the executions between the
//! two steps are subtracted. A branch starts with the counts of the time point at which it began.

use std::sync::Arc;

use reviver_vm::stops::Node;
use reviver_vm::{Stop, Travel};

use super::Session;
use super::line_counts::{CountedTo, LinePlan};
use crate::listing::Line;
use crate::outcome::{Printed, Reason};
use crate::timeline::{BranchNumber, TimePoint};

/// Maximum number of steps that a count may execute, per time point that it may visit. For example, a count that
/// may visit 10 time points is refused if it must execute more than 160 steps.
const STEPS_PER_TIME_POINT: u64 = 16;

/// Maximum number of time points that a command visits to count lines. With this maximum, the count takes no
/// noticeable time.
pub const MOST_COUNTED: u64 = 1 << 19;

impl Session {
    /// Updates the execution counts of all lines to the current step. Returns false if the count would visit more
    /// than `most` time points, would execute too many steps, or was interrupted. In these cases, there are no
    /// counts for the current step.
    pub fn count_lines(&mut self, most: u64) -> bool {
        if self.counts.plan.is_none() {
            self.counts.plan = Some(Arc::new(LinePlan::new(self.memory.program(), &self.listing)));
        }
        let Some(plan) = self.counts.plan.clone() else { return false };
        let here = self.time_point();
        let mut left = most;
        let is_counted = self.count_to(&plan, here, &mut left).is_some();
        self.timeline.switch(here.branch);
        is_counted
    }

    /// Returns how often a line was executed before the current step. Returns `None` if
    /// [`Session::count_lines`] hasn't counted up to this step, and for a line without instructions.
    pub fn count_of(&self, line: Line) -> Option<u64> {
        let TimePoint { branch, step } = self.time_point();
        let counted = self.counts.counted.get(&branch).filter(|counted| counted.step == step)?;
        let number = *self.counts.plan.as_ref()?.lines.get(&line)?;
        Some(u64::try_from(*counted.counts.get(number)?).unwrap_or(0))
    }

    /// Updates the counts of the branch of a time point, so that they are valid at the time point. The count starts
    /// at the branch's last counted step or, if there is none, at the branch's origin. `left` is the number of time
    /// points that the count may still visit. Afterwards, the position on the branch is restored.
    fn count_to(&mut self, plan: &LinePlan, time_point: TimePoint, left: &mut u64) -> Option<()> {
        let from = match self.counts.counted.get(&time_point.branch) {
            Some(counted) => counted.step,
            None => self.count_beginning(plan, time_point.branch, left)?,
        };
        let distance = from.abs_diff(time_point.step);
        if distance == 0 {
            return Some(());
        }
        let is_bounded = *left < u64::MAX;
        let counted = self.counts.counted.get_mut(&time_point.branch)?;
        let is_hopeless = counted.too_far.is_some_and(|far| distance > far / 2);
        if is_bounded && (is_hopeless || distance / STEPS_PER_TIME_POINT > *left) {
            return None;
        }
        counted.too_far = Some(distance);
        self.timeline.switch(time_point.branch)?;
        let stays = self.step_number();
        let (first, last) = (from.min(time_point.step), from.max(time_point.step));
        let found = self.count_between(plan, first, last, left);
        self.travel_to(stays, &mut Printed::default());
        let counted = self.counts.counted.get_mut(&time_point.branch)?;
        let sign = if from <= time_point.step { 1 } else { -1 };
        for (count, found) in counted.counts.iter_mut().zip(found?) {
            *count += sign * found;
        }
        (counted.step, counted.too_far) = (time_point.step, None);
        Some(())
    }

    /// Initializes the counts of a branch with those of its parent at the step where the branch began.
    /// Returns that step.
    fn count_beginning(&mut self, plan: &LinePlan, branch: BranchNumber, left: &mut u64) -> Option<i64> {
        let fork = self.timeline.forks().into_iter().find(|fork| fork.branch == branch)?;
        let counts = match fork.parent {
            Some(parent) => {
                self.count_to(plan, TimePoint { branch: parent, step: fork.step }, left)?;
                self.counts.counted.get(&parent)?.counts.clone()
            }
            None => vec![0; plan.lines.len()],
        };
        self.counts.counted.insert(branch, CountedTo { step: fork.step, too_far: None, counts });
        Some(fork.step)
    }

    /// Counts the executions of each line between two steps that the branch has reached before. Returns `None` if
    /// the count would visit more than `left` time points, or if the user interrupts it.
    fn count_between(&mut self, plan: &LinePlan, first: i64, last: i64, left: &mut u64) -> Option<Vec<i64>> {
        let mut found = vec![0_i64; plan.lines.len()];
        if self.travel_to(first, &mut Printed::default()) != Reason::Arrived {
            return None;
        }
        loop {
            let here = self.step_number();
            let entries = plan.at.get(&Node::of(self.state(), Travel::Forward));
            *left = left.checked_sub(u64::from(entries.is_some()))?;
            for entry in entries.into_iter().flatten() {
                let counts = if entry.is_behind { here > first } else { here < last };
                if let Some(count) = found.get_mut(entry.line).filter(|_| counts) {
                    *count += 1;
                }
            }
            if here >= last {
                return Some(found);
            }
            let outcome = match entries {
                Some(_) => self.timeline.run(Travel::Forward, 1),
                None => self.timeline.run_until(Some(&plan.stops), Travel::Forward, here.abs_diff(last)),
            };
            if !matches!(outcome, Ok(Stop::Budget | Stop::Shown { .. }))
                || !self.may_continue(self.step_number())
            {
                return None;
            }
        }
    }
}
