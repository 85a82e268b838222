//! What commands come to, as data: where one went and why one stopped, what was found. Contains no
//! spelling of messages: [`crate::render`] has that.

use reviver_vm::explain::Explanation;
use reviver_vm::garbage::Garbage;
use reviver_vm::{Cause, ShownValue, Travel};

use crate::listing::Line;
use crate::memory::Cell;
use crate::points::WatchMode;
use crate::question::{PastQuestion, ValueStore};
use crate::timeline::Moment;

/// A movement through time.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    pub from: Moment,
    pub to: Moment,
    pub travel: Travel,
    pub reason: Reason,
    /// The step that was asked for, if the run has no such step.
    pub beyond: Option<i64>,
    /// The instruction that comes next where one is now; none at the end.
    pub next: Option<u32>,
    /// Whether the machine itself runs backward there.
    pub inverted: bool,
    /// What log points printed on the way, and `show` for the first time.
    pub printed: Printed,
}

/// Why one stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// There, or so many steps made.
    Arrived,
    /// Breakpoints and watchpoints.
    Points(Vec<Hit>),
    /// There is nothing before this state.
    HistoryBegin,
    /// There is nothing after this state.
    HistoryEnd,
    /// The machine can't make the next step; nothing has changed.
    Trap(Box<Explanation>),
    /// The user said so.
    Interrupted,
    /// Here one was to stop in any case.
    Fence,
    /// The session goes no further from step 0.
    StepLimit,
    /// A search for a write has found none. The session is where it was.
    NoWrite(Box<NoWrite>),
}

/// A search for a write that found none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoWrite {
    /// The cells, in the words of the program.
    pub cells: String,
    pub has_condition: bool,
    /// The last step of the search, and why it is the last one.
    pub step: i64,
    pub end: StopKind,
}

impl Reason {
    /// Returns true if the history ends in this direction: at its bound, or at a trap. A trap for lack of memory is no end, because a
    /// later attempt may succeed.
    pub fn ends_the_history(&self) -> bool {
        match self {
            Reason::HistoryBegin | Reason::HistoryEnd => true,
            Reason::Trap(explanation) => !matches!(explanation.cause, Cause::NoMemory(_)),
            _ => false,
        }
    }

    /// Without its particulars.
    pub fn kind(&self) -> StopKind {
        match self {
            Reason::Arrived => StopKind::Arrived,
            Reason::Points(hits) => match hits.first().map(|hit| &hit.what) {
                Some(HitKind::Watch { .. }) => StopKind::Watchpoint,
                _ => StopKind::Breakpoint,
            },
            Reason::HistoryBegin => StopKind::Begin,
            Reason::HistoryEnd => StopKind::End,
            Reason::Trap(_) => StopKind::Trap,
            Reason::Interrupted => StopKind::Interrupted,
            Reason::Fence => StopKind::Fence,
            Reason::StepLimit => StopKind::StepLimit,
            Reason::NoWrite(_) => StopKind::NoWrite,
        }
    }
}

/// The kinds of reasons to stop, as scripts name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    Arrived,
    Begin,
    Breakpoint,
    End,
    Fence,
    Interrupted,
    NoWrite,
    StepLimit,
    Trap,
    Watchpoint,
}

impl StopKind {
    pub const ALL: [StopKind; 10] = [
        StopKind::Arrived,
        StopKind::Begin,
        StopKind::Breakpoint,
        StopKind::End,
        StopKind::Fence,
        StopKind::Interrupted,
        StopKind::NoWrite,
        StopKind::StepLimit,
        StopKind::Trap,
        StopKind::Watchpoint,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            StopKind::Arrived => "arrived",
            StopKind::Begin => "begin",
            StopKind::Breakpoint => "breakpoint",
            StopKind::End => "end",
            StopKind::Fence => "fence",
            StopKind::Interrupted => "interrupted",
            StopKind::NoWrite => "no-write",
            StopKind::StepLimit => "step-limit",
            StopKind::Trap => "trap",
            StopKind::Watchpoint => "watchpoint",
        }
    }
}

/// A point that stopped somebody.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub id: u32,
    pub temporary: bool,
    pub hits: u64,
    pub what: HitKind,
    /// Why the point's condition has no value here.
    pub condition_error: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum HitKind {
    Break {
        text: String,
    },
    /// What the step did to each cell that is watched, or to the value of an expression.
    Watch {
        watch: WatchMode,
        touches: Vec<Touch>,
    },
}

/// What a step did to one cell, or to the value of an expression. `before` and `after` are in time, whichever way one travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// None where it is an expression.
    pub cell: Option<Cell>,
    /// The cell, in the words of the program, or the expression.
    pub name: String,
    pub before: String,
    pub after: String,
    pub written: bool,
    pub read: bool,
    /// The step before the instruction.
    pub step: i64,
    /// The instruction, its text as it was executed in time, and its line.
    pub at: u32,
    pub instruction: String,
    pub line: Line,
}

impl Touch {
    /// Whether the content became another: a swap of equal values writes without changing.
    pub fn is_changed(&self) -> bool {
        self.before != self.after
    }
}

/// What was printed on the way, as it came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printed {
    lines: Vec<Print>,
    left_out: u64,
}

/// A line that the program or a breakpoint prints on the way.
#[derive(Clone, Debug, PartialEq)]
pub enum Print {
    /// By a `show`.
    Shown(ShownValue),
    /// By a log point.
    Logged(String),
}

impl Printed {
    /// Lines that are kept of one motion; those behind them are counted only.
    pub const MOST: usize = 1_000_000;

    pub fn add(&mut self, line: Print) {
        match self.lines.len() < Printed::MOST {
            true => self.lines.push(line),
            false => self.left_out += 1,
        }
    }

