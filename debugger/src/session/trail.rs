//! Marks and fences, and the list of visited time points for undo and redo.

use super::goal::ScanResult;
use super::travel::direction;
use super::{Session, SessionError};
use crate::outcome::{Motion, Printed, Reason};
use crate::timeline::TimePoint;

/// Maximum number of time points kept for undo.
const LONGEST_TRAIL: usize = 1_000;

impl Session {
    /// Records the start of a movement for undo.
    pub(super) fn leave(&mut self, from: TimePoint) {
        self.redo.clear();
        if self.undo.len() == LONGEST_TRAIL {
            self.undo.pop_front();
        }
        self.undo.push_back(from);
    }

    /// Merges the last two movements, so that a single undo returns to the start of the first one.
    pub fn join_motions(&mut self) {
        self.undo.pop_back();
    }

    /// Sets a mark at the current time point.
    pub fn mark(&mut self, name: &str) -> TimePoint {
        let here = self.timeline.time_point();
        self.marks.insert(name.to_owned(), here);
        here
    }

    /// Travels to a mark, on any branch.
    ///
    /// # Errors
    /// There is no such mark.
    pub fn goto_mark(&mut self, name: &str) -> Result<Motion, SessionError> {
        let time_point = self.marked(name)?;
        Ok(self.goto_time_point(time_point))
    }

    /// Returns the time point of a mark.
    pub(super) fn marked(&self, name: &str) -> Result<TimePoint, SessionError> {
        self.marks.get(name).copied().ok_or_else(|| {
            let near = reviver_assembler::suggest::nearest(name, self.marks.keys().map(String::as_str));
            SessionError::NoMark { name: name.to_owned(), near: near.map(str::to_owned) }
        })
    }

    /// Travels to a time point, on any branch.
    pub fn goto_time_point(&mut self, time_point: TimePoint) -> Motion {
        let from = self.begin();
        let mut printed = Printed::default();
        let reason = self.revisit(time_point, &mut printed);
        let travel = direction(from.step, time_point.step);
        self.ended(from, travel, ScanResult { reason, printed })
    }

    fn revisit(&mut self, time_point: TimePoint, printed: &mut Printed) -> Reason {
        self.timeline.switch(time_point.branch);
        self.travel_to(time_point.step, printed)
    }

    /// Returns to the time point before the last movement.
    ///
    /// # Errors
    /// There was no movement.
    pub fn undo(&mut self) -> Result<Motion, SessionError> {
        let to = self.undo.pop_back().ok_or(SessionError::NoTrail("undo"))?;
        let here = self.timeline.time_point();
        self.redo.push(here);
        Ok(self.along_the_trail(to))
    }

    /// Returns to the time point before the last undo.
    ///
    /// # Errors
    /// Since the last movement, there was no undo.
    pub fn redo(&mut self) -> Result<Motion, SessionError> {
        let to = self.redo.pop().ok_or(SessionError::NoTrail("redo"))?;
        let here = self.timeline.time_point();
        self.undo.push_back(here);
        Ok(self.along_the_trail(to))
    }

    /// Travels to a time point without recording it for undo.
    fn along_the_trail(&mut self, to: TimePoint) -> Motion {
        let (undo, redo) = (std::mem::take(&mut self.undo), std::mem::take(&mut self.redo));
        let motion = self.goto_time_point(to);
        (self.undo, self.redo) = (undo, redo);
        motion
    }

    /// Sets a fence at the current step of the current branch. A movement that reaches the fence stops.
    pub fn fence(&mut self) -> TimePoint {
        let here = self.timeline.time_point();
        self.fences.entry(here.branch).or_default().insert(here.step);
        here
    }

    /// Removes the fence at the current step.
    ///
    /// # Errors
    /// There is no fence at the current step.
    pub fn remove_fence(&mut self) -> Result<TimePoint, SessionError> {
        let here = self.timeline.time_point();
        let removed = self.fences.get_mut(&here.branch).is_some_and(|steps| steps.remove(&here.step));
        if removed { Ok(here) } else { Err(SessionError::NoFence) }
    }
}
