//! Results of commands as data: the time points reached, the reasons for stopping, the values found.
//! Messages are rendered by [`crate::render`].

use reviver_vm::explain::Explanation;
use reviver_vm::garbage::Garbage;
use reviver_vm::{Cause, ShownValue, Travel};

use crate::listing::Line;
use crate::memory::Cell;
use crate::points::WatchMode;
use crate::question::{PastQuestion, ValueStore};
use crate::timeline::TimePoint;

/// A movement through time.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// The time point at which the motion began.
    pub from: TimePoint,
    /// The time point at which the motion ended.
    pub to: TimePoint,
    /// The direction of the motion.
    pub travel: Travel,
    /// The reason for stopping at `to`.
    pub reason: Reason,
    /// The step that was requested, if the run ends before this step; otherwise `None`.
    pub beyond: Option<i64>,
    /// The next instruction at the destination; `None` at the end of the program.
    pub next: Option<u32>,
    /// True if the machine runs inverted at the destination.
    pub inverted: bool,
    /// Output during the movement: of log points, and of each `show` that ran for the first time.
    pub printed: Printed,
}

/// The reason for stopping.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The destination was reached, or all requested steps were executed.
    Arrived,
    /// Breakpoints or watchpoints were hit.
    Points(Vec<Hit>),
    /// The beginning of the history was reached.
    HistoryBegin,
    /// The end of the history was reached.
    HistoryEnd,
    /// The machine can't execute the next step; the state is unchanged.
    Trap(Box<Explanation>),
    /// The user interrupted the run.
    Interrupted,
    /// A fence was reached; runs stop there unconditionally.
    Fence,
    /// The session's limit on the distance from step 0 was reached.
    StepLimit,
    /// A search for a write found no write. The session has returned to the time point where the search began.
    NoWrite(Box<NoWrite>),
}

/// Result of a search that found no write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoWrite {
    /// The cells as the program names them.
    pub cells: String,
    /// True if the search had a condition; then only writes for which the condition holds were searched for.
    pub has_condition: bool,
    /// The last step of the search.
    pub step: i64,
    /// The reason for the end of the search at `step`.
    pub end: StopKind,
}

impl Reason {
    /// Returns true if no further step is possible in the direction of travel, because the history begins or ends,
    /// or because of a trap. A trap for lack of memory doesn't count, because a later attempt may succeed.
    pub fn ends_the_history(&self) -> bool {
        match self {
            Reason::HistoryBegin | Reason::HistoryEnd => true,
            Reason::Trap(explanation) => !matches!(explanation.cause, Cause::NoMemory(_)),
            _ => false,
        }
    }

    /// Returns the kind of the reason, without details.
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
    /// Kind of [`Reason::Arrived`]: the destination, or all requested steps.
    Arrived,
    /// Kind of [`Reason::HistoryBegin`]: the beginning of the history.
    Begin,
    /// Kind of [`Reason::Points`] if the first hit is a breakpoint's.
    Breakpoint,
    /// Kind of [`Reason::HistoryEnd`]: the end of the history.
    End,
    /// Kind of [`Reason::Fence`]: a fence.
    Fence,
    /// Kind of [`Reason::Interrupted`]: an interrupt by the user.
    Interrupted,
    /// Kind of [`Reason::NoWrite`]: a search that found no write.
    NoWrite,
    /// Kind of [`Reason::StepLimit`]: the session's limit of steps.
    StepLimit,
    /// Kind of [`Reason::Trap`]: a step that can't be executed.
    Trap,
    /// Kind of [`Reason::Points`] if the first hit is a watchpoint's.
    Watchpoint,
}

impl StopKind {
    /// All kinds, in the alphabetical order of their names.
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

    /// Returns the word for `expect-stop` in scripts.
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

/// A point that stopped a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The number of the point, or [`UNNUMBERED`](crate::points::UNNUMBERED).
    pub id: u32,
    /// True if the stop deleted the point.
    pub temporary: bool,
    /// Number of hits of the point so far, including this hit.
    pub hits: u64,
    /// The event that triggered the point.
    pub what: HitKind,
    /// The reason why the point's condition has no value at this hit; `None` if the condition has a value.
    pub condition_error: Option<String>,
}

/// The event that triggered a point.
#[derive(Clone, Debug, PartialEq)]
pub enum HitKind {
    /// A breakpoint's location was reached.
    Break {
        /// The location as the user wrote it.
        text: String,
    },
    /// The effect of the step on each watched cell, or on the value of the watched expression.
    Watch {
        /// The kind of access that the watchpoint waits for.
        watch: WatchMode,
        /// The effects on the watched cells; one entry for an expression.
        touches: Vec<Touch>,
    },
}

