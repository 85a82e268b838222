//! Data of the timeline pane: the bar over the whole branch with its events, and the other branches. The data of
//! plots is the result of [`Session::samples`], which a front end may cache.

use crate::scale::column_of;
use crate::session::{Event, Session};
use crate::timeline::{BranchNumber, CallSegment, Calls, Fork, StepSpan};

/// The timeline bar and all branches.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelinePane {
    /// The range of steps of the branch.
    pub span: StepSpan,
    /// The range of steps that the bar shows: the whole branch, or a part of it.
    pub shown: (i64, i64),
    /// The current step of the timeline.
    pub step: i64,
    /// The bar's columns, each for an equal part of the steps.
    pub columns: Vec<Column>,
    /// All branches of the timeline.
    pub forks: Vec<Fork>,
}

/// One column of the timeline bar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// True if the current step is in this column.
    pub is_here: bool,
    /// True if a step of the column was reached.
    pub is_reached: bool,
    /// Numbers of the points that stopped runs here.
    pub points: Vec<u32>,
    /// True if a run ended in a trap here.
    pub trap: bool,
    /// Names of the marks in this column.
    pub marks: Vec<String>,
    /// True if a fence is in this column.
    pub fence: bool,
    /// Numbers of the branches that leave the current branch at a step of this column.
    pub forks: Vec<usize>,
    /// Calls entered and left in this column. On a long branch, the numbers may include calls of an adjacent
    /// column, but no call is omitted.
    pub calls: Calls,
}

/// The events of the current branch, in a list of limited length.
#[derive(Clone, Debug, PartialEq)]
pub struct Events {
    /// The latest stops, marks, fences and forks with their steps, in ascending order.
    pub time_points: Vec<(i64, Happening)>,
    /// Number of earlier events of these kinds that are omitted.
    pub more_time_points: usize,
    /// Number of calls entered and left on the branch.
    pub calls: Calls,
    /// The intervals with calls. If there are many, adjacent intervals are merged.
    pub intervals: Vec<CallSegment>,
}

/// An event at one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A mark, by its name.
    Mark(String),
    /// A fence: runs stop at this step.
    Fence,
    /// A branch leaves the current one here.
    Fork(BranchNumber),
    /// A run was stopped here.
    Stop(Event),
}

/// Returns the events of the current branch: at most `most` single events, and at most `most` intervals with
/// calls.
pub fn events(session: &Session, most: usize) -> Events {
    let mut time_points = time_points(session);
    let more_time_points = time_points.len().saturating_sub(most);
    time_points.drain(..more_time_points);
    let mut intervals: Vec<CallSegment> = session.timeline().branch().calls().collect();
    let calls = intervals.iter().fold(Calls::default(), |all, interval| all.and(interval.calls));
    let joined = intervals.len().div_ceil(most.max(1)).max(1);
    intervals = intervals.chunks(joined).filter_map(join).collect();
    Events { time_points, more_time_points, calls, intervals }
}

fn time_points(session: &Session) -> Vec<(i64, Happening)> {
    let branch = session.time_point().branch;
    let marks = session.marks().iter().filter(|(_, mark)| mark.branch == branch);
    let marks = marks.map(|(name, mark)| (mark.step, Happening::Mark(name.clone())));
    let fences = session.fences().map(|step| (step, Happening::Fence));
    let stops = session.events().map(|(step, event)| (step, Happening::Stop(event.clone())));
    let forks = session.timeline().forks().into_iter().filter(|fork| fork.parent == Some(branch));
    let forks = forks.map(|fork| (fork.step, Happening::Fork(fork.branch)));
    let mut time_points: Vec<(i64, Happening)> = marks.chain(fences).chain(forks).chain(stops).collect();
    time_points.sort_by_key(|(step, _)| *step);
    time_points
}

fn join(intervals: &[CallSegment]) -> Option<CallSegment> {
    let (first, last) = (intervals.first()?, intervals.last()?);
    let calls = intervals.iter().fold(Calls::default(), |all, interval| all.and(interval.calls));
    Some(CallSegment { from: first.from, to: last.to, calls })
}

/// Builds the timeline pane. The bar has `width` columns and covers the steps of `extent`, from the first to the
/// last step.
pub fn timeline(session: &Session, extent: (i64, i64), width: usize) -> TimelinePane {
    let span = session.timeline().span();
    let (time_point, forks) = (session.time_point(), session.timeline().forks());
    let mut columns = reached(session, extent, width);
    for interval in session.timeline().branch().calls() {
        add_calls(&mut columns, extent, interval);
    }
    let mut at = |step: i64, change: &dyn Fn(&mut Column)| {
        let column = column_of(extent, step, width);
        column.and_then(|column| columns.get_mut(column)).into_iter().for_each(change);
    };
    at(time_point.step, &|column| column.is_here = true);
    for (step, event) in session.events() {
        at(step, &|column| match event {
            Event::Point(id) if !column.points.contains(id) => column.points.push(*id),
            Event::Point(_) => {}
            Event::Trap => column.trap = true,
        });
    }
    for (name, mark) in session.marks().iter().filter(|(_, mark)| mark.branch == time_point.branch) {
        at(mark.step, &|column| column.marks.push(name.clone()));
    }
    for step in session.fences() {
        at(step, &|column| column.fence = true);
    }
    for fork in forks.iter().filter(|fork| fork.parent == Some(time_point.branch)) {
        at(fork.step, &|column| column.forks.push(fork.branch));
    }
    TimelinePane { span, shown: extent, step: time_point.step, columns, forks }
}

/// Returns the columns of the bar without events: only `is_reached` is set.
fn reached(session: &Session, extent: (i64, i64), width: usize) -> Vec<Column> {
    let (first, last) = session.timeline().branch().extent();
    let edge = |step: i64| match column_of(extent, step, width) {
        Some(column) => column,
        None if step < extent.0 => 0,
        None => width,
    };
    let (start, end) = (edge(first), edge(last.saturating_add(1)));
    let column = |n| Column { is_reached: start <= n && n < end, ..Column::default() };
    (0..width).map(column).collect()
}

/// Adds the calls of an interval to every column that the interval overlaps. A call is shown at the step after the
/// call instruction.
fn add_calls(columns: &mut [Column], extent: (i64, i64), interval: CallSegment) {
    let width = columns.len();
    if interval.to < extent.0 || interval.from >= extent.1 {
        return;
    }
    let column = |step: i64| column_of(extent, step.clamp(extent.0, extent.1), width);
    let (Some(first), Some(last)) = (column(interval.from + 1), column(interval.to)) else { return };
    for column in columns.iter_mut().take(last + 1).skip(first) {
        column.calls = column.calls.and(interval.calls);
    }
}
