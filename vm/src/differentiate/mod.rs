//! The driver of gradient mode: run forward, to the end or to a last `uncompute`, switch on, seed the
//! adjoints of results (a loss with 1), run backward, read the inputs' adjoints. Second order is the same pass over dual numbers, higher order a forward run
//! over truncated Taylor series. Knows cells by their addresses; prints nothing.
//!
//! The method is that of Liu & Zhao, "Differentiate Everything with a Reversible Domain-Specific
//! Language" (2020): no tape, because the inverse program finds the intermediate values again.

pub mod astray;
pub mod check;
pub mod evidence;
pub mod group;
pub mod lift;
pub mod matrices;
pub mod pass;
pub mod seeds;
mod shows;
mod turning;
pub mod underway;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reviver_flow::IndependentCells;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Role, Shape};
use thiserror::Error;

use crate::explain::Explanation;
use crate::level::CheckLevel;
use crate::machine::Runner;
use crate::program::Program;
use crate::reports::Reports;
use crate::room::{self, OutOfMemory};
use crate::shown::NotShown;
use crate::state::State;
use crate::state::values::plural;
use crate::strategy::{MEMORY, Retention, Strategy, discards_information};

pub use astray::Astray;
pub use matrices::Origin;
pub use pass::Gradient;
pub use seeds::SeededCell;
pub use shows::Shows;
pub use turning::early_turn;
pub use underway::{gradient, seeded_gradient};

/// What is differentiated: a program at a start.
#[derive(Clone, Debug)]
pub struct Subject {
    pub program: Arc<Program>,
    /// At the beginning, with all inputs given and gradient mode off.
    pub start: Arc<State>,
    /// Keep what floats lose, so that the way back leads through the very same values; needed too where
    /// the program overwrites or erases.
    pub exact: bool,
    /// What is kept for an exact way back, if it isn't what steps lose, of any size.
    pub retention: Option<Retention>,
    /// Bound on the history that a diverged reverse sweep is repeated with, in bytes. Beyond it, snapshots are kept.
    pub mending_memory: u64,
    /// Run to the end, also where that only undoes what was computed for the loss.
    pub whole: bool,
    /// The most steps that one direction may take.
    pub max_steps: u64,
    /// Set by somebody who wants to stop.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Who makes the steps; the interpreter if nobody else does.
    pub runner: Option<Arc<dyn Runner>>,
    /// How many threads make tasks at the same time, at least one.
    pub threads: u32,
    /// Whether ways back without a history are watched and judged.
    pub level: CheckLevel,
    /// Receives what `show` shows, of one derivative; without it nothing is shown.
    pub shows: Option<Arc<Shows>>,
}

/// How far derivatives can be trusted.
#[derive(Clone, Debug)]
pub struct Trust {
    /// What was lost in a way that may make them wrong, in all passes together.
    pub reports: Reports,
    /// Why the ways back were made again with a history, where they were: then they are exact.
    pub mended: Option<Astray>,
    /// By how much the loss (or seeded sum) of a way back may differ from that of the way there, to first order: the
    /// differences of all values that the way back found again, times their adjoints. The greatest of all
    /// passes; 0 where the way back is exact. None where somebody wanted no judgement: then nobody knows whether the way back was
    /// the way there.
    pub loss_error: Option<f64>,
}

impl Default for Trust {
    fn default() -> Trust {
        Trust { reports: Reports::default(), mended: None, loss_error: Some(0.0) }
    }
}

impl Trust {
    fn add(&mut self, reports: &Reports, loss_error: Option<f64>) {
        self.reports.absorb(reports);
        self.loss_error = self.loss_error.zip(loss_error).map(|(known, other)| known.max(other));
    }
}

/// A real of the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Number of the global, and of its element.
    pub global: usize,
    pub element: usize,
    /// Where it lies at the start.
    pub origin: Origin,
}