/// The effect of a step on one cell, or on the value of an expression. `before` is the value earlier in time
/// and `after` the later one, even if the session travels backward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The cell; `None` for an expression.
    pub cell: Option<Cell>,
    /// The name of the cell as the program writes it, or the expression.
    pub name: String,
    /// The value before the step, as text.
    pub before: String,
    /// The value after the step, as text.
    pub after: String,
    /// True if the step writes the cell, also with an equal value; always true for an expression.
    pub written: bool,
    /// True if the step reads the cell; always false for an expression.
    pub read: bool,
    /// The step number of the state before the instruction.
    pub step: i64,
    /// Index of the instruction in the module's code.
    pub at: u32,
    /// The instruction in the direction of time: inverted if the machine runs inverted.
    pub instruction: String,
    /// The source line of the instruction.
    pub line: Line,
}

impl Touch {
    /// Returns true if the value changed. A swap of equal values is a write without a change.
    pub fn is_changed(&self) -> bool {
        self.before != self.after
    }
}

/// Lines printed during a movement, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printed {
    lines: Vec<Print>,
    left_out: u64,
}

/// A line printed by the program or by a log point.
#[derive(Clone, Debug, PartialEq)]
pub enum Print {
    /// Output of a `show` instruction.
    Shown(ShownValue),
    /// Output of a log point.
    Logged(String),
}

impl Printed {
    /// Maximum number of lines kept for one movement. Further lines are only counted.
    pub const MOST: usize = 1_000_000;

    /// Appends a line, or only counts it if [`Printed::MOST`] lines are kept.
    pub fn add(&mut self, line: Print) {
        match self.lines.len() < Printed::MOST {
            true => self.lines.push(line),
            false => self.left_out += 1,
        }
    }

    /// Appends output that was printed later.
    pub fn append(&mut self, later: Printed) {
        later.lines.into_iter().for_each(|line| self.add(line));
        self.left_out += later.left_out;
    }

    /// Returns the kept lines, in the order of printing.
    pub fn lines(&self) -> &[Print] {
        &self.lines
    }

    /// Returns the number of lines that weren't kept.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// One link in the chain of a value's origins: a value, and the write that produced the value.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueOrigin {
    /// Index of the link whose value was computed from this link's value; `None` for the cell that the
    /// question is about.
    pub parent: Option<usize>,
    /// Number of links from the question's cell to this link.
    pub depth: usize,
    /// The name of the cell as the program writes it, or the name of a constant as the user wrote it.
    pub cell: String,
    /// The value as text.
    pub value: String,
    /// The origin of the value, or the reason why the origin isn't known.
    pub cause: OriginCause,
}

impl ValueOrigin {
    /// Returns the reason why the search for the origin was stopped early, or `None` if it wasn't.
    pub fn stopped(&self) -> Option<&Reason> {
        match &self.cause {
            OriginCause::Stopped { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// The origin of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum OriginCause {
    /// An instruction wrote the value. The instruction computed the value from the cells `sources`, or took it from
    /// the stack or tape `store`.
    Written {
        /// The write, with the values before and after it.
        write: Touch,
        /// The write's effect: it computed the value, or only moved it.
        role: WriteRole,
        /// Names of the cells that the write read, with their values.
        sources: Vec<(String, String)>,
        /// The stack or tape that the value was taken from; `None` for a value computed from cells.
        store: Option<ValueStore>,
    },
    /// The value existed at this step already, and no later instruction wrote it. At this step, the branch, the
    /// cell's frame, or the range of searched steps begins.
    Initial {
        /// The step at which the value existed already.
        step: i64,
    },
    /// The value is a constant, which nothing can write.
    Constant,
    /// The value existed at this step, where the search was stopped.
    Stopped {
        /// The step at which the search was stopped.
        step: i64,
        /// The reason for the stop.
        reason: Reason,
    },
    /// The chain continues but isn't part of this answer; the question asks for the rest.
    Deeper(PastQuestion),
}

/// The role of a write in producing a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRole {
    /// The write computed the value.
    Makes,
    /// The write exchanged the value with that of another cell.
    Swaps,
    /// The write moved the value to or from a stack or a tape.
    Moves,
}

/// The path of a value back in time, through the writes that only moved the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuePath {
    /// Indices of the links of the writes that only moved the value. The first link is the latest in time.
    pub moves: Vec<usize>,
    /// Index of the link whose write computed the value. If the search ended before it found this write, the index
    /// of the last link.
    pub maker: usize,
}

/// Follows the value of a link back through the writes that only moved the value, to the write that computed it.
pub fn path_of_value(chain: &[ValueOrigin], link: usize) -> ValuePath {
    let mut path = ValuePath { moves: Vec::new(), maker: link };
    while let Some(OriginCause::Written { role: WriteRole::Swaps | WriteRole::Moves, .. }) =
        chain.get(path.maker).map(|link| &link.cause)
    {
        let from = |link: &ValueOrigin| link.parent == Some(path.maker);
        // A link has a higher index than its parent.
        let next = chain.iter().skip(path.maker).position(from).map(|behind| path.maker + behind);
        let Some(next) = next else { break };
        path.moves.push(path.maker);
        path.maker = next;
    }
    path
}

/// The values of a cell over time.
#[derive(Clone, Debug, PartialEq)]
pub struct CellHistory {
    /// The name of the cell, array or slice.
    pub cell: String,
    /// The writes, in the order of time.
    pub writes: Vec<Touch>,
    /// The question for earlier writes; `None` if the list is known to be complete.
    pub further: Option<PastQuestion>,
    /// True if the writes are later in time than the question's time point. This is the case for an adjoint that
    /// was propagated backward from the origin of its branch.
    pub is_ahead: bool,
    /// The reason why the search ended early, if it did.
    pub stopped: Option<Reason>,
}

/// A table of the values of expressions, with a row for each visit of a location.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The location, in words.
    pub place: String,
    /// The expressions as they were written.
    pub columns: Vec<String>,
    /// The condition of the rows as it was written; `None` if there is none.
    pub condition: Option<String>,
    /// The time points with their values, in ascending order of steps.
    pub rows: Vec<TraceRow>,
    /// True if the table omits further rows, because it has the maximum number of rows.
    pub is_cut: bool,
    /// The reason why the run ended. `None` if the table was full before the run ended.
    pub ended: Option<Reason>,
    /// Output of the run that wasn't printed before.
    pub printed: Printed,
}

