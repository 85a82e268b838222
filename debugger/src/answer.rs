//! Answers of commands as trees of rows. The user can navigate the rows, and most rows lead to a time point. If an
//! answer leaves out details, one of its rows stores the question for them. When the user unfolds this row, the
//! session answers the question. The answer pane draws the rows.

use crate::command::Outcome;
use crate::outcome::{
    CellDifference, CellHistory, OriginCause, Printed, TimePointDifference, Touch, Trace, ValueOrigin,
    ValuePath, path_of_value,
};
use crate::question::PastQuestion;
use crate::render::{moves_in_words, render};
use crate::session::{Session, SessionError};
use crate::timeline::BranchNumber;
use crate::view::timeline::Events;

/// An answer as a tree of rows in preorder: the nested rows of a row follow it, one level deeper.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The command line that produced the answer.
    pub asked: String,
    /// The branch that the steps of the rows belong to.
    pub branch: BranchNumber,
    /// Index of the row that is selected initially. For a history of writes before the current step, this is the
    /// last row. For any other answer, it is the first row that leads to a time point.
    pub first: usize,
    /// The line above the rows, for example the column names of a table; `None` if there is none.
    pub heading: Option<String>,
    rows: Vec<AnswerRow>,
}

/// A row of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// Nesting level of the row; 0 is a top-level row.
    pub depth: usize,
    /// The name of the cell that the row is about; empty if the row is about no cell.
    pub name: String,
    /// The value of `name` as text; empty if the row has none.
    pub value: String,
    /// The instruction that wrote the value, or a remark such as "a constant".
    pub text: String,
    /// The source line of the instruction, and the step number after the instruction: `5 @12` is line 5, step 12.
    pub place: String,
    /// State of the rows nested in this row, one level deeper: none, hidden, shown, or not computed yet.
    pub leads: Option<AnswerLead>,
    /// State of the nested rows below, which are one level deeper.
    pub fold: Fold,
}

/// The destination of a row: the time point or the call that the user reaches by opening the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerLead {
    /// A step of the answer's branch.
    Step(i64),
    /// The destination of a command line such as `goto MARK`, `timeline 2` or `frame 1`.
    Line(String),
}

/// State of the rows that are nested in a row, one level deeper.
#[derive(Clone, Debug, PartialEq)]
pub enum Fold {
    /// There are no rows below.
    Nothing,
    /// The rows below are hidden.
    Closed,
    /// The rows below are shown.
    Open,
    /// The rows below are unknown until this question is asked.
    Unasked(OpenQuestion),
}

/// A question about details that an answer leaves out. The question is asked when the user unfolds the row that
/// stores the question.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenQuestion {
    /// The origin of a value.
    Origin(Box<ValueOrigin>),
    /// The writes to a cell before the writes that are listed already.
    Writes(PastQuestion),
}

/// Number of further writes that are requested when the user unfolds the row `more` of a history.
const PAGE: usize = 20;

impl Answer {
    /// Builds the answer for an outcome. Returns `None` if the outcome has only one line, or if its rows lead to no
    /// time point and no call.
    pub fn of(session: &Session, asked: &str, outcome: &Outcome) -> Option<Answer> {
        let (heading, rows) = match outcome {
            Outcome::Origins { chain, .. } => (None, origins(session, chain, None, 0)),
            Outcome::History(history) => (None, writes(session, history)),
            Outcome::Trace(_) | Outcome::Difference(_) => lines(session, outcome),
            other => (None, listed(session, other)),
        };
        let branch = session.time_point().branch;
        let is_behind = matches!(outcome, Outcome::History(history) if !history.is_ahead);
        let leads = rows.iter().position(|row| row.leads.is_some()).unwrap_or(0);
        let first = if is_behind { rows.len().saturating_sub(1) } else { leads };
        let is_long = rows.len() + usize::from(heading.is_some()) > 1 && !rows.is_empty();
        is_long.then(|| Answer { asked: asked.to_owned(), branch, first, heading, rows })
    }

    /// Returns the visible rows, which are those outside folded rows. Each row comes with its index among all
    /// rows.
    pub fn seen(&self) -> impl Iterator<Item = (usize, &AnswerRow)> {
        let mut hidden_below = usize::MAX;
        self.rows.iter().enumerate().filter(move |(_, row)| {
            let is_seen = row.depth <= hidden_below;
            if is_seen {
                hidden_below = if row.fold == Fold::Closed { row.depth } else { usize::MAX };
            }
            is_seen
        })
    }

    /// Returns the n-th visible row, counted from 0, and the row's index among all rows.
    pub fn row(&self, n: usize) -> Option<(usize, &AnswerRow)> {
        self.seen().nth(n)
    }

    /// Unfolds (`open`) or folds the row with index `number`.
    pub fn set_open(&mut self, number: usize, open: bool) {
        if let Some(row) = self.rows.get_mut(number) {
            row.fold = if open { Fold::Open } else { Fold::Closed };
        }
    }

