//! Differences between two time points: cells with both values and the last write between them, open calls,
//! stacks and tapes. The session travels to both time points and then back.

use reviver_isa::instruction::Base;
use reviver_vm::{Cause, State, Travel};

use super::search::{SearchResult, Wanted};
use super::{Session, SessionError};
use crate::cell_set::CellSet;
use crate::memory::{Cell, MODE_BIT, Storage};
use crate::outcome::{CellDifference, Printed, Reason, TimePointDifference, ValueRow};
use crate::question::{Holder, PastOfCell};
use crate::timeline::TimePoint;
use crate::view::stack;

/// Maximum number of values of each stack in the answer, and maximum number of calls.
const FEW: usize = 4;

/// The name that a user gives for a time point, as an argument of `goto` or `diff`.
#[derive(Clone, Debug, PartialEq)]
pub enum TimePointName {
    /// The current time point of the session.
    Here,
    /// The first step of the branch.
    Start,
    /// The end of the branch. If the end isn't known, the session runs forward to find it.
    End,
    /// A step of the current branch, by its number.
    Step(i64),
    /// Position in the span of the current branch, in percent: 0 is the first step, 100 the last step.
    Percent(f64),
    /// A mark, by its name.
    Mark(String),
}

/// A visited time point, with the data to compare.
struct Visited {
    at: TimePoint,
    state: State,
    /// The open calls in words, main first.
    calls: Vec<String>,
    rows: [ValueRow; 4],
}

impl Session {
    /// Compares two time points and lists at most `most` cells. On one branch, the result begins with the earlier
    /// time point. If the time points are on different branches, the result keeps the order of the arguments.
    ///
    /// # Errors
    /// There is no such mark, or no memory for copies of the state.
    pub fn difference(
        &mut self,
        a: &TimePointName,
        b: &TimePointName,
        most: usize,
    ) -> Result<TimePointDifference, SessionError> {
        for name in [a, b] {
            if let TimePointName::Mark(mark) = name {
                self.marked(mark)?;
            }
        }
        let here = self.time_point();
        self.excursion(|session| {
            let difference = session.compare(here, [a, b], most);
            // `excursion` restores a state of this branch, so the session returns to the branch first.
            session.timeline.switch(here.branch);
            difference
        })?
    }

    fn compare(
        &mut self,
        here: TimePoint,
        names: [&TimePointName; 2],
        most: usize,
    ) -> Result<TimePointDifference, SessionError> {
        let mut found = TimePointDifference { from: here, to: here, ..TimePointDifference::default() };
        let mut visited = Vec::new();
        for name in names {
            match self.travel_to_time_point(here, name, &mut found.printed)? {
                Ok(time_point) => visited.push(time_point),
                Err(reason) => return Ok(TimePointDifference { stopped: Some(reason), ..found }),
            }
        }
        let Ok([mut before, mut after]) = <[Visited; 2]>::try_from(visited) else { return Ok(found) };
        if before.at.branch == after.at.branch && before.at.step > after.at.step {
            std::mem::swap(&mut before, &mut after);
        }
        (found.from, found.to, found.is_compared) = (before.at, after.at, true);
        found.calls = different_calls(&before.calls, &after.calls);
        let rows = before.rows.iter().zip(&after.rows).zip(same_rows(&before.state, &after.state));
        found.rows = rows.filter(|(_, same)| !same).map(|((a, b), _)| (a.clone(), b.clone())).collect();
        let cells = self.different_cells(&before.state, &after.state);
        found.left_out = cells.len().saturating_sub(most);
        found.cells =
            cells.iter().take(most).map(|&pair| self.reported(pair, &before.state, &after.state)).collect();
        let targets = cells.iter().take(most).map(|&(_, cell)| self.memory.target(&after.state, cell));
        let sets = targets.map(CellSet::from).collect();
        self.find_writers(sets, &mut found);
        Ok(found)
    }