    /// Adds what was printed later.
    pub fn append(&mut self, later: Printed) {
        later.lines.into_iter().for_each(|line| self.add(line));
        self.left_out += later.left_out;
    }

    pub fn lines(&self) -> &[Print] {
        &self.lines
    }

    /// Lines that weren't kept.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// One link in the chain of a value's origins.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueOrigin {
    /// Number of the link that asked for this one; none for the cell that was asked for.
    pub parent: Option<usize>,
    /// How many links lie between this one and the question.
    pub depth: usize,
    pub cell: String,
    pub value: String,
    pub cause: OriginCause,
}

impl ValueOrigin {
    /// Why its cause was not looked for any further.
    pub fn stopped(&self) -> Option<&Reason> {
        match &self.cause {
            OriginCause::Stopped { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum OriginCause {
    /// An instruction wrote it, out of these cells and their values, or took it from a store.
    Written { write: Touch, role: WriteRole, sources: Vec<(String, String)>, store: Option<ValueStore> },
    /// It was there when the branch or its frame began, or as far back as one looked.
    Initial { step: i64 },
    /// It is none that anything could write.
    Constant,
    /// It was there at this step, where the search was stopped.
    Stopped { step: i64, reason: Reason },
    /// Its chain goes on, but not in this answer: that can be asked.
    Deeper(PastQuestion),
}

/// What a write did to make a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRole {
    /// It made the value.
    Makes,
    /// It handed the value on, in exchange for another.
    Swaps,
    /// It handed the value on, to a stack or a tape or from one.
    Moves,
}

/// The way of a value back through writes that only handed it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueWay {
    /// Numbers of the links of those writes, the last one in time first.
    pub moves: Vec<usize>,
    /// The link that tells what made the value, or how far one looked.
    pub maker: usize,
}

/// How the value of a link of a chain came to where it is.
pub fn way_of_value(chain: &[ValueOrigin], link: usize) -> ValueWay {
    let mut way = ValueWay { moves: Vec::new(), maker: link };
    while let Some(OriginCause::Written { role: WriteRole::Swaps | WriteRole::Moves, .. }) =
        chain.get(way.maker).map(|link| &link.cause)
    {
        let from = |link: &ValueOrigin| link.parent == Some(way.maker);
        // Links stand behind those that asked for them.
        let next = chain.iter().skip(way.maker).position(from).map(|behind| way.maker + behind);
        let Some(next) = next else { break };
        way.moves.push(way.maker);
        way.maker = next;
    }
    way
}

/// The values of a cell over time.
#[derive(Clone, Debug, PartialEq)]
pub struct CellHistory {
    pub cell: String,
    /// In the order of time.
    pub writes: Vec<Touch>,
    /// How to ask for those before, if there are any, or if one didn't look that far.
    pub further: Option<PastQuestion>,
    /// Whether they lie ahead in time: those of an adjoint that one carries back.
    pub is_ahead: bool,
    /// Why the search went no further, where it wasn't through.
    pub stopped: Option<Reason>,
}

/// What expressions came to wherever the run came to a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The place, as a person would say it.
    pub place: String,
    /// The expressions, as they were written.
    pub columns: Vec<String>,
    pub condition: Option<String>,
    pub rows: Vec<TraceRow>,
    /// Whether there are more rows.
    pub is_cut: bool,
    /// Why the run went no further, where it went so far.
    pub ended: Option<Reason>,
    /// What was printed for the first time on the way.
    pub printed: Printed,
}

/// One moment of a [`Trace`].
#[derive(Clone, Debug, PartialEq)]
pub struct TraceRow {
    pub at: Moment,
    /// The expressions' values, or why they have none there.
    pub values: Vec<Result<String, String>>,
}

/// What differs between two moments, told in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MomentDifference {
    pub from: Moment,
    pub to: Moment,
    pub cells: Vec<CellDifference>,
    /// How many more cells differ.
    pub left_out: usize,
    /// The open calls, in words, where they aren't the same.
    pub calls: Option<(String, String)>,
    /// Stacks and tapes that differ.
    pub rows: Vec<(ValueRow, ValueRow)>,
    /// Whether both moments were come to.
    pub is_compared: bool,
    /// Why one was stopped: on the way to the moments, or on the search for who wrote the cells.
    pub stopped: Option<Reason>,
    /// What was printed for the first time on the way.
    pub printed: Printed,
}

/// A cell that holds something else at another moment.
#[derive(Clone, Debug, PartialEq)]
pub struct CellDifference {
    pub cell: String,
    pub before: String,
    pub after: String,
    /// The last write to it; none where it wasn't found.
    pub writer: Option<Touch>,
}

/// What `set` did to a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub cell: String,
    pub before: String,
    pub after: String,
    /// Whether the cell held something else: otherwise no branch was begun.
    pub is_change: bool,
}

/// How a gradient was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The loss's adjoint, and its value.
    pub adjoint: String,
    pub value: String,
    /// How many other adjoints were not 0.
    pub cleared: usize,
    /// Whether anything had to be changed: otherwise no branch was begun.
    pub is_change: bool,
}

/// What a check of the whole branch found.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundTripCheck {
    pub steps: u64,
    /// Why it went no further.
    pub stop: Reason,
    /// Cells that aren't as they must be at the end.
    pub garbage: Vec<Garbage>,
    /// Whether the way back without a history leads to the start: bit for bit, or not at all. Unknown
    /// where a bound wasn't reached, or the way back was interrupted.
    pub restored: Option<bool>,
    pub erased_bits: u64,
}

/// Values in a row, of which some are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRow {
    /// `input tape`, `integer stack`, or `stack trail` of one that is declared.
    pub name: String,
    /// How many there are.
    pub total: usize,
    /// The ones that come next: the next to be read, the last written, the top.
    pub next: Vec<String>,
}
