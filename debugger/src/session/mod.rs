//! A debugging session: a program, its timeline, and the user's points, marks and fences. Every command is
//! a method that returns its result; nothing is printed, and no terminal is needed.
//!
//! A front end uses this module and [`crate::view`]. Methods that travel return a [`Motion`], and queries
//! return data of [`crate::outcome`]. A failed method returns a [`SessionError`]. Long runs check the flag of
//! [`Session::interrupt`] every few milliseconds.

mod counts;
mod difference;
mod edit;
mod event;
mod events;
mod footprint;
mod frames;
mod goal;
mod interval;
mod line_counts;
mod points;
mod progress;
mod query;
mod samples;
mod scan;
mod search;
mod store;
mod trace;
mod trail;
mod travel;
mod watching;
mod why;

pub use counts::MOST_COUNTED;
pub use difference::TimePointName;
pub use event::{Event, EventKind};
pub use points::PointOptions;
pub use progress::Progress;
pub use samples::{Sample, SampleRange, Samples};

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reviver_vm::allocation::OutOfMemory;
use reviver_vm::differentiate::DifferentiateError;
use reviver_vm::explain::Explanation;
use reviver_vm::values::ValueError;
use reviver_vm::{Machine, Program, State, Travel};
use thiserror::Error;

use self::event::EventLog;
use self::line_counts::LineCounts;
use crate::expression::{Computed, ConsoleExpression, ExpressionError, Scene};
use crate::format::{self, FormatError, PrintFormat};
use crate::listing::{Listing, OpenedProgram};
use crate::memory::{Cell, Memory, Storage};
use crate::outcome::{Motion, Reason, Touch};
use crate::points::Point;
use crate::timeline::{BranchNumber, LongRuns, TimePoint, Timeline, TimelineLimits};

/// The reason why a command can't be executed.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum SessionError {
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error("there is no `{name}` to stop at")]
    NoPlace { name: String, near: Option<String> },
    #[error("no run stops at `{0}`: main begins there, and every run starts after it")]
    BeforeStart(String),
    #[error("there are no instructions on {0} or after it")]
    NoLine(String),
    #[error("there is no breakpoint or watchpoint {0}")]
    NoPoint(u32),
    #[error("no procedure of the program has a cell `{name}`")]
    NoName { name: String, near: Option<String> },
    #[error("there is no mark `{name}`")]
    NoMark { name: String, near: Option<String> },
    #[error("main has no caller to return to")]
    NoCaller,
    #[error("there is no frame {number}: the outermost frame, that of main, is {outermost}")]
    NoFrame { number: usize, outermost: usize },
    #[error("no call of `{0}` is open")]
    NotOpen(String),
    #[error("this is the outermost frame: main has no caller")]
    OutermostFrame,
    #[error("this is the innermost frame")]
    InnermostFrame,
    #[error("there is no motion to {0}")]
    NoTrail(&'static str),
    #[error("this is the program's own branch, which has no parent branch")]
    TopBranch,
    #[error("there is no branch {0}")]
    NoFork(BranchNumber),
    #[error("this answer belongs to branch {0}: go to that branch with `timeline {0}`")]
    OtherBranch(BranchNumber),
    #[error("the part of the run reached so far has no {} {} this step", wanted.map_or("event", EventKind::name), ahead(*travel))]
    NoEvent { travel: Travel, wanted: Option<EventKind> },
    #[error("there is no fence at this step")]
    NoFence,
    #[error("`{0}` is no array")]
    NoArray(String),
    #[error("`{0}` is a constant here, so it can't be changed")]
    Constant(String),
    #[error("`{text}` is an expression: {command} takes a cell, an array or a slice")]
    NoCells { text: String, command: &'static str },
    #[error("`{0}` is no real cell: the loss of a gradient must be a real cell")]
    NotReal(String),
    #[error(transparent)]
    NoGradient(DifferentiateError),
    #[error("the mode is `gradient` (1) or `values` (0)")]
    NoMode,
    #[error(
        "the mode can't be switched inside a call of a procedure with a derivative rule: leave the call with `finish`"
    )]
    RuledCall,
    #[error("{0} for a copy of the state, which this command needs")]
    NoMemory(#[from] OutOfMemory),
}

impl SessionError {
    /// Returns true if a command was refused because there is nothing further in its direction: no further event,
    /// frame, or motion to undo. Such an error isn't a mistake of the user.
    pub fn is_bound(&self) -> bool {
        use SessionError::{InnermostFrame, NoCaller, NoEvent, NoTrail, OutermostFrame, TopBranch};
        matches!(self, NoCaller | OutermostFrame | InnermostFrame | NoTrail(_) | TopBranch | NoEvent { .. })
    }
}