/// Why something can't be differentiated.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DifferentiateError {
    #[error("the program switches gradient mode itself, so it can't be differentiated from outside")]
    SwitchesMode,
    #[error("the program reads gradient mode, which is off on the way there and on on the way back")]
    ReadsMode,
    #[error(
        "the program calls a procedure with a rule, which only a sweep backward follows, and a Taylor series is found by a sweep forward"
    )]
    Ruled,
    #[error(
        "the second derivatives depend on the order in which they are taken: the rule of a procedure is no derivative of any function"
    )]
    Asymmetric,
    #[error("`{name}` is an integer: only reals have a gradient")]
    NotReal { name: String },
    #[error("`{name}` is a stack: what lies on it at the end has no place that is known before the run")]
    OnStack { name: String },
    #[error("the {} run trapped: {}", if *.backward { "backward" } else { "forward" }, .explanation.message)]
    Trap { backward: bool, explanation: Box<Explanation> },
    #[error("the way back does not lead to the start, although nothing is lost on it: {why}")]
    NotRestored { why: Box<Astray> },
    #[error("the way back has to be made again with a history, which takes more than {bytes} byte{}", plural(*bytes, "", "s"))]
    HistoryFull { bytes: u64 },
    #[error("the strategy `{strategy}` takes more than {bytes} byte{} here", plural(*bytes, "", "s"))]
    MemoryFull { strategy: &'static str, bytes: u64 },
    #[error("stopped after {steps} step{}, before the {}", plural(*steps, "", "s"), if *.backward { "beginning" } else { "end" })]
    StepLimit { backward: bool, steps: u64 },
    #[error("{0} for the copies of the state that derivatives are computed from")]
    NoMemory(#[from] OutOfMemory),
    #[error("the gradient can't be gone on with from this state: {why}")]
    NotResumed { why: &'static str },
    #[error("a value that `show` shows can't be passed on")]
    NotShown,
    /// At a step of the way there, or of the way back.
    #[error("stopped at step {step} of the way {}", if *.backward { "back" } else { "there" })]
    Interrupted { backward: bool, step: i64 },
}

impl From<NotShown> for DifferentiateError {
    fn from(_: NotShown) -> DifferentiateError {
        DifferentiateError::NotShown
    }
}

/// What derivatives are with respect to.
fn independent(by: &[Variable], by_tape: bool) -> IndependentCells {
    let mut independent = IndependentCells { on_tape: by_tape, ..IndependentCells::default() };
    for variable in by {
        match variable.origin {
            Origin::Cell(cell) => match independent.cells.last_mut() {
                Some(last) if last.end == cell as u32 => last.end += 1,
                _ => independent.cells.push(cell as u32..cell as u32 + 1),
            },
            Origin::Stack(_) => independent.on_stack = true,
            Origin::Tape(_) => independent.on_tape = true,
        }
    }
    independent
}

impl Subject {
    /// A program at a start.
    ///
    /// # Errors
    /// A program that switches gradient mode itself: what its adjoints mean is its own business. And one
    /// that reads the mode: it would not find the same values on the way back.
    pub fn new(
        program: Arc<Program>,
        start: State,
        exact: bool,
        max_steps: u64,
    ) -> Result<Subject, DifferentiateError> {
        if program.switches_mode() {
            return Err(DifferentiateError::SwitchesMode);
        }
        if program.reads_mode() {
            return Err(DifferentiateError::ReadsMode);
        }
        let (retention, whole, interrupt, runner) = (None, false, None, None);
        let (threads, level) = (1, CheckLevel::Checked);
        let start = Arc::new(start);
        let mending_memory = MEMORY;
        Ok(Subject {
            program,
            start,
            exact,
            retention,
            mending_memory,
            whole,
            max_steps,
            interrupt,
            runner,
            threads,
            level,
            shows: None,
        })
    }

    /// Selects the strategy `auto` if the program discards information and no other history is kept.
    #[must_use]
    pub fn with_strategy_where_needed(self) -> Subject {
        let is_free = !self.exact && self.retention.is_none() && self.level.is_checked();
        if !is_free || !discards_information(self.program.module()) {
            return self;
        }
        Subject { exact: true, retention: Some(Retention { strategy: Strategy::Auto, memory: None }), ..self }
    }

    /// The same for another version of its program.
    fn with_program(&self, program: Program) -> Subject {
        Subject { program: Arc::new(program), ..self.clone() }
    }

    /// The same, prepared for the seeded sum: with respect to what it is prepared for, or else to every number at the start. A cell
    /// whose seed is 0 is no part of the sum.
    #[must_use]
    pub fn for_seeds(&self, seeds: &[SeededCell]) -> Subject {
        self.with_program(self.program.for_losses(Some(&self.summands(seeds))))
    }

    /// The same, prepared as [`Subject::prepared`] says, for the seeded sum.
    #[must_use]
    pub fn prepared_for_seeds(&self, seeds: &[SeededCell], by: &[Variable], by_tape: bool) -> Subject {
        let independent = independent(by, by_tape);
        self.with_program(self.program.differentiated_by(&independent, Some(&self.summands(seeds))))
    }

    /// The cells whose seeds aren't 0.
    fn summands(&self, seeds: &[SeededCell]) -> Vec<usize> {
        let summands = seeds.iter().filter(|seed| seed.weight(&self.program) != 0.0);
        summands.map(|seed| seed.cell).collect()
    }

    /// The same, prepared for some losses with respect to some variables, and to what is on the input tape if `by_tape` holds. Nothing
    /// is carried to what doesn't depend on these, so that derivatives which aren't asked for need not exist.
    #[must_use]
    pub fn prepared(&self, losses: &[Variable], by: &[Variable], by_tape: bool) -> Subject {
        let independent = independent(by, by_tape);
        let losses: Vec<usize> = losses.iter().filter_map(|loss| self.cell(loss).ok()).collect();
        self.with_program(self.program.differentiated_by(&independent, Some(&losses)))
    }

    /// The same, with everything checked: the interpreter makes the steps.
    #[must_use]
    pub fn checked(&self) -> Subject {
        Subject { runner: None, level: CheckLevel::Checked, ..self.clone() }
    }

    /// The same, which shows nothing.
    #[must_use]
    pub fn silent(&self) -> Subject {
        Subject { shows: None, ..self.clone() }
    }

    /// The same at another start.
    pub(crate) fn at(&self, start: State) -> Subject {
        Subject { start: Arc::new(start), ..self.clone() }
    }

    /// The cells of a global, or the values that lie on the stack which it names.
    ///
    /// # Errors
    /// A global of integers; no memory for the list.
    pub fn variables(&self, global: usize) -> Result<Vec<Variable>, DifferentiateError> {
        let Some(declared) = self.program.module().globals.get(global) else { return Ok(Vec::new()) };
        if declared.class == Class::Int {
            return Err(DifferentiateError::NotReal { name: declared.name.clone() });
        }
        let origins: fn(usize) -> Origin = match declared.shape {
            Shape::Stack => Origin::Stack,
            _ => Origin::Cell,
        };
        let (first, count) = (self.program.cells(global).start, self.program.count(&self.start, global));
        let first = if declared.shape == Shape::Stack { 0 } else { first };
        let mut variables = room::with_capacity(count)?;
        let variable = |element| Variable { global, element, origin: origins(first + element) };
        variables.extend((0..count).map(variable));
        Ok(variables)
    }

    /// The cell that holds a variable at the end.
    ///
    /// # Errors
    /// A value of a stack, which is no cell.
    pub fn cell(&self, variable: &Variable) -> Result<usize, DifferentiateError> {
        match variable.origin {
            Origin::Cell(cell) => Ok(cell),
            Origin::Stack(_) | Origin::Tape(_) => {
                let global = self.program.module().globals.get(variable.global);
                let name = global.map(|global| global.name.clone()).unwrap_or_default();
                Err(DifferentiateError::OnStack { name })
            }
        }
    }

    /// All real inputs.
    pub fn inputs(&self) -> Vec<Variable> {
        self.reals(Role::is_given)
    }

    /// All real results that are cells.
    pub fn outputs(&self) -> Vec<Variable> {
        let mut outputs = self.reals(|role| matches!(role, Role::Out | Role::InOut));
        outputs.retain(|output| matches!(output.origin, Origin::Cell(_)));
        outputs
    }

    fn reals(&self, wanted: impl Fn(Role) -> bool) -> Vec<Variable> {
        let globals = self.program.module().globals.iter().enumerate();
        let wanted = globals.filter(|(_, global)| global.class == Class::Real && wanted(global.role));
        wanted.flat_map(|(n, _)| self.variables(n).unwrap_or_default()).collect()
    }

    /// The name of a variable: `x`, `A[3]`.
    pub fn name(&self, variable: &Variable) -> String {
        self.program.cell_name(variable.global, variable.element)
    }
}
