//! Questions about a cell's writes: the last, the next, and what it held when. They travel on the
//! timeline, and those that answer with a list come back.

use reviver_vm::stops::Node;
use reviver_vm::values::Value;
use reviver_vm::{State, Travel};

use super::search::{Holder, SearchResult, Wanted};
use super::{Session, SessionError};
use crate::memory::Target;
use crate::outcome::{CellHistory, Motion};
use crate::points::{Point, Trigger, UNNUMBERED, WatchMode};
use crate::timeline::Moment;

impl Session {
    /// Travels to just before the last write to a cell: there the reverse step over it has been made.
    ///
    /// # Errors
    /// No such cell.
    pub fn last_write(&mut self, cell: &str) -> Result<Motion, SessionError> {
        self.travel_to_write(cell, Travel::Backward)
    }

    /// Travels to just behind the next write to a cell.
    ///
    /// # Errors
    /// No such cell.
    pub fn next_write(&mut self, cell: &str) -> Result<Motion, SessionError> {
        self.travel_to_write(cell, Travel::Forward)
    }

    /// A continue with one watchpoint instead of all others.
    fn travel_to_write(&mut self, cell: &str, travel: Travel) -> Result<Motion, SessionError> {
        let cell = self.cell(cell)?;
        let target = self.memory.target(self.state(), cell);
        let point = Point {
            id: UNNUMBERED,
            trigger: Trigger::Watch { target, watch: WatchMode::Write, scope: None },
            text: String::new(),
            enabled: true,
            temporary: false,
            condition: None,
            ignore: 0,
            hits: 0,
            log: None,
        };
        let others = std::mem::replace(&mut self.points, vec![point]);
        let motion = self.resume(travel);
        self.points = others;
        Ok(motion)
    }

    /// What a cell held in its past, up to here: its last `most` writes.
    ///
    /// # Errors
    /// No such cell, or a constant; no memory for a copy of the state.
    pub fn history(&mut self, cell: &str, most: usize) -> Result<CellHistory, SessionError> {
        let cell = self.variable(cell)?;
        let name = self.memory.name(self.state(), cell);
        let target = self.memory.target(self.state(), cell);
        let wanted = [Wanted { holder: Holder::Cell(target), depth: 0, link: 0 }];
        let past = self.past(cell);
        let plan = self.writes(&wanted, false);
        let (mut writes, stopped) = self.excursion(|session| {
            let mut writes = Vec::new();
            let mut stopped = None;
            let mut made = cell.value(session.state());
            let facing = past.way.reversed();
            while writes.len() <= most {
                match session.search(&wanted, past, false, &plan) {
                    SearchResult::Write => {}
                    SearchResult::Birth | SearchResult::Nothing => break,
                    SearchResult::Stopped(reason) => {
                        stopped = Some(reason);
                        break;
                    }
                }
                let node = Node::of(session.state(), facing);
                let beyond = cell_value(session, target);
                let mut touch = session.touch_of(cell, (false, true), (beyond, made), node, facing);
                touch.step += facing.sign();
                writes.push(touch);
                made = beyond;
            }
            (writes, stopped)
        })?;
        let is_cut = writes.len() > most;
        writes.truncate(most);
        let is_ahead = past.way == Travel::Forward;
        if !is_ahead {
            writes.reverse();
        }
        Ok(CellHistory { cell: name, writes, is_cut, is_ahead, stopped })
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

fn cell_value(session: &Session, target: Target) -> Option<Value> {
    session.memory.resolve(session.state(), target)?.value(session.state())
}
