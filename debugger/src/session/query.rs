//! Queries about writes to a cell: the last write, the next write, and the history of values. Queries travel on the
//! timeline. The queries for the last and for the next write stay at the write. A query that returns a list returns
//! to the time point where it began.

use reviver_vm::stops::Node;
use reviver_vm::{State, Travel};

use super::goal::{Scan, Until};
use super::search::{SearchResult, Wanted};
use super::{Session, SessionError};
use crate::cell_set::CellSet;
use crate::expression::ConsoleExpression;
use crate::memory::Cell;
use crate::outcome::{CellHistory, Motion, NoWrite, Printed, Reason, Touch};
use crate::points::{Point, Trigger, UNNUMBERED, WatchMode, WatchedPlace};
use crate::question::{Holder, PastQuestion};
use crate::timeline::TimePoint;

/// The writes that a search found, the reason if the search was stopped, and the question for further writes if
/// there may be any.
type FoundWrites = (Vec<Touch>, Option<Reason>, Option<PastQuestion>);

impl Session {
    /// Travels to just before the last write to a cell, an array or a slice, so that the writing instruction comes
    /// next. If there is a `condition`, only writes for which the condition holds count, as for a watchpoint. If
    /// there is no such write, the session stays at its position.
    ///
    /// # Errors
    /// There is no such cell, the condition is invalid or contains an unknown name, or there is no memory
    /// for a copy of the state.
    pub fn last_write(&mut self, cells: &str, condition: Option<&str>) -> Result<Motion, SessionError> {
        self.travel_to_write(cells, condition, Travel::Backward)
    }

    /// Travels to just after the next write to the cells for which the condition holds.
    ///
    /// # Errors
    /// The same errors as [`Session::last_write`].
    pub fn next_write(&mut self, cells: &str, condition: Option<&str>) -> Result<Motion, SessionError> {
        self.travel_to_write(cells, condition, Travel::Forward)
    }

    /// Runs in a direction to a write, with a single internal watchpoint instead of the user's points.
    fn travel_to_write(
        &mut self,
        cells: &str,
        condition: Option<&str>,
        travel: Travel,
    ) -> Result<Motion, SessionError> {
        let condition = condition.map(ConsoleExpression::parse).transpose()?;
        condition.iter().try_for_each(|condition| self.check_expression(condition, true))?;
        let asked = ConsoleExpression::parse(cells)?;
        let (cells, name) = self.cells_named(&asked, "a search for a write")?;
        let scope = self.memory.scope(self.state(), self.depth());
        let point = Point {
            id: UNNUMBERED,
            trigger: Trigger::Watch { watched: WatchedPlace::Cells(cells), watch: WatchMode::Write, scope },
            text: String::new(),
            enabled: true,
            temporary: false,
            condition,
            ignore: 0,
            hits: 0,
            log: None,
        };
        let has_condition = point.condition.is_some();
        let start = self.state().try_clone()?;
        let from = self.begin();
        let others = std::mem::replace(&mut self.points, vec![point]);
        let mut found = self.scan(&Scan { travel, budget: u64::MAX, until: Until::Budget });
        self.points = others;
        if found.reason.ends_the_history() {
            let (step, end) = (self.step_number(), found.reason.kind());
            self.timeline.branch_mut().install(start);
            found.reason = Reason::NoWrite(Box::new(NoWrite { cells: name, has_condition, step, end }));
        }
        Ok(self.ended(from, travel, found))
    }

    /// Returns the last `most` writes to a cell, or to the elements of an array or a slice. For values, these are
    /// the last writes before the current step. For adjoints, they are the last writes on the way from the origin
    /// of the branch to the current step.
    ///
    /// # Errors
    /// There is no such cell, it is constant, or there is no memory for a copy of the state.
    pub fn history(&mut self, cells: &str, most: usize) -> Result<CellHistory, SessionError> {
        let asked = ConsoleExpression::parse(cells)?;
        let (cells, name) = self.cells_named(&asked, "`history`")?;
        let past = self.past(cells.first().is_adjoint());
        let question = PastQuestion { holder: Holder::Cells(cells), past, at: self.time_point() };
        let mut history = self.history_before(&question, most)?;
        history.cell = name;
        Ok(history)
    }

