//! A debugging session: a program, its timeline, and what the user has put on it. Every command is a
//! method that returns what came of it; nothing is printed, and no terminal is known.
//!
//! What a front end needs is here and in [`crate::view`]: methods that travel return a [`Motion`],
//! questions return data of [`crate::outcome`], and [`SessionError`] says why something can't be done.
//! Long runs look at the flag of [`Session::interrupt`] every few milliseconds.

mod edit;
mod points;
mod query;
mod scan;
mod store;
mod stretch;
mod travel;

pub use points::PointOptions;
pub use query::Sample;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reviver_isa::instruction::Class;
use reviver_vm::values::ValueError;
use reviver_vm::{Machine, Program, State, Travel};
use thiserror::Error;

use crate::expression::{Computed, Expression, ExpressionError, Scene};
use crate::flow::Flow;
use crate::listing::{Listing, Subject, spell};
use crate::memory::{Cell, Memory};
use crate::outcome::{Motion, Reason, Shown, Touch};
use crate::points::Point;
use crate::timeline::{Limits, LineNumber, Moment, Timeline};

/// Why a command can't be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SessionError {
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error("there is no `{name}` to stop at")]
    NoPlace { name: String, near: Option<String> },
    #[error("there are no instructions on line {0} or behind it")]
    NoLine(u32),
    #[error("there is no breakpoint or watchpoint {0}")]
    NoPoint(u32),
    #[error("no procedure of the program has a cell `{name}`")]
    NoName { name: String, near: Option<String> },
    #[error("there is no mark `{name}`")]
    NoMark { name: String, near: Option<String> },
    #[error("main has no caller to return to")]
    NoCaller,
    #[error("there is nothing to {0}")]
    NoTrail(&'static str),
    #[error("this is the program's own branch: nothing is above it")]
    TopLine,
    #[error("there is no branch {0}")]
    NoFork(LineNumber),
    #[error("there is no fence here")]
    NoFence,
    #[error("a constant can't be watched or set")]
    Constant,
    #[error("`{0}` is no real cell: only those have a gradient")]
    NotReal(String),
    #[error("the mode is 0 or 1")]
    NoMode,
    #[error("inside a call of a procedure with a rule the mode can't be switched")]
    RuledCall,
}

/// A debugging session.
#[derive(Debug)]
pub struct Session {
    listing: Listing,
    memory: Memory,
    flow: Flow,
    timeline: Timeline,
    points: Vec<Point>,
    next_point: u32,
    marks: BTreeMap<String, Moment>,
    /// Steps at which travel stops, of each line of history.
    fences: BTreeMap<LineNumber, BTreeSet<i64>>,
    /// Where one was before each motion, and where one was before it was taken back.
    undo: Vec<Moment>,
    redo: Vec<Moment>,
    events: Events,
    interrupt: Arc<AtomicBool>,
    /// The direction of the last motion.
    facing: Travel,
    /// Why the last motion stopped.
    reason: Option<Reason>,
    /// What the step that led here did.
    footprint: Option<(Moment, Travel, Vec<Touch>)>,
}

/// What happened at a moment, for the scrub bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Point(u32),
    Trap,
}

type Events = BTreeMap<(LineNumber, i64), Event>;

/// Events that are remembered at most.
const MOST_EVENTS: usize = 10_000;

/// Places that undo remembers.
const LONGEST_TRAIL: usize = 1_000;

impl Session {
    /// A session at the state of `machine`, which should be at step 0 of the subject's program.
    pub fn new(subject: Subject, machine: &Machine, limits: Limits) -> Session {
        let Subject { program, listing, .. } = subject;
        Session {
            listing,
            flow: Flow::new(&program),
            memory: Memory::new(program.clone()),
            timeline: Timeline::new(program, machine.state().clone(), limits),
            points: Vec::new(),
            next_point: 1,
            marks: BTreeMap::new(),
            fences: BTreeMap::new(),
            undo: Vec::new(),
            redo: Vec::new(),
            events: Events::new(),
            interrupt: Arc::default(),
            facing: Travel::Forward,
            reason: None,
            footprint: None,
        }
    }