/// One time point of a [`Trace`].
#[derive(Clone, Debug, PartialEq)]
pub struct TraceRow {
    /// The time point of the visit.
    pub at: TimePoint,
    /// The values of the expressions, or the errors of those without a value.
    pub values: Vec<Result<String, String>>,
}

/// Differences between two time points of a branch, of which `from` is the earlier one. For time points on
/// different branches, `from` and `to` are in the order of the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimePointDifference {
    /// The earlier time point.
    pub from: TimePoint,
    /// The later time point.
    pub to: TimePoint,
    /// The cells with different values, up to the requested number.
    pub cells: Vec<CellDifference>,
    /// Number of further cells that differ.
    pub left_out: usize,
    /// The open calls at both time points, in words, if they differ.
    pub calls: Option<(String, String)>,
    /// Stacks and tapes that differ.
    pub rows: Vec<(ValueRow, ValueRow)>,
    /// True if both time points were reached, so that they could be compared.
    pub is_compared: bool,
    /// The reason for an early stop: of the travel to a time point, or of the search for the last writes.
    pub stopped: Option<Reason>,
    /// Output of the travel that wasn't printed before.
    pub printed: Printed,
}

/// A cell with different values at two time points.
#[derive(Clone, Debug, PartialEq)]
pub struct CellDifference {
    /// The name of the cell at the later time point.
    pub cell: String,
    /// The value at the earlier time point, as text.
    pub before: String,
    /// The value at the later time point, as text.
    pub after: String,
    /// The last write to the cell; `None` if it wasn't found.
    pub writer: Option<Touch>,
}

/// The effect of `set` on a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The name of the cell as the program writes it.
    pub cell: String,
    /// The value before the edit, as text.
    pub before: String,
    /// The value after the edit, as text.
    pub after: String,
    /// True if the value changed. Otherwise no branch was created.
    pub is_change: bool,
}

/// The start of a gradient computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The name of the loss's adjoint: `y'`.
    pub adjoint: String,
    /// The value of the loss's adjoint, as text: 1 in the program's number system.
    pub value: String,
    /// Number of other adjoints that were set to 0.
    pub cleared: usize,
    /// True if anything was changed. Otherwise no branch was created.
    pub is_change: bool,
}

/// Result of a round trip over the whole branch.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundTripCheck {
    /// Number of steps in one direction, from the origin of the branch to the end of the run.
    pub steps: u64,
    /// The reason why the round trip ended.
    pub stop: Reason,
    /// Cells that don't have their required value at the end of the run.
    pub garbage: Vec<Garbage>,
    /// True if running backward without a history restores the initial state bit for bit. `None` if the run
    /// didn't reach its end, or the run backward was interrupted.
    pub restored: Option<bool>,
    /// Number of bits that `overwrite` and `erase` have discarded up to the end of the run.
    pub erased_bits: u64,
}

/// Some values of a stack or a tape, and the total number of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRow {
    /// The name: `input tape`, `integer stack`, or `stack trail` for a declared stack.
    pub name: String,
    /// The total number of values.
    pub total: usize,
    /// The values nearest to the end that instructions access: the next values of the input tape, the last values
    /// of the output tape, or the top values of a stack.
    pub next: Vec<String>,
}