/// Returns the word for the steps ahead in a message: "after" the current step when travelling forward, "before" it
/// when travelling backward.
fn ahead(travel: Travel) -> &'static str {
    match travel {
        Travel::Forward => "after",
        Travel::Backward => "before",
    }
}

/// A program at a time point of its timeline, with the user's points, marks and fences.
#[derive(Debug)]
pub struct Session {
    listing: Listing,
    memory: Memory,
    timeline: Timeline,
    points: Vec<Point>,
    next_point: u32,
    marks: BTreeMap<String, TimePoint>,
    /// The fences of each branch: steps at which travel stops.
    fences: BTreeMap<BranchNumber, BTreeSet<i64>>,
    /// The time point before each movement, for `undo`. The last movement is last.
    undo: VecDeque<TimePoint>,
    /// The time point before each undo, for `redo`. The last undo is last.
    redo: Vec<TimePoint>,
    events: EventLog,
    /// Maximum distance from step 0 of the timeline, in steps.
    most_steps: u64,
    interrupt: Arc<AtomicBool>,
    /// Number of calls between the innermost frame and the selected one.
    selected: usize,
    progress: Arc<Progress>,
    /// The direction of the last movement.
    facing: Travel,
    /// The reason why the last movement stopped.
    reason: Option<Reason>,
    /// The trap that ended the last movement. The trap is kept if a later search finds nothing and returns to the
    /// same step.
    trap: Option<Box<Explanation>>,
    /// Execution counts of all lines.
    counts: LineCounts,
    /// The effects of the last step, with the time point and the direction of travel for which they are
    /// valid.
    footprint: Option<(TimePoint, Travel, Vec<Touch>)>,
}

impl Session {
    /// Creates a session of a program. `start` is the state at step 0 of the timeline.
    ///
    /// # Errors
    /// There is no memory for the copy of the state that the timeline begins with.
    pub fn new(subject: OpenedProgram, start: State, limits: TimelineLimits) -> Result<Session, OutOfMemory> {
        let OpenedProgram { program, listing, .. } = subject;
        Ok(Session {
            listing,
            memory: Memory::new(program.clone()),
            timeline: Timeline::new(program, start, limits)?,
            points: Vec::new(),
            next_point: 1,
            marks: BTreeMap::new(),
            fences: BTreeMap::new(),
            undo: VecDeque::new(),
            redo: Vec::new(),
            events: EventLog::new(),
            most_steps: u64::MAX,
            interrupt: Arc::default(),
            selected: 0,
            progress: Arc::default(),
            facing: Travel::Forward,
            reason: None,
            trap: None,
            counts: LineCounts::default(),
            footprint: None,
        })
    }

    /// Copies the session. The copy shares the interrupt flag and the progress report.
    ///
    /// # Errors
    /// There is no memory for the states of the copy.
    pub fn try_clone(&self) -> Result<Session, OutOfMemory> {
        Ok(Session {
            listing: self.listing.clone(),
            memory: self.memory.clone(),
            timeline: self.timeline.try_clone()?,
            points: self.points.clone(),
            next_point: self.next_point,
            marks: self.marks.clone(),
            fences: self.fences.clone(),
            undo: self.undo.clone(),
            redo: self.redo.clone(),
            events: self.events.clone(),
            most_steps: self.most_steps,
            interrupt: self.interrupt.clone(),
            selected: self.selected,
            progress: self.progress.clone(),
            facing: self.facing,
            reason: self.reason.clone(),
            trap: self.trap.clone(),
            counts: self.counts.clone(),
            footprint: self.footprint.clone(),
        })
    }

    /// Sets a step limit: the maximum distance from step 0, on every branch and in both directions. Travel
    /// stops at the limit.
    #[must_use]
    pub fn with_most_steps(self, most_steps: u64) -> Session {
        Session { most_steps, ..self }
    }

    /// Sets the engine for long runs, for example native code.
    #[must_use]
    pub fn with_long_runs(mut self, long_runs: &LongRuns) -> Session {
        self.timeline.run_long_by(long_runs);
        self
    }

    /// Creates a session at the beginning of the program. Inputs have their default values.
    ///
    /// # Errors
    /// There is no memory for the cells.
    pub fn at_begin(subject: OpenedProgram) -> Result<Session, OutOfMemory> {
        let machine = Machine::at_begin(subject.program.clone())?;
        Session::new(subject, machine.into_state(), TimelineLimits::default())
    }

    /// Returns the debugged program, with its flow and code.
    pub fn program(&self) -> &Arc<Program> {
        self.memory.program()
    }

    /// Returns the source text of the program.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Returns the names of the program and their cells.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the branches and the current position.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Returns the current state. The state's `step` counts from the origin of the branch.
    pub fn state(&self) -> &State {
        self.timeline.state()
    }

    /// Returns the current step of the timeline.
    pub fn step_number(&self) -> i64 {
        self.timeline.time_point().step
    }

