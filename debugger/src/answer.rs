//! Answers that can be walked: rows that lead to moments, some of them with rows below. What an answer leaves open
//! stands in it as a question, which is asked when somebody unfolds it. Draws nothing.

use crate::command::Outcome;
use crate::outcome::{
    CellDifference, CellHistory, MomentDifference, OriginCause, Printed, Touch, Trace, ValueOrigin, ValueWay,
    way_of_value,
};
use crate::question::PastQuestion;
use crate::render::{moves_in_words, render};
use crate::session::{Session, SessionError};
use crate::timeline::BranchNumber;
use crate::view::timeline::Events;

/// An answer, row by row: what belongs to a row stands below it, one deeper.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The line that asked.
    pub asked: String,
    /// The branch that its steps are of.
    pub branch: BranchNumber,
    /// The row that is looked at first: the one that is nearest in time.
    pub first: usize,
    /// What stands above the rows: of a table, what its columns are.
    pub heading: Option<String>,
    rows: Vec<AnswerRow>,
}

/// A row of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    pub depth: usize,
    /// A cell and its value, where the row is about one.
    pub name: String,
    pub value: String,
    pub text: String,
    /// The line of the instruction, and the step that it made.
    pub place: String,
    pub leads: Option<AnswerLead>,
    pub fold: Fold,
}

/// Where a row leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerLead {
    /// To a step of the answer's branch.
    Step(i64),
    /// To where a command line leads.
    Line(String),
}

/// What is below a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Fold {
    Nothing,
    Closed,
    Open,
    /// What nobody has asked yet.
    Unasked(OpenQuestion),
}

/// What an answer leaves open.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenQuestion {
    /// Where a value comes from.
    Origin(Box<ValueOrigin>),
    /// What was written before.
    Writes(PastQuestion),
}

/// Writes that are asked for at once.
const PAGE: usize = 20;

impl Answer {
    /// The answer that an outcome is, if its rows lead anywhere.
    pub fn of(session: &Session, asked: &str, outcome: &Outcome) -> Option<Answer> {
        let (heading, rows) = match outcome {
            Outcome::Origins { chain, .. } => (None, origins(session, chain, None, 0)),
            Outcome::History(history) => (None, writes(session, history)),
            Outcome::Trace(_) | Outcome::Difference(_) => lines(session, outcome),
            other => (None, listed(session, other)),
        };
        let branch = session.moment().branch;
        let is_behind = matches!(outcome, Outcome::History(history) if !history.is_ahead);
        let leads = rows.iter().position(|row| row.leads.is_some()).unwrap_or(0);
        let first = if is_behind { rows.len().saturating_sub(1) } else { leads };
        let is_long = rows.len() + usize::from(heading.is_some()) > 1 && !rows.is_empty();
        is_long.then(|| Answer { asked: asked.to_owned(), branch, first, heading, rows })
    }

    /// The rows that are seen, with their numbers: those that nothing above them hides.
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

    /// The n-th of the rows that are seen.
    pub fn row(&self, n: usize) -> Option<(usize, &AnswerRow)> {
        self.seen().nth(n)
    }

    /// Opens or closes a row.
    pub fn set_open(&mut self, number: usize, open: bool) {
        if let Some(row) = self.rows.get_mut(number) {
            row.fold = if open { Fold::Open } else { Fold::Closed };
        }
    }

    /// The place, among those that are seen, of the row that the n-th belongs to.
    pub fn above(&self, n: usize) -> Option<usize> {
        let depth = self.row(n)?.1.depth;
        let seen: Vec<usize> = self.seen().take(n).map(|(_, row)| row.depth).collect();
        seen.iter().rposition(|above| *above < depth)
    }

    /// Puts rows, which tell of themselves how deep they are, in the place of a row.
    pub fn replace(&mut self, number: usize, rows: Vec<AnswerRow>) {
        if number < self.rows.len() {
            self.rows.splice(number..=number, rows);
        }
    }
}

