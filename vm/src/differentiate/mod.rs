//! Reverse-mode differentiation: runs the primal sweep forward to the turning point, switches gradient mode on, seeds
//! the adjoints of results (1 for a loss), runs the reverse sweep, and reads the inputs' adjoints. The turning point is
//! the end of the program, or the start of a last `uncompute`. For second derivatives, the same pass is executed over
//! dual numbers. Higher derivatives need only a forward run over truncated Taylor series, unless a rule replaces an
//! adjoint. This module identifies cells by their addresses, and prints nothing.
//!
//! The method is that of Liu & Zhao, "Differentiate Everything with a Reversible Domain-Specific Language" (2020). The
//! method needs no tape, because the inverse program recomputes the intermediate values.

pub mod check;
pub mod divergence;
pub mod evidence;
pub mod group;
pub mod matrices;
mod origin;
pub mod pass;
mod ruled_series;
pub mod seeds;
pub mod series_call;
mod series_run;
pub mod series_state;
mod shows;
pub mod suspended;
mod turning;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reviver_flow::IndependentCells;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Role, Shape};
use thiserror::Error;

use crate::allocation::{self, OutOfMemory};
use crate::explain::Explanation;
use crate::level::CheckLevel;
use crate::machine::Runner;
use crate::program::Program;
use crate::reports::Reports;
use crate::shown::NotShown;
use crate::state::State;
use crate::state::values::plural;
use crate::strategy::{MEMORY, Retention, Strategy, discards_information};

pub use divergence::Divergence;
pub use origin::Origin;
pub use pass::Gradient;
pub use seeds::SeededCell;
pub use shows::Shows;
pub use suspended::{gradient, seeded_gradient};
pub use turning::{early_turn, early_uncomputes};

/// Program at a start state that is to be differentiated.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Verified program. Sweeps share it without a copy.
    pub program: Arc<Program>,
    /// Initial state, with all inputs set and gradient mode off.
    pub start: Arc<State>,
    /// True to record the bits that floats lose, so that the reverse sweep passes through exactly the same values.
    /// Programs that overwrite or erase values need this record, too.
    pub exact: bool,
    /// History kept for an exact reverse sweep. If the field is `None`, `exact` decides. If `exact` is true, the
    /// residues of all steps are kept, without a bound on memory. Otherwise no history is kept.
    pub retention: Option<Retention>,
    /// Maximum size in bytes of the history with which a diverged reverse sweep is repeated. If a history would be
    /// larger, the run keeps snapshots instead.
    pub recompute_memory: u64,
    /// True to run the primal sweep to the end of the program. If false, the primal sweep ends earlier if the last
    /// steps of the program only undo computations.
    pub whole: bool,
    /// Upper bound on the steps of each sweep.
    pub max_steps: u64,
    /// Flag by which another thread requests a stop.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Execution engine; `None` means the interpreter.
    pub runner: Option<Arc<dyn Runner>>,
    /// Number of threads for tasks, at least one.
    pub threads: u32,
    /// Check level: decides whether reverse sweeps without a history are watched and verified.
    pub level: CheckLevel,
    /// Receiver of the values that `show` shows in the sweeps of one derivative; if it is `None`, nothing is shown.
    pub shows: Option<Arc<Shows>>,
}

/// Verification report: how far derivatives can be trusted.
#[derive(Clone, Debug)]
pub struct VerificationReport {
    /// Events of all passes in which derivative information was lost, so that the derivatives may be wrong.
    pub reports: Reports,
    /// Reason why reverse sweeps were repeated with a history, if they were. Derivatives from a repeated sweep are
    /// exact.
    pub recomputed: Option<Divergence>,
    /// Bound on the error of the loss (or seeded sum) that an inexact reverse sweep causes. To first order it is the
    /// sum of |difference · adjoint| over all recomputed values. Of several passes, this is the largest bound. The
    /// bound is 0 if the reverse sweep is exact, and `None` if the sweep wasn't verified.
    pub loss_error: Option<f64>,
}

impl Default for VerificationReport {
    fn default() -> VerificationReport {
        VerificationReport { reports: Reports::default(), recomputed: None, loss_error: Some(0.0) }
    }
}

impl VerificationReport {
    fn add(&mut self, reports: &Reports, loss_error: Option<f64>) {
        self.reports.absorb(reports);
        self.loss_error = self.loss_error.zip(loss_error).map(|(known, other)| known.max(other));
    }
}

/// Real variable of the program's interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Index of the global in the module's list of globals.
    pub global: usize,
    /// Index of the element within the global, in row-major order; 0 for a scalar.
    pub element: usize,
    /// Location of the variable in the start state.
    pub origin: Origin,
}