    /// Returns the breakpoints and watchpoints, oldest first.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the marks: names and their time points.
    pub fn marks(&self) -> &BTreeMap<String, TimePoint> {
        &self.marks
    }

    /// Returns the fences of the current branch.
    pub fn fences(&self) -> impl Iterator<Item = i64> + '_ {
        self.fences.get(&self.timeline.time_point().branch).into_iter().flatten().copied()
    }

    /// Returns the direction of the last movement.
    pub fn facing(&self) -> Travel {
        self.facing
    }

    /// Returns the reason why the last movement stopped, or `None` before the first movement.
    pub fn reason(&self) -> Option<&Reason> {
        self.reason.as_ref()
    }

    /// Returns the trap that ended the last movement. Returns `None` if the machine can continue, or after
    /// an edit.
    pub fn trap(&self) -> Option<&Explanation> {
        self.trap.as_deref()
    }

    /// Returns the interrupt flag. Another thread or a signal handler can set it to interrupt a long run. A
    /// movement clears the flag at its beginning and its end.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// Returns the progress of a long run. Another thread can read it during the run.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    /// Returns the scene for evaluating expressions in the selected frame.
    pub fn scene(&self) -> Scene<'_> {
        scene(&self.memory, &self.timeline).at_depth(self.depth())
    }

    /// Evaluates an expression and returns its value, also as text. A format may precede the expression:
    /// `/x a`.
    ///
    /// # Errors
    /// The text is no expression, the expression has no value here, or the format is invalid.
    pub fn evaluate(&self, text: &str) -> Result<(Computed, String), SessionError> {
        let (layout, text) = PrintFormat::split(text)?;
        let scene = self.scene();
        let value = ConsoleExpression::parse(text)?.evaluate(scene)?;
        let spelled = format::bits(layout.format, self.program(), value);
        Ok((value, spelled.unwrap_or_else(|| scene.text(value))))
    }

    /// Returns the cell that a text names in the selected frame.
    ///
    /// # Errors
    /// There is no such cell, or the text is more than the name of a cell.
    pub fn cell(&self, text: &str) -> Result<Cell, SessionError> {
        Ok(ConsoleExpression::parse(text)?.cell(self.scene())?)
    }

    /// Returns the array that a text names in the selected frame, or the adjoints of an array (`A'`).
    ///
    /// # Errors
    /// There is no such array.
    pub fn array(&self, text: &str) -> Result<Storage, SessionError> {
        let array = ConsoleExpression::parse(text)?.array(self.scene())?;
        array.ok_or_else(|| SessionError::NoArray(text.to_owned()))
    }

    /// Returns the cell that a text names in the selected frame, if the cell can be changed. Returns an error for a
    /// parameter to which a constant was passed, because equal constants share one cell.
    pub(super) fn variable(&self, text: &str) -> Result<Cell, SessionError> {
        let cell = self.cell(text)?;
        match self.memory.is_constant(cell) {
            true => Err(SessionError::Constant(text.to_owned())),
            false => Ok(cell),
        }
    }

    /// Returns the code index of the instruction that the next step forward executes. Returns `None` at the end of
    /// the program.
    pub fn next_instruction(&self) -> Option<u32> {
        self.instruction(Travel::Forward)
    }

    /// Returns the code index of the instruction that the next step in a direction executes or undoes. Returns
    /// `None` if the program has no further step in this direction.
    pub fn instruction(&self, travel: Travel) -> Option<u32> {
        instruction_at(self.program(), self.state(), travel)
    }

    /// Records a movement for undo, the timeline bar and the status line.
    fn arrived(&mut self, motion: &Motion) {
        self.facing = motion.travel;
        self.selected = 0;
        self.reason = Some(motion.reason.clone());
        match &motion.reason {
            Reason::Trap(trap) => self.trap = Some(trap.clone()),
            Reason::NoWrite(_) => {}
            _ => self.trap = None,
        }
        self.remember(motion);
        if motion.from != motion.to {
            self.leave(motion.from);
        }
    }
}

/// Returns the code index of the instruction that the next step from a state executes or undoes. Returns `None` if
/// the state is the program's start or end in this direction.
fn instruction_at(program: &Program, state: &State, travel: Travel) -> Option<u32> {
    let node = reviver_vm::stops::Node::of(state, travel);
    let bound = if node.backward { program.begin() } else { program.end() };
    (!state.calls.is_empty() || state.position != bound).then(|| node.instruction())
}

/// Returns the scene of the innermost frame. The function takes two fields instead of the session, so that
/// other fields can be borrowed mutably at the same time.
fn scene<'a>(memory: &'a Memory, timeline: &'a Timeline) -> Scene<'a> {
    let state = timeline.state();
    Scene::new(memory, state, timeline.time_point().step, state.calls.len())
}