    /// Returns the position of the parent of the n-th visible row. Both positions are among the visible rows,
    /// counted from 0.
    pub fn above(&self, n: usize) -> Option<usize> {
        let depth = self.row(n)?.1.depth;
        let seen: Vec<usize> = self.seen().take(n).map(|(_, row)| row.depth).collect();
        seen.iter().rposition(|above| *above < depth)
    }

    /// Replaces the row with index `number` by other rows. The depths of these rows stay unchanged.
    pub fn replace(&mut self, number: usize, rows: Vec<AnswerRow>) {
        if number < self.rows.len() {
            self.rows.splice(number..=number, rows);
        }
    }
}

impl OpenQuestion {
    /// Lets the session answer the question. Returns the rows that replace the question's row; `depth` is the
    /// nesting level of this row.
    ///
    /// # Errors
    /// The session has changed to another branch, or there is no memory for a copy of the state.
    pub fn ask(&self, session: &mut Session, depth: usize) -> Result<Vec<AnswerRow>, SessionError> {
        match self {
            OpenQuestion::Origin(open) => {
                let chain = session.why_further(open, 1)?;
                let mut rows = origins(session, &chain, None, depth);
                // The user interrupted the search, so its row keeps the question and can be unfolded again.
                let is_stopped = chain.first().is_some_and(|link| link.stopped().is_some());
                if let (Some(row), true) = (rows.first_mut(), is_stopped) {
                    row.fold = Fold::Unasked(self.clone());
                }
                Ok(rows)
            }
            OpenQuestion::Writes(question) => {
                let history = session.history_before(question, PAGE)?;
                Ok(writes(session, &history))
            }
        }
    }
}

impl AnswerRow {
    fn text(depth: usize, text: String) -> AnswerRow {
        let (name, value, place) = (String::new(), String::new(), String::new());
        AnswerRow { depth, name, value, text, place, leads: None, fold: Fold::Nothing }
    }

    /// Builds the row of a write. The row leads to the step before the write, at which the writing instruction
    /// comes next.
    fn write(session: &Session, depth: usize, write: &Touch) -> AnswerRow {
        let line = session.listing().name(write.line);
        let line = line.strip_prefix("line ").unwrap_or(&line);
        AnswerRow {
            name: write.name.clone(),
            place: format!("{line} @{}", write.step + 1),
            leads: Some(AnswerLead::Step(write.step)),
            ..AnswerRow::text(depth, write.instruction.clone())
        }
    }
}

/// Builds the rows of those links in a chain of value origins whose parent is `parent`; the parent of the first
/// link is `None`. The row of the first link is unfolded, so that the sources of its value are visible.
fn origins(session: &Session, chain: &[ValueOrigin], parent: Option<usize>, depth: usize) -> Vec<AnswerRow> {
    let asked = chain.iter().enumerate().filter(|(_, link)| link.parent == parent);
    let mut rows = Vec::new();
    for (n, link) in asked {
        let path = path_of_value(chain, n);
        let Some(maker) = chain.get(path.maker) else { continue };
        let mut below = moves(session, chain, &path, depth + 1);
        below.extend(origins(session, chain, Some(path.maker), depth + 1));
        let fold = match (&maker.cause, below.is_empty()) {
            (OriginCause::Deeper(_), true) => Fold::Unasked(OpenQuestion::Origin(Box::new(maker.clone()))),
            (_, true) => Fold::Nothing,
            (_, false) if parent.is_none() => Fold::Open,
            (_, false) => Fold::Closed,
        };
        let row = made(session, maker, depth);
        rows.push(AnswerRow { name: link.cell.clone(), value: link.value.clone(), fold, ..row });
        rows.extend(below);
    }
    rows
}

/// Builds the row of one link in a chain of value origins. The row describes the write that produced the value, or
/// the step where the search ended.
fn made(session: &Session, link: &ValueOrigin, depth: usize) -> AnswerRow {
    match &link.cause {
        OriginCause::Written { write, .. } => AnswerRow::write(session, depth, write),
        OriginCause::Initial { step } => AnswerRow {
            leads: Some(AnswerLead::Step(*step)),
            place: format!("@{step}"),
            ..AnswerRow::text(depth, "unchanged since then".to_owned())
        },
        OriginCause::Stopped { step, reason } => {
            let why = reason.kind().name().replace('-', " ");
            let text = format!("{why}: the search stopped");
            AnswerRow { leads: Some(AnswerLead::Step(*step)), ..AnswerRow::text(depth, text) }
        }
        OriginCause::Constant => AnswerRow::text(depth, "a constant".to_owned()),
        OriginCause::Deeper(_) => AnswerRow::text(depth, String::new()),
    }
}

/// Builds one row that summarizes the writes that only moved a value. Below it is a nested row for each of
/// these writes.
fn moves(session: &Session, chain: &[ValueOrigin], path: &ValuePath, depth: usize) -> Vec<AnswerRow> {
    let Some(words) = moves_in_words(chain, path) else { return Vec::new() };
    let above = AnswerRow { fold: Fold::Closed, ..AnswerRow::text(depth, format!("through {words}")) };
    let links = path.moves.iter().filter_map(|link| chain.get(*link));
    let each = links.map(|link| AnswerRow { name: link.cell.clone(), ..made(session, link, depth + 1) });
    std::iter::once(above).chain(each).collect()
}

