//! A debugging session: a program, its timeline, and what the user has put on it. Every command is a
//! method that returns what came of it; nothing is printed, and no terminal is known.
//!
//! What a front end needs is here and in [`crate::view`]: methods that travel return a [`Motion`],
//! questions return data of [`crate::outcome`], and [`SessionError`] says why something can't be done.
//! Long runs look at the flag of [`Session::interrupt`] every few milliseconds.

mod counts;
mod difference;
mod edit;
mod event;
mod events;
mod footprint;
mod frames;
mod goal;
mod line_counts;
mod points;
mod progress;
mod query;
mod samples;
mod scan;
mod search;
mod store;
mod stretch;
mod trace;
mod trail;
mod travel;
mod watching;
mod why;

pub use counts::MOST_COUNTED;
pub use difference::MomentName;
pub use event::{Event, EventKind};
pub use points::PointOptions;
pub use progress::Progress;
pub use samples::{Sample, SampleRange, Samples};

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reviver_vm::differentiate::DifferentiateError;
use reviver_vm::explain::Explanation;
use reviver_vm::room::OutOfMemory;
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
use crate::timeline::{BranchNumber, LongRuns, Moment, Timeline, TimelineLimits};

/// Why a command can't be carried out.
#[derive(Clone, Debug, PartialEq, Error)]
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
    #[error("there are no instructions on {0} or behind it")]
    NoLine(String),
    #[error("there is no breakpoint or watchpoint {0}")]
    NoPoint(u32),
    #[error("no procedure of the program has a cell `{name}`")]
    NoName { name: String, near: Option<String> },
    #[error("there is no mark `{name}`")]
    NoMark { name: String, near: Option<String> },
    #[error("main has no caller to return to")]
    NoCaller,
    #[error("there is no frame {number}: the outermost, main's, is {outermost}")]
    NoFrame { number: usize, outermost: usize },
    #[error("no call of `{0}` is open")]
    NotOpen(String),
    #[error("this is the outermost frame: nothing called main")]
    OutermostFrame,
    #[error("this is the innermost frame")]
    InnermostFrame,
    #[error("there is nothing to {0}")]
    NoTrail(&'static str),
    #[error("this is the program's own branch: nothing is above it")]
    TopBranch,
    #[error("there is no branch {0}")]
    NoFork(BranchNumber),
    #[error("that was asked on branch {0}: `timeline {0}` leads there")]
    OtherBranch(BranchNumber),
    #[error("there is no {} {} this step among those that were reached", wanted.map_or("event", EventKind::name), ahead(*travel))]
    NoEvent { travel: Travel, wanted: Option<EventKind> },
    #[error("there is no fence here")]
    NoFence,
    #[error("`{0}` is no array")]
    NoArray(String),
    #[error("`{0}` stands for a constant here, which nothing can change")]
    Constant(String),
    #[error("`{text}` is an expression: {command} takes a cell, an array or a slice")]
    NoCells { text: String, command: &'static str },
    #[error("`{0}` is no real cell: only those have a gradient")]
    NotReal(String),
    #[error(transparent)]
    NoGradient(DifferentiateError),
    #[error("the mode is `gradient` or `values`, that is 1 or 0")]
    NoMode,
    #[error("inside a call of a procedure with a rule the mode can't be switched")]
    RuledCall,
    #[error("{0} for a copy of the state, which this takes")]
    NoMemory(#[from] OutOfMemory),
}

impl SessionError {
    /// Whether it says no more than that there is nothing further on: no mistake of the user's.
    pub fn is_bound(&self) -> bool {
        use SessionError::{InnermostFrame, NoCaller, NoEvent, NoTrail, OutermostFrame, TopBranch};
        matches!(self, NoCaller | OutermostFrame | InnermostFrame | NoTrail(_) | TopBranch | NoEvent { .. })
    }
}

/// Which side of the present lies in a direction.
fn ahead(travel: Travel) -> &'static str {
    match travel {
        Travel::Forward => "after",
        Travel::Backward => "before",
    }
}

/// A program at a moment of its timeline, with the points, marks and fences that the user has put there.
#[derive(Debug)]
pub struct Session {
    listing: Listing,
    memory: Memory,
    timeline: Timeline,
    points: Vec<Point>,
    next_point: u32,
    marks: BTreeMap<String, Moment>,
    /// Steps at which travel stops, of each branch.
    fences: BTreeMap<BranchNumber, BTreeSet<i64>>,
    /// Where one was before each motion, and where one was before it was taken back.
    undo: VecDeque<Moment>,
    redo: Vec<Moment>,
    events: EventLog,
    /// Nobody goes further than so many steps from step 0.
    most_steps: u64,
    interrupt: Arc<AtomicBool>,
    /// Calls between the innermost frame and the selected one.
    selected: usize,
    progress: Arc<Progress>,
    /// The direction of the last motion.
    facing: Travel,
    /// Why the last motion stopped.
    reason: Option<Reason>,
    /// The trap that ended the last motion. A search without a result keeps it.
    trap: Option<Box<Explanation>>,
    /// How often each line was executed.
    counts: LineCounts,
    /// What the step that led here did.
    footprint: Option<(Moment, Travel, Vec<Touch>)>,
}

impl Session {
    /// A session at a state, which should be at step 0 of the subject's program.
    ///
    /// # Errors
    /// There is no memory for the copy that one goes back to.
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

    /// A copy, which shares the interrupt flag and tells its progress to the same listener.
    ///
    /// # Errors
    /// There is no memory for its states.
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

    /// The session, with a step limit: nobody travels further than so many steps from step 0, on any branch
    /// and in either direction. What would lead further stops there.
    #[must_use]
    pub fn with_most_steps(self, most_steps: u64) -> Session {
        Session { most_steps, ..self }
    }

    /// The session, with somebody else than the interpreter who makes the steps of long runs: native code, say.
    #[must_use]
    pub fn with_long_runs(mut self, long_runs: &LongRuns) -> Session {
        self.timeline.run_long_by(long_runs);
        self
    }

    /// A session at the program's beginning, with the defaults of given cells.
    ///
    /// # Errors
    /// There is no memory for its cells.
    pub fn at_begin(subject: OpenedProgram) -> Result<Session, OutOfMemory> {
        let machine = Machine::at_begin(subject.program.clone())?;
        Session::new(subject, machine.into_state(), TimelineLimits::default())
    }

    pub fn program(&self) -> &Arc<Program> {
        self.memory.program()
    }

    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The current state. Its `step` counts from where the branch began.
    pub fn state(&self) -> &State {
        self.timeline.state()
    }

    /// The current step of the timeline.
    pub fn step_number(&self) -> i64 {
        self.timeline.moment().step
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    pub fn marks(&self) -> &BTreeMap<String, Moment> {
        &self.marks
    }

    /// The fences of the current branch.
    pub fn fences(&self) -> impl Iterator<Item = i64> + '_ {
        self.fences.get(&self.timeline.moment().branch).into_iter().flatten().copied()
    }

    /// The direction of the last motion.
    pub fn facing(&self) -> Travel {
        self.facing
    }

    /// Why the last motion stopped; none before the first.
    pub fn reason(&self) -> Option<&Reason> {
        self.reason.as_ref()
    }

    /// The trap that ended the last motion; `None` if the machine can go on, or after an edit.
    pub fn trap(&self) -> Option<&Explanation> {
        self.trap.as_deref()
    }

    /// A flag that stops a long run when it is set, from another thread or a signal handler. A motion
    /// clears it when it begins and when it stops.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// Where a long run is, for another thread to look at.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    /// What expressions are evaluated in: the selected frame.
    pub fn scene(&self) -> Scene<'_> {
        scene(&self.memory, &self.timeline).at_depth(self.depth())
    }

    /// The value of an expression, as it is and as text. The expression may follow a format: `/x a`.
    ///
    /// # Errors
    /// No expression, or one without a value here; no format.
    pub fn evaluate(&self, text: &str) -> Result<(Computed, String), SessionError> {
        let (layout, text) = PrintFormat::split(text)?;
        let scene = self.scene();
        let value = ConsoleExpression::parse(text)?.evaluate(scene)?;
        let spelled = format::bits(layout.format, self.program(), value);
        Ok((value, spelled.unwrap_or_else(|| scene.text(value))))
    }

    /// The cell that a text names in the selected frame.
    ///
    /// # Errors
    /// No such cell, or more than a cell.
    pub fn cell(&self, text: &str) -> Result<Cell, SessionError> {
        Ok(ConsoleExpression::parse(text)?.cell(self.scene())?)
    }

    /// The array, or the adjoints of one, that a text names in the selected frame.
    ///
    /// # Errors
    /// No such array.
    pub fn array(&self, text: &str) -> Result<Storage, SessionError> {
        let array = ConsoleExpression::parse(text)?.array(self.scene())?;
        array.ok_or_else(|| SessionError::NoArray(text.to_owned()))
    }

    /// The cell that a text names in the selected frame, unless it is a constant that a call was given: all
    /// that use it share it.
    pub(super) fn variable(&self, text: &str) -> Result<Cell, SessionError> {
        let cell = self.cell(text)?;
        match self.memory.is_constant(cell) {
            true => Err(SessionError::Constant(text.to_owned())),
            false => Ok(cell),
        }
    }

    /// The instruction that the next step forward executes, as an index into the code; none at the end.
    pub fn next_instruction(&self) -> Option<u32> {
        self.instruction(Travel::Forward)
    }

    /// The instruction that the next step in a direction executes or undoes; none at the bound.
    pub fn instruction(&self, travel: Travel) -> Option<u32> {
        instruction_at(self.program(), self.state(), travel)
    }

    /// Remembers a motion for undo, the scrub bar and the status line.
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

/// The instruction that the step from a state executes or undoes; none at the bound.
fn instruction_at(program: &Program, state: &State, travel: Travel) -> Option<u32> {
    let node = reviver_vm::stops::Node::of(state, travel);
    let bound = if node.backward { program.begin() } else { program.end() };
    (!state.calls.is_empty() || state.position != bound).then(|| node.instruction())
}

/// The innermost frame of the current state. A function of the fields that it reads, so that others can
/// be changed meanwhile.
fn scene<'a>(memory: &'a Memory, timeline: &'a Timeline) -> Scene<'a> {
    let state = timeline.state();
    Scene::new(memory, state, timeline.moment().step, state.calls.len())
}