/// Reason why a program can't be differentiated.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum DifferentiateError {
    #[error(
        "the program switches gradient mode itself: `reviver grad` differentiates its text, in which it replaces these gradients by statements"
    )]
    SwitchesMode,
    #[error(
        "the program reads `mode`, which is 0 in the forward sweep and 1 in the reverse sweep: to differentiate it, remove `mode`"
    )]
    ReadsMode,
    #[error(
        "the Hessian is not symmetric: the derivative rule of some procedure is not the derivative of a function"
    )]
    Asymmetric,
    #[error("`{name}` is an integer: only reals have a gradient")]
    NotReal { name: String },
    #[error(
        "`{name}` is a stack, whose values have no fixed cells: copy the value to a cell, and name that cell"
    )]
    OnStack { name: String },
    #[error("the {} run trapped: {}", if *.backward { "backward" } else { "forward" }, .explanation.message)]
    Trap { backward: bool, explanation: Box<Explanation> },
    #[error("the reverse sweep does not reach the start, although it loses nothing: {why}")]
    NotRestored { why: Box<Divergence> },
    #[error("the reverse sweep has to be repeated with a history, which takes more than {bytes} byte{}", plural(*bytes, "", "s"))]
    HistoryFull { bytes: u64 },
    #[error("the strategy `{strategy}` takes more than {bytes} byte{} in this run", plural(*bytes, "", "s"))]
    MemoryFull { strategy: &'static str, bytes: u64 },
    #[error("stopped after {steps} step{}, before the {}", plural(*steps, "", "s"), if *.backward { "beginning" } else { "end" })]
    StepLimit { backward: bool, steps: u64 },
    #[error("{0} for the copies of the state that derivatives are computed from")]
    NoMemory(#[from] OutOfMemory),
    #[error("the gradient can't be continued from this state: {why}")]
    NotResumed { why: &'static str },
    #[error("a value that `show` prints can't be written to the output")]
    NotShown,
    /// `step` is the step number of the state at which the sweep stopped.
    #[error("stopped at step {step} of the {} sweep", if *.backward { "reverse" } else { "primal" })]
    Interrupted { backward: bool, step: i64 },
}

impl From<NotShown> for DifferentiateError {
    fn from(_: NotShown) -> DifferentiateError {
        DifferentiateError::NotShown
    }
}

/// Returns the independent variables: the cells, stacks and tapes with respect to which a program is differentiated.
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
    /// Creates a subject with default options: checked, one thread, no history unless `exact`.
    ///
    /// # Errors
    /// The program switches gradient mode itself, so the meaning of its adjoints is unknown. Or the program reads the
    /// mode, so that the reverse sweep would compute other values.
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
        let recompute_memory = MEMORY;
        Ok(Subject {
            program,
            start,
            exact,
            retention,
            recompute_memory,
            whole,
            max_steps,
            interrupt,
            runner,
            threads,
            level,
            shows: None,
        })
    }

    /// Selects the strategy `auto` if the program discards information, the level is `checked`, and no other history is
    /// kept.
    #[must_use]
    pub fn with_strategy_where_needed(self) -> Subject {
        let is_free = !self.exact && self.retention.is_none() && self.level.is_checked();
        if !is_free || !discards_information(self.program.module()) {
            return self;
        }
        Subject { exact: true, retention: Some(Retention { strategy: Strategy::Auto, memory: None }), ..self }
    }

    /// Returns the subject with another version of its program.
    fn with_program(&self, program: Program) -> Subject {
        Subject { program: Arc::new(program), ..self.clone() }
    }

    /// Returns the subject, prepared for a seeded sum. The independent variables are those of an earlier preparation,
    /// or else all numbers at the start. Cells with the seed 0 are left out of the sum.
    #[must_use]
    pub fn for_seeds(&self, seeds: &[SeededCell]) -> Subject {
        self.with_program(self.program.for_losses(Some(&self.summands(seeds))))
    }

    /// Returns the subject, prepared as by [`Subject::prepared`] for a seeded sum.
    #[must_use]
    pub fn prepared_for_seeds(&self, seeds: &[SeededCell], by: &[Variable], by_tape: bool) -> Subject {
        let independent = independent(by, by_tape);
        self.with_program(self.program.differentiated_by(&independent, Some(&self.summands(seeds))))
    }

    /// Returns the cells with seeds other than 0.
    fn summands(&self, seeds: &[SeededCell]) -> Vec<usize> {
        let summands = seeds.iter().filter(|seed| seed.weight(&self.program) != 0.0);
        summands.map(|seed| seed.cell).collect()
    }

    /// Returns the subject, prepared for some losses with respect to some variables, and to the input tape if `by_tape`
    /// is true. No adjoints are propagated to cells that don't depend on these variables. So a derivative that isn't
    /// needed may be undefined without an error.
    #[must_use]
    pub fn prepared(&self, losses: &[Variable], by: &[Variable], by_tape: bool) -> Subject {
        let independent = independent(by, by_tape);
        let losses: Vec<usize> = losses.iter().filter_map(|loss| self.cell(loss).ok()).collect();
        self.with_program(self.program.differentiated_by(&independent, Some(&losses)))
    }

    /// Returns the subject with the interpreter as its engine, and with all checks.
    #[must_use]
    pub fn checked(&self) -> Subject {
        Subject { runner: None, level: CheckLevel::Checked, ..self.clone() }
    }

    /// Returns the subject without a receiver of shown values.
    #[must_use]
    pub fn without_shows(&self) -> Subject {
        Subject { shows: None, ..self.clone() }
    }

    /// Returns the subject with another start state.
    pub(crate) fn at(&self, start: State) -> Subject {
        Subject { start: Arc::new(start), ..self.clone() }
    }

    /// Returns the cells of a global, or the values on its stack.
    ///
    /// # Errors
    /// The global has integers, or memory for the list is refused.
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
        let mut variables = allocation::with_capacity(count)?;
        let variable = |element| Variable { global, element, origin: origins(first + element) };
        variables.extend((0..count).map(variable));
        Ok(variables)
    }

    /// Returns the cell that holds a variable at the end.
    ///
    /// # Errors
    /// The variable is a value on a stack, which is not a cell.
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

    /// Returns all real inputs.
    pub fn inputs(&self) -> Vec<Variable> {
        self.reals(Role::is_given)
    }

    /// Returns all real results that are cells.
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

    /// Returns the name of a variable, such as `x` or `A[3]`.
    pub fn name(&self, variable: &Variable) -> String {
        self.program.cell_name(variable.global, variable.element)
    }
}