    /// Travels to a time point, or to the nearest time point within the history, and returns the data to
    /// compare. Returns the reason if the travel was stopped.
    fn travel_to_time_point(
        &mut self,
        here: TimePoint,
        name: &TimePointName,
        printed: &mut Printed,
    ) -> Result<Result<Visited, Reason>, SessionError> {
        self.timeline.switch(here.branch);
        let reason = match name {
            TimePointName::Here => self.travel_to(here.step, printed),
            TimePointName::Start => self.travel_to(i64::MIN, printed),
            TimePointName::End => self.travel_to(i64::MAX, printed),
            TimePointName::Step(step) => self.travel_to(*step, printed),
            TimePointName::Percent(percent) => self.travel_to_percent(*percent, printed),
            TimePointName::Mark(mark) => {
                let time_point = self.marked(mark)?;
                self.timeline.switch(time_point.branch);
                self.travel_to(time_point.step, printed)
            }
        };
        match reason {
            Reason::Interrupted => return Ok(Err(reason)),
            Reason::Trap(trap) if matches!(trap.cause, Cause::NoMemory(_)) => {
                return Ok(Err(Reason::Trap(trap)));
            }
            _ => {}
        }
        let state = self.state().try_clone()?;
        Ok(Ok(Visited {
            at: self.time_point(),
            calls: self.open_calls(),
            rows: stack::rows(self, FEW),
            state,
        }))
    }

    /// Returns the open calls in words, main first.
    fn open_calls(&self) -> Vec<String> {
        let calls = self.state().calls.iter().enumerate().map(|(n, call)| {
            let callee =
                self.memory.procedure(self.state(), n + 1).map_or("?", |callee| callee.name.as_str());
            let inverted = if call.inverted { " inverted" } else { "" };
            format!("{callee}{inverted} ({})", self.listing.name(self.listing.line(call.site)))
        });
        std::iter::once("main".to_owned()).chain(calls).collect()
    }

    /// Returns the cells with different values, as pairs of their addresses in both states. Only cells of
    /// globals and of frames that are open at both time points are compared. Adjoints are compared if both
    /// states have adjoints.
    fn different_cells(&self, before: &State, after: &State) -> Vec<(Cell, Cell)> {
        let mut found = Vec::new();
        let mut add = |a: Cell, b: Cell| {
            if a.value(before) != b.value(after) {
                found.push((a, b));
            }
        };
        let knows_adjoints = before.adjoints.is_some() && after.adjoints.is_some();
        for (a, b) in self.storages(before, after) {
            for n in 0..a.cells().min(b.cells()) {
                let (Some(a), Some(b)) = (a.cell(n), b.cell(n)) else { continue };
                add(a, b);
                if let (true, Some(a), Some(b)) = (knows_adjoints, a.adjoint(), b.adjoint()) {
                    add(a, b);
                }
            }
        }
        add(MODE_BIT, MODE_BIT);
        found
    }

    /// Returns the storages that exist in both states: globals and variables of frames. Parameters are
    /// omitted, because the cells that they refer to are compared already.
    fn storages(&self, before: &State, after: &State) -> Vec<(Storage, Storage)> {
        let globals = 0..self.program().module().globals.len() as u32;
        let mut bases: Vec<(usize, Base)> = globals.map(|n| (0, Base::Global(n))).collect();
        for depth in 0..=before.calls.len().min(after.calls.len()) {
            let scope = self.memory.scope(before, depth);
            if let Some(scope) = scope.filter(|_| scope == self.memory.scope(after, depth)) {
                let names = self.program().written_names(scope.procedure);
                bases.extend(names.map(|(n, _)| (depth, Base::Frame(n))));
            }
        }
        let both = |&(depth, base): &(usize, Base)| {
            Some((self.memory.storage(before, depth, base)?, self.memory.storage(after, depth, base)?))
        };
        bases.iter().filter_map(both).collect()
    }

    fn reported(&self, (a, b): (Cell, Cell), before: &State, after: &State) -> CellDifference {
        CellDifference {
            cell: self.memory.name(after, b),
            before: self.memory.text(before, a),
            after: self.memory.text(after, b),
            writer: None,
        }
    }

