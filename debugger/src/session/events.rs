//! Events on the current branch: stops and traps, marks and fences, calls, and forks, where other branches leave
//! the current one. The session can travel from event to event, within the steps that the branch has reached.

use reviver_vm::Travel;

use super::event::{Event, EventKind};
use super::goal::ScanResult;
use super::{Session, SessionError};
use crate::outcome::{Motion, Printed, Reason};
use crate::points::UNNUMBERED;
use crate::timeline::{BranchNumber, CallSegment};

/// Maximum number of stops and traps that are stored. If there are more, those with the lowest branch and step
/// numbers are removed.
const MOST_EVENTS: usize = 10_000;

impl Session {
    /// Returns the stops and traps on the current branch, with their steps.
    pub fn events(&self) -> impl Iterator<Item = (i64, &Event)> {
        let branch = self.timeline.time_point().branch;
        self.events.range((branch, i64::MIN)..=(branch, i64::MAX)).map(|((_, step), event)| (*step, event))
    }

    /// Records the event that ended a movement, for the timeline bar.
    pub(super) fn remember(&mut self, motion: &Motion) {
        let event = match &motion.reason {
            Reason::Points(hits) => {
                hits.first().filter(|hit| hit.id != UNNUMBERED).map(|hit| Event::Point(hit.id))
            }
            Reason::Trap(_) => Some(Event::Trap),
            _ => None,
        };
        let Some(event) = event else { return };
        self.events.insert((motion.to.branch, motion.to.step), event);
        if self.events.len() > MOST_EVENTS {
            // The event of this movement is kept, even if its step is the lowest.
            let is_latest = |at: &(BranchNumber, i64)| *at == (motion.to.branch, motion.to.step);
            let gone = self.events.keys().find(|at| !is_latest(at)).copied();
            gone.and_then(|at| self.events.remove(&at));
        }
    }

    /// Travels to the nearest event of the current branch in a direction. `wanted` restricts the search to one kind
    /// of events. The event of a call is at the step after the call was entered or left.
    ///
    /// # Errors
    /// There is no such event among the steps that the branch has reached.
    pub fn next_event(&mut self, travel: Travel, wanted: Option<EventKind>) -> Result<Motion, SessionError> {
        let wants = |kind| wanted.is_none_or(|wanted| wanted == kind);
        let here = self.step_number();
        let is_ahead = |step: &i64| if travel == Travel::Forward { *step > here } else { *step < here };
        let lasting = self.lasting(wants).filter(is_ahead).min_by_key(|step| step.abs_diff(here));
        let intervals = if wants(EventKind::Call) { self.call_intervals(travel) } else { Vec::new() };
        if lasting.is_none() && intervals.is_empty() {
            return Err(SessionError::NoEvent { travel, wanted });
        }
        let from = self.begin();
        let mut printed = Printed::default();
        let reason = match self.nearest(travel, lasting, &intervals, &mut printed) {
            Ok(Some(step)) => self.travel_to(step, &mut printed),
            Ok(None) => match self.travel_to(here, &mut printed) {
                Reason::Arrived => return Err(SessionError::NoEvent { travel, wanted }),
                // The session couldn't return to the step at which the search began.
                reason => reason,
            },
            Err(reason) => reason,
        };
        Ok(self.ended(from, travel, ScanResult { reason, printed }))
    }

    /// Returns the steps of those events of the current branch whose kinds `wants` accepts. Calls aren't included.
    fn lasting(&self, wants: impl Fn(EventKind) -> bool) -> impl Iterator<Item = i64> {
        let branch = self.timeline.time_point().branch;
        let kind_of = |event: &Event| match event {
            Event::Point(_) => EventKind::Stop,
            Event::Trap => EventKind::Trap,
        };
        let mut steps: Vec<i64> = Vec::new();
        steps.extend(self.events().filter(|(_, event)| wants(kind_of(event))).map(|(step, _)| step));
        if wants(EventKind::Mark) {
            let marks = self.marks.values().filter(|mark| mark.branch == branch);
            steps.extend(marks.map(|mark| mark.step));
        }
        if wants(EventKind::Fence) {
            steps.extend(self.fences());
        }
        if wants(EventKind::Fork) {
            let forks = self.timeline.forks().into_iter().filter(|fork| fork.parent == Some(branch));
            steps.extend(forks.map(|fork| fork.step));
        }
        steps.into_iter()
    }

    /// Returns the two nearest intervals with calls in a direction. If the session is inside the nearest interval
    /// and has passed its calls already, the next call is in the second interval.
    fn call_intervals(&self, travel: Travel) -> Vec<CallSegment> {
        let here = self.step_number();
        let mut intervals: Vec<CallSegment> = self.timeline.branch().calls().collect();
        match travel {
            Travel::Forward => intervals.retain(|interval| interval.to > here),
            Travel::Backward => {
                intervals.retain(|interval| interval.from + 1 < here);
                intervals.reverse();
            }
        }
        intervals.truncate(2);
        intervals
    }

    /// Returns the step of the nearest event: the event at the step `lasting`, or a call in one of the intervals.
    /// The intervals are sorted by distance. The search may travel. If the travel is stopped, returns the reason as
    /// the error.
    fn nearest(
        &mut self,
        travel: Travel,
        lasting: Option<i64>,
        intervals: &[CallSegment],
        printed: &mut Printed,
    ) -> Result<Option<i64>, Reason> {
        let here = self.step_number();
        for interval in intervals {
            // The event of a call has the step number after the call instruction.
            let (mut low, mut high) = match travel {
                Travel::Forward => (interval.from.max(here), interval.to),
                Travel::Backward => (interval.from, interval.to.min(here - 1)),
            };
            match (travel, lasting) {
                (Travel::Forward, Some(step)) => high = high.min(step),
                (Travel::Backward, Some(step)) => low = low.max(step),
                _ => {}
            }
            if low < high
                && let Some(call) = self.call_between(travel, (low, high), *interval, printed)?
            {
                return Ok(Some(call));
            }
        }
        Ok(lasting)
    }

    /// Returns the step of the first call after step `low`. When travelling backward, returns that of the last call
    /// up to step `high`. The search is a bisection over the machine's count of calls, which never decreases in
    /// time.
    fn call_between(
        &mut self,
        travel: Travel,
        (mut low, mut high): (i64, i64),
        interval: CallSegment,
        printed: &mut Printed,
    ) -> Result<Option<i64>, Reason> {
        if (low, high) == (interval.from, interval.to) && high - low == 1 {
            return Ok(Some(high));
        }
        let (first, last) = (self.calls_up_to(low, printed)?, self.calls_up_to(high, printed)?);
        if first == last {
            return Ok(None);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let calls = self.calls_up_to(middle, printed)?;
            let is_behind = if travel == Travel::Forward { calls != first } else { calls == last };
            if is_behind {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(Some(high))
    }

    fn calls_up_to(&mut self, step: i64, printed: &mut Printed) -> Result<i64, Reason> {
        match self.travel_to(step, printed) {
            Reason::Arrived => Ok(self.state().counters.calls),
            reason => Err(reason),
        }
    }
}