impl OpenQuestion {
    /// Asks it. The rows stand in the place of the one that had the question, which was so deep.
    ///
    /// # Errors
    /// The session is on another branch now; no memory for a copy of the state.
    pub fn ask(&self, session: &mut Session, depth: usize) -> Result<Vec<AnswerRow>, SessionError> {
        match self {
            OpenQuestion::Origin(open) => {
                let chain = session.why_further(open, 1)?;
                let mut rows = origins(session, &chain, None, depth);
                // Who was stopped can ask again.
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

    /// A write. The step before it is the moment to look at: there its instruction comes next.
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

/// The rows of the links that a link asked for. The first link is open, and what it is made of is seen.
fn origins(session: &Session, chain: &[ValueOrigin], parent: Option<usize>, depth: usize) -> Vec<AnswerRow> {
    let asked = chain.iter().enumerate().filter(|(_, link)| link.parent == parent);
    let mut rows = Vec::new();
    for (n, link) in asked {
        let way = way_of_value(chain, n);
        let Some(maker) = chain.get(way.maker) else { continue };
        let mut below = moves(session, chain, &way, depth + 1);
        below.extend(origins(session, chain, Some(way.maker), depth + 1));
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

/// What made a value, or how far that is known.
fn made(session: &Session, link: &ValueOrigin, depth: usize) -> AnswerRow {
    match &link.cause {
        OriginCause::Written { write, .. } => AnswerRow::write(session, depth, write),
        OriginCause::Initial { step } => AnswerRow {
            leads: Some(AnswerLead::Step(*step)),
            place: format!("@{step}"),
            ..AnswerRow::text(depth, "so since then".to_owned())
        },
        OriginCause::Stopped { step, reason } => {
            let why = reason.kind().name().replace('-', " ");
            let text = format!("{why}: not looked further");
            AnswerRow { leads: Some(AnswerLead::Step(*step)), ..AnswerRow::text(depth, text) }
        }
        OriginCause::Constant => AnswerRow::text(depth, "a constant".to_owned()),
        OriginCause::Deeper(_) => AnswerRow::text(depth, String::new()),
    }
}

/// A row for the writes that only handed a value on, and below it each of them.
fn moves(session: &Session, chain: &[ValueOrigin], way: &ValueWay, depth: usize) -> Vec<AnswerRow> {
    let Some(words) = moves_in_words(chain, way) else { return Vec::new() };
    let above = AnswerRow { fold: Fold::Closed, ..AnswerRow::text(depth, format!("through {words}")) };
    let links = way.moves.iter().filter_map(|link| chain.get(*link));
    let each = links.map(|link| AnswerRow { name: link.cell.clone(), ..made(session, link, depth + 1) });
    std::iter::once(above).chain(each).collect()
}

/// The writes of a history, and where there are more, a row that asks for them.
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

/// The heading of a table or of a difference, and the lines below it. Those of a table lead to their moments, those of
/// cells to their last writers.
fn lines(session: &Session, outcome: &Outcome) -> (Option<String>, Vec<AnswerRow>) {
    let here = session.moment().branch;
    let (outcome, leads) = match outcome {
        Outcome::Trace(trace) => {
            let plain = Trace { printed: Printed::default(), ..trace.clone() };
            let leads = trace.rows.iter().map(|row| Some(AnswerLead::Step(row.at.step)));
            (Outcome::Trace(plain), leads.collect::<Vec<_>>())
        }
        Outcome::Difference(found) => {
            let plain = MomentDifference { printed: Printed::default(), ..MomentDifference::clone(found) };
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

/// The rows of an outcome that lists things with a moment, or a place among the calls: each in the words that it has
/// alone.
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

/// Each event alone, and its step.
fn happened(events: &Events) -> Vec<(Outcome, i64)> {
    let nothing = Events { moments: Vec::new(), stretches: Vec::new(), more_moments: 0, ..events.clone() };
    let moments = events.moments.iter().map(|moment| {
        (Outcome::Events(Events { moments: vec![moment.clone()], ..nothing.clone() }), moment.0)
    });
    let stretches = events.stretches.iter().map(|stretch| {
        (Outcome::Events(Events { stretches: vec![*stretch], ..nothing.clone() }), stretch.from)
    });
    let mut all: Vec<(Outcome, i64)> = moments.chain(stretches).collect();
    all.sort_by_key(|(_, step)| *step);
    all
}