    /// A session at the program's beginning, with the defaults of given cells.
    pub fn at_begin(subject: Subject) -> Session {
        let machine = Machine::at_begin(subject.program.clone());
        Session::new(subject, &machine, Limits::default())
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

    /// The current state. Its `step` counts from where the line of history began.
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

    /// The fences of the current line.
    pub fn fences(&self) -> impl Iterator<Item = i64> + '_ {
        self.fences.get(&self.timeline.moment().line).into_iter().flatten().copied()
    }

    /// What happened on the current line, by steps.
    pub fn events(&self) -> impl Iterator<Item = (i64, &Event)> {
        let line = self.timeline.moment().line;
        self.events.range((line, i64::MIN)..=(line, i64::MAX)).map(|((_, step), event)| (*step, event))
    }

    /// The direction of the last motion.
    pub fn facing(&self) -> Travel {
        self.facing
    }

    /// Why the last motion stopped; none before the first.
    pub fn reason(&self) -> Option<&Reason> {
        self.reason.as_ref()
    }

    /// A flag that stops a long run when it is set, from another thread or a signal handler. A motion
    /// clears it when it begins and when it stops.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// What expressions are evaluated in: the innermost frame.
    pub fn scene(&self) -> Scene<'_> {
        scene(&self.memory, &self.timeline)
    }

    /// The value of an expression, as it is and as text.
    ///
    /// # Errors
    /// No expression, or one without a value here.
    pub fn evaluate(&self, text: &str) -> Result<(Computed, String), SessionError> {
        let scene = self.scene();
        let value = Expression::parse(text)?.evaluate(scene)?;
        Ok((value, scene.text(value)))
    }

    /// The cell that a text names in the innermost frame.
    ///
    /// # Errors
    /// No such cell, or more than a cell.
    pub fn cell(&self, text: &str) -> Result<Cell, SessionError> {
        Ok(Expression::parse(text)?.cell(self.scene())?)
    }

    /// The instruction that the next step forward executes, as an index into the code; none at the end.
    pub fn next_instruction(&self) -> Option<u32> {
        self.instruction(Travel::Forward)
    }

    /// The instruction that the next step in a direction executes or undoes; none at the bound.
    pub fn instruction(&self, travel: Travel) -> Option<u32> {
        let state = self.state();
        let node = crate::flow::Node::of(state, travel);
        let program = self.program();
        let bound = if node.backward { program.begin() } else { program.end() };
        (!state.calls.is_empty() || state.position != bound).then(|| node.instruction())
    }

    /// What a `show` says: the name of what it shows, and the value.
    fn shown(&self, at: u32, class: Class, bits: u64) -> Shown {
        use reviver_vm::values::Value;
        let value = if class == Class::Int { Value::Int(bits as i64) } else { Value::Real(bits) };
        let text = spell(self.program(), at, false);
        let name = text.split_once(' ').map_or(text.as_str(), |(_, operand)| operand).to_owned();
        Shown { name, value: self.program().text(value), class }
    }

    /// Remembers a motion for undo, the scrub bar and the status line.
    fn arrived(&mut self, motion: &Motion) {
        self.facing = motion.travel;
        self.reason = Some(motion.reason.clone());
        let event = match &motion.reason {
            Reason::Points(hits) => hits.first().map(|hit| Event::Point(hit.id)),
            Reason::Trap(_) => Some(Event::Trap),
            _ => None,
        };
        if let Some(event) = event
            && self.events.len() < MOST_EVENTS
        {
            self.events.insert((motion.to.line, motion.to.step), event);
        }
        if motion.from != motion.to {
            self.leave(motion.from);
        }
    }

    /// Remembers a moment that was left, for undo.
    fn leave(&mut self, from: Moment) {
        self.redo.clear();
        if self.undo.len() == LONGEST_TRAIL {
            self.undo.remove(0);
        }
        self.undo.push(from);
    }
}

/// The innermost frame of the current state. A function of the fields that it reads, so that others can
/// be changed meanwhile.
fn scene<'a>(memory: &'a Memory, timeline: &'a Timeline) -> Scene<'a> {
    let state = timeline.state();
    Scene { memory, state, step: timeline.moment().step, depth: state.calls.len() }
}
