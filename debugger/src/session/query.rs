//! Questions about a cell's writes: the last, the next, and what it held when. They travel on the
//! timeline, and those that answer with a list come back.

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
use crate::timeline::Moment;

/// See [`Session::writes_in_the_past`].
type FoundWrites = (Vec<Touch>, Option<Reason>, Option<PastQuestion>);

impl Session {
    /// Travels to just before the last write to a cell, an array or a slice of one, or the last write of which a
    /// condition holds: there the reverse step over it has been made. The condition is one of a watchpoint. Without
    /// such a write the session stays where it is.
    ///
    /// # Errors
    /// No such cell, or a condition that can't be read or names what isn't there; no memory for a copy of the state.
    pub fn last_write(&mut self, cells: &str, condition: Option<&str>) -> Result<Motion, SessionError> {
        self.travel_to_write(cells, condition, Travel::Backward)
    }

    /// Travels to just behind the next such write.
    ///
    /// # Errors
    /// As [`Session::last_write`].
    pub fn next_write(&mut self, cells: &str, condition: Option<&str>) -> Result<Motion, SessionError> {
        self.travel_to_write(cells, condition, Travel::Forward)
    }

    /// A continue with one watchpoint instead of all others.
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

    /// What a cell, or the elements of an array or a slice, held in the past, up to here: the last `most` writes.
    ///
    /// # Errors
    /// No such cell, or a constant; no memory for a copy of the state.
    pub fn history(&mut self, cells: &str, most: usize) -> Result<CellHistory, SessionError> {
        let asked = ConsoleExpression::parse(cells)?;
        let (cells, name) = self.cells_named(&asked, "`history`")?;
        let past = self.past(cells.first().is_adjoint());
        let question = PastQuestion { holder: Holder::Cells(cells), past, at: self.moment() };
        let mut history = self.history_before(&question, most)?;
        history.cell = name;
        Ok(history)
    }

    /// The writes before those that a history tells: the last `most` of them. The answer names no cell.
    ///
    /// # Errors
    /// The session is on another branch now; no memory for a copy of the state.
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
        let is_ahead = question.past.way == Travel::Forward;
        if !is_ahead {
            writes.reverse();
        }
        Ok(CellHistory { cell: String::new(), writes, further, is_ahead, stopped })
    }

    /// Goes to where a question is asked, answers it, and comes back. Where one doesn't get there, the reason is
    /// the answer.
    ///
    /// # Errors
    /// The session is on another branch now; no memory for a copy of the state.
    pub(super) fn visit<T>(
        &mut self,
        question: &PastQuestion,
        answer: impl FnOnce(&mut Session) -> T,
    ) -> Result<Result<T, Reason>, SessionError> {
        if question.at.branch != self.moment().branch {
            return Err(SessionError::OtherBranch(question.at.branch));
        }
        Ok(self.excursion(|session| {
            let step = question.at.step;
            let reason = session.travel_to(step, &mut Printed::default());
            if session.step_number() == step { Ok(answer(session)) } else { Err(reason) }
        })?)
    }

    /// The last writes, the nearest first and at most so many; why the search went no further; and how to ask for
    /// those before, if there are any.
    fn writes_in_the_past(&mut self, question: &PastQuestion, most: usize) -> FoundWrites {
        let PastQuestion { holder, past, .. } = *question;
        let Holder::Cells(cells) = holder else { return (Vec::new(), None, None) };
        let wanted = [Wanted { holder, depth: 0, link: 0 }];
        let plan = self.writes(&wanted, false);
        let mut writes = Vec::new();
        loop {
            let at = self.moment();
            match self.search(&wanted, past, false, &plan) {
                SearchResult::Write if writes.len() >= most => {
                    return (writes, None, Some(PastQuestion { at, ..*question }));
                }
                SearchResult::Write => writes.extend(self.writes_passed(cells, past.way)),
                SearchResult::Birth | SearchResult::Nothing => return (writes, None, None),
                SearchResult::Stopped(reason) => {
                    let at = self.moment();
                    return (writes, Some(reason), Some(PastQuestion { at, ..*question }));
                }
            }
        }
    }

    /// What the step over which the session came, having gone `way`, wrote of some cells; in the order of that way.
    pub(super) fn writes_passed(&mut self, cells: CellSet, way: Travel) -> Vec<Touch> {
        let facing = way.reversed();
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
        if way == Travel::Backward {
            passed.reverse();
        }
        passed
    }

    /// Looks at the state behind the next step without making it; `look` also learns whether the step loses
    /// bits, so that only a history can undo it. `None` where there is no such step, or where it traps.
    pub fn peek<T>(&mut self, travel: Travel, look: impl FnOnce(&State, bool) -> T) -> Option<T> {
        self.timeline.branch_mut().peek(travel, look).ok().flatten()
    }

    /// Where the session is.
    pub fn moment(&self) -> Moment {
        self.timeline.moment()
    }
}
