//! What happened when: stops and traps, what the user has put on the current branch, branches that leave it,
//! and calls. And travel from one of them to the next, within the steps that were reached before.

use reviver_vm::Travel;

use super::event::{Event, EventKind};
use super::goal::ScanResult;
use super::{Session, SessionError};
use crate::outcome::{Motion, Printed, Reason};
use crate::points::UNNUMBERED;
use crate::timeline::{BranchNumber, CallStretch};

/// Events that are remembered at most; then those of the first branch go, from its beginning on.
const MOST_EVENTS: usize = 10_000;

impl Session {
    /// What stopped somebody on the current branch, by steps.
    pub fn events(&self) -> impl Iterator<Item = (i64, &Event)> {
        let branch = self.timeline.moment().branch;
        self.events.range((branch, i64::MIN)..=(branch, i64::MAX)).map(|((_, step), event)| (*step, event))
    }

    /// Remembers what ended a motion, for the scrub bar.
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
            // What just happened stays.
            let is_latest = |at: &(BranchNumber, i64)| *at == (motion.to.branch, motion.to.step);
            let gone = self.events.keys().find(|at| !is_latest(at)).copied();
            gone.and_then(|at| self.events.remove(&at));
        }
    }

    /// Goes to the nearest event of the current branch in a direction, of one kind or of any. A call is where
    /// the step that entered or left it has just been made.
    ///
    /// # Errors
    /// There is none in the steps that were reached before.
    pub fn next_event(&mut self, travel: Travel, wanted: Option<EventKind>) -> Result<Motion, SessionError> {
        let wants = |kind| wanted.is_none_or(|wanted| wanted == kind);
        let here = self.step_number();
        let is_ahead = |step: &i64| if travel == Travel::Forward { *step > here } else { *step < here };
        let lasting = self.lasting(wants).filter(is_ahead).min_by_key(|step| step.abs_diff(here));
        let stretches = if wants(EventKind::Call) { self.call_stretches(travel) } else { Vec::new() };
        if lasting.is_none() && stretches.is_empty() {
            return Err(SessionError::NoEvent { travel, wanted });
        }
        let from = self.begin();
        let mut printed = Printed::default();
        let reason = match self.nearest(travel, lasting, &stretches, &mut printed) {
            Ok(Some(step)) => self.travel_to(step, &mut printed),
            Ok(None) => match self.travel_to(here, &mut printed) {
                Reason::Arrived => return Err(SessionError::NoEvent { travel, wanted }),
                // One isn't where one was.
                reason => reason,
            },
            Err(reason) => reason,
        };
        Ok(self.ended(from, travel, ScanResult { reason, printed }))
    }

    /// The steps of the current branch's events that aren't calls.
    fn lasting(&self, wants: impl Fn(EventKind) -> bool) -> impl Iterator<Item = i64> {
        let branch = self.timeline.moment().branch;
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

    /// The two nearest stretches with calls in a direction: the nearer one may be the one that the session
    /// is in, with its calls already passed.
    fn call_stretches(&self, travel: Travel) -> Vec<CallStretch> {
        let here = self.step_number();
        let mut stretches: Vec<CallStretch> = self.timeline.branch().calls().collect();
        match travel {
            Travel::Forward => stretches.retain(|stretch| stretch.to > here),
            Travel::Backward => {
                stretches.retain(|stretch| stretch.from + 1 < here);
                stretches.reverse();
            }
        }
        stretches.truncate(2);
        stretches
    }

    /// The nearest of an event at a step and the calls in some stretches, the nearest stretch first. May
    /// travel; the reason is that of a travel that was stopped.
    fn nearest(
        &mut self,
        travel: Travel,
        lasting: Option<i64>,
        stretches: &[CallStretch],
        printed: &mut Printed,
    ) -> Result<Option<i64>, Reason> {
        let here = self.step_number();
        for stretch in stretches {
            // A call is at the step behind the one that made it.
            let (mut low, mut high) = match travel {
                Travel::Forward => (stretch.from.max(here), stretch.to),
                Travel::Backward => (stretch.from, stretch.to.min(here - 1)),
            };
            match (travel, lasting) {
                (Travel::Forward, Some(step)) => high = high.min(step),
                (Travel::Backward, Some(step)) => low = low.max(step),
                _ => {}
            }
            if low < high
                && let Some(call) = self.call_between(travel, (low, high), *stretch, printed)?
            {
                return Ok(Some(call));
            }
        }
        Ok(lasting)
    }

    /// The first call behind `low`, or going backward the last one up to `high`: found by halving what is
    /// between, because the machine's count of calls never goes down in time.
    fn call_between(
        &mut self,
        travel: Travel,
        (mut low, mut high): (i64, i64),
        stretch: CallStretch,
        printed: &mut Printed,
    ) -> Result<Option<i64>, Reason> {
        if (low, high) == (stretch.from, stretch.to) && high - low == 1 {
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