    /// Finds the last writes to the cells between both time points. For values, the search runs backward from the
    /// later time point. If adjoints were propagated backward in time, their last write is the earliest in time, so
    /// the search for it runs forward from the earlier time point.
    fn find_writers(&mut self, sets: Vec<CellSet>, found: &mut TimePointDifference) {
        self.timeline.switch(found.to.branch);
        found.stopped = self.arrive(found.to.step, &mut found.printed);
        let bound = match found.from.branch == found.to.branch {
            true => found.from.step,
            false => self.timeline.branch().offset().min(found.to.step),
        };
        let adjoints_lie_ahead = self.past(true).direction == Travel::Forward;
        let wanted = |ahead: bool| {
            let sets = sets.iter().enumerate();
            let sets = sets.filter(move |(_, set)| (set.first().is_adjoint() && adjoints_lie_ahead) == ahead);
            sets.map(|(link, set)| Wanted { holder: Holder::Cells(*set), depth: 0, link }).collect()
        };
        let (behind, ahead): (Vec<Wanted>, Vec<Wanted>) = (wanted(false), wanted(true));
        if found.stopped.is_none() {
            self.sweep(behind, PastOfCell { direction: Travel::Backward, bound }, found);
        }
        if found.stopped.is_none() && !ahead.is_empty() && found.from.branch == found.to.branch {
            found.stopped = self.arrive(found.from.step, &mut found.printed);
            self.sweep(ahead, PastOfCell { direction: Travel::Forward, bound: found.to.step }, found);
        }
    }

    /// Travels to a step. Returns the reason if the travel ended before the step, and `None` otherwise.
    fn arrive(&mut self, step: i64, printed: &mut Printed) -> Option<Reason> {
        Some(self.travel_to(step, printed)).filter(|reason| *reason != Reason::Arrived)
    }

    fn sweep(&mut self, mut wanted: Vec<Wanted>, past: PastOfCell, found: &mut TimePointDifference) {
        let plan = self.writes(&wanted, false);
        while !wanted.is_empty() && found.stopped.is_none() {
            match self.search(&wanted, past, false, &plan) {
                SearchResult::Write => {
                    wanted.retain(|wanted| !self.settle_writer(wanted, past.direction, found));
                }
                SearchResult::Birth | SearchResult::Nothing => return,
                SearchResult::Stopped(reason) => found.stopped = Some(reason),
            }
        }
    }

    /// If the session has just passed a step that wrote one of the `wanted` cells, records this step as the cell's
    /// last write and returns true.
    fn settle_writer(&mut self, wanted: &Wanted, direction: Travel, found: &mut TimePointDifference) -> bool {
        let Holder::Cells(set) = wanted.holder else { return true };
        let Some(touch) = self.writes_passed(set, direction).pop() else { return false };
        if let Some(cell) = found.cells.get_mut(wanted.link) {
            cell.writer = Some(touch);
        }
        true
    }
}

/// Returns the open calls at each of both time points as text, or `None` if they are the same. Both texts
/// begin with the last call that the time points have in common, and are shortened.
fn different_calls(before: &[String], after: &[String]) -> Option<(String, String)> {
    let common = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let reported = |calls: &[String]| {
        let start = if common > 1 { "… > " } else { "" };
        let shown: Vec<&str> =
            calls.iter().skip(common.saturating_sub(1)).take(1 + FEW).map(String::as_str).collect();
        let more = match calls.len().saturating_sub(common + FEW) {
            0 => String::new(),
            more => format!(" > … {more} more"),
        };
        format!("{start}{}{more}", shown.join(" > "))
    };
    (before != after).then(|| (reported(before), reported(after)))
}

/// Compares the tapes and stacks of two states, in the order of [`stack::rows`]. An entry of the result is
/// true if the tape or stack is equal in both.
fn same_rows(a: &State, b: &State) -> [bool; 4] {
    [a.input == b.input, a.output == b.output, a.int_stack == b.int_stack, a.real_stack == b.real_stack]
}