    /// Returns the last `most` writes before the time point of a question. In the result, the name of the cell is
    /// empty.
    ///
    /// # Errors
    /// The session is on another branch now, or there is no memory for a copy of the state.
    pub fn history_before(
        &mut self,
        question: &PastQuestion,
        most: usize,
    ) -> Result<CellHistory, SessionError> {
        let found = self.visit(question, |session| session.writes_in_the_past(question, most))?;
        let (mut writes, stopped, further) = match found {
            Ok(found) => found,
            Err(reason) => (Vec::new(), Some(reason), None),
        };
        let is_ahead = question.past.direction == Travel::Forward;
        if !is_ahead {
            writes.reverse();
        }
        Ok(CellHistory { cell: String::new(), writes, further, is_ahead, stopped })
    }

    /// Travels to the time point of a question, calls `answer`, and restores the position. If the travel is stopped
    /// before that time point, `answer` isn't called, and the inner result is the reason for the stop.
    ///
    /// # Errors
    /// The session is on another branch now, or there is no memory for a copy of the state.
    pub(super) fn visit<T>(
        &mut self,
        question: &PastQuestion,
        answer: impl FnOnce(&mut Session) -> T,
    ) -> Result<Result<T, Reason>, SessionError> {
        if question.at.branch != self.time_point().branch {
            return Err(SessionError::OtherBranch(question.at.branch));
        }
        Ok(self.excursion(|session| {
            let step = question.at.step;
            let reason = session.travel_to(step, &mut Printed::default());
            if session.step_number() == step { Ok(answer(session)) } else { Err(reason) }
        })?)
    }

    /// Searches for writes from the time point of a question into the past. Returns at most `most` writes, the
    /// nearest first. Also returns the reason if the search was stopped, and the question for further writes if
    /// there may be any.
    fn writes_in_the_past(&mut self, question: &PastQuestion, most: usize) -> FoundWrites {
        let PastQuestion { holder, past, .. } = *question;
        let Holder::Cells(cells) = holder else { return (Vec::new(), None, None) };
        let wanted = [Wanted { holder, depth: 0, link: 0 }];
        let plan = self.writes(&wanted, false);
        let mut writes = Vec::new();
        loop {
            let at = self.time_point();
            match self.search(&wanted, past, false, &plan) {
                SearchResult::Write if writes.len() >= most => {
                    return (writes, None, Some(PastQuestion { at, ..*question }));
                }
                SearchResult::Write => writes.extend(self.writes_passed(cells, past.direction)),
                SearchResult::Birth | SearchResult::Nothing => return (writes, None, None),
                SearchResult::Stopped(reason) => {
                    let at = self.time_point();
                    return (writes, Some(reason), Some(PastQuestion { at, ..*question }));
                }
            }
        }
    }

    /// Returns the writes to some cells by the step that the session has just passed in direction `direction`. The
    /// writes are in the order of travel.
    pub(super) fn writes_passed(&mut self, cells: CellSet, direction: Travel) -> Vec<Touch> {
        let facing = direction.reversed();
        let node = Node::of(self.state(), facing);
        let Some(set) = cells.resolve(&self.memory, self.state()) else { return Vec::new() };
        let mut written = self.touched(node);
        written.retain(|(cell, _, is_written)| *is_written && set.contains(*cell));
        let values = |state: &State| written.iter().map(|(cell, ..)| cell.value(state)).collect::<Vec<_>>();
        let here = values(self.state());
        let there = self.peek(facing, |state, _| values(state)).unwrap_or_else(|| here.clone());
        let touch = |((&(cell, ..), here), there): ((&(Cell, bool, bool), _), _)| {
            let mut touch = self.touch_of(cell, (false, true), (here, there), node, facing);
            touch.step += facing.sign();
            touch
        };
        let mut passed: Vec<Touch> = written.iter().zip(here).zip(there).map(touch).collect();
        if direction == Travel::Backward {
            passed.reverse();
        }
        passed
    }

    /// Executes the next step on a temporary state, and calls `look` with that state. The session stays at its time
    /// point. The second argument of `look` is true if the step loses bits, so that only a history can undo the
    /// step. Returns `None` if there is no next step, or if the next step traps.
    pub fn peek<T>(&mut self, travel: Travel, look: impl FnOnce(&State, bool) -> T) -> Option<T> {
        self.timeline.branch_mut().peek(travel, look).ok().flatten()
    }

    /// Returns the current time point.
    pub fn time_point(&self) -> TimePoint {
        self.timeline.time_point()
    }
}