/// Builds a row for each write of a history. If there may be further writes, adds a row that asks for them.
fn writes(session: &Session, history: &CellHistory) -> Vec<AnswerRow> {
    let mut rows: Vec<AnswerRow> = history
        .writes
        .iter()
        .map(|write| {
            let value = if write.is_changed() {
                format!("{} → {}", write.before, write.after)
            } else {
                format!("{} again", write.after)
            };
            AnswerRow { value, ..AnswerRow::write(session, 0, write) }
        })
        .collect();
    let text = match &history.stopped {
        Some(reason) => format!("{}: there may be more", reason.kind().name().replace('-', " ")),
        None => "more".to_owned(),
    };
    let more = history.further.map(|question| AnswerRow {
        fold: Fold::Unasked(OpenQuestion::Writes(question)),
        ..AnswerRow::text(0, text)
    });
    let at = if history.is_ahead { rows.len() } else { 0 };
    rows.splice(at..at, more);
    rows
}

/// Builds the heading and the rows of a table or a difference. A row of a table leads to the row's time point. A
/// row of a difference leads to the last write of the row's cell.
fn lines(session: &Session, outcome: &Outcome) -> (Option<String>, Vec<AnswerRow>) {
    let here = session.time_point().branch;
    let (outcome, leads) = match outcome {
        Outcome::Trace(trace) => {
            let plain = Trace { printed: Printed::default(), ..trace.clone() };
            let leads = trace.rows.iter().map(|row| Some(AnswerLead::Step(row.at.step)));
            (Outcome::Trace(plain), leads.collect::<Vec<_>>())
        }
        Outcome::Difference(found) => {
            let plain =
                TimePointDifference { printed: Printed::default(), ..TimePointDifference::clone(found) };
            let written = |cell: &CellDifference| {
                let writer = cell.writer.as_ref().filter(|_| found.to.branch == here);
                writer.map(|write| AnswerLead::Step(write.step))
            };
            let leads = found.cells.iter().map(written).collect();
            (Outcome::Difference(Box::new(plain)), leads)
        }
        _ => return (None, Vec::new()),
    };
    let text = render(session, &outcome);
    let mut lines = text.lines();
    let heading = lines.next().map(str::to_owned);
    let row = |(text, leads): (&str, _)| AnswerRow { leads, ..AnswerRow::text(0, text.to_owned()) };
    (heading, lines.zip(leads.into_iter().chain(std::iter::repeat(None))).map(row).collect())
}

/// Builds the rows of an outcome that lists marks, fences, branches, frames or events. The text of a row is that
/// of an outcome that lists only the row's item.
fn listed(session: &Session, outcome: &Outcome) -> Vec<AnswerRow> {
    let row = |one: Outcome, leads: AnswerLead| {
        let text = render(session, &one).trim_end().to_owned();
        AnswerRow { leads: Some(leads), ..AnswerRow::text(0, text) }
    };
    let line = |line: String| AnswerLead::Line(line);
    match outcome {
        Outcome::Marks(marks) => {
            let one = |mark: &(String, _)| {
                row(Outcome::Marks(vec![mark.clone()]), line(format!("goto {}", mark.0)))
            };
            marks.iter().map(one).collect()
        }
        Outcome::Fences(steps) => {
            steps.iter().map(|&step| row(Outcome::Fences(vec![step]), AnswerLead::Step(step))).collect()
        }
        Outcome::Forks(forks) => {
            let lead = |branch| line(format!("timeline {branch}"));
            forks.iter().map(|fork| row(Outcome::Forks(vec![fork.clone()]), lead(fork.branch))).collect()
        }
        Outcome::Frames(frames) => {
            let lead = |number| line(format!("frame {number}"));
            frames.iter().map(|frame| row(Outcome::Frame(frame.clone()), lead(frame.number))).collect()
        }
        Outcome::Events(events) => {
            happened(events).into_iter().map(|(one, step)| row(one, AnswerLead::Step(step))).collect()
        }
        _ => Vec::new(),
    }
}

/// Splits a list of events into one outcome for each event, with the event's step.
fn happened(events: &Events) -> Vec<(Outcome, i64)> {
    let nothing =
        Events { time_points: Vec::new(), intervals: Vec::new(), more_time_points: 0, ..events.clone() };
    let time_points = events.time_points.iter().map(|time_point| {
        (Outcome::Events(Events { time_points: vec![time_point.clone()], ..nothing.clone() }), time_point.0)
    });
    let intervals = events.intervals.iter().map(|interval| {
        (Outcome::Events(Events { intervals: vec![*interval], ..nothing.clone() }), interval.from)
    });
    let mut all: Vec<(Outcome, i64)> = time_points.chain(intervals).collect();
    all.sort_by_key(|(_, step)| *step);
    all
}
