//! The call function: one SSA function from the start of a program to the results of a call. The call function of a
//! gradient has these parts; the call function of a run ends at the turning point.
//!
//! ```text
//! entry     variables are loaded from the start
//! primal    program start → turning point
//! turn      the adjoints of the seeded cells are loaded; all others are 0
//! reverse   turning point → program start, with adjoints
//! verify    integers must equal those of the start; rounding must explain all differences of reals
//! end       the adjoints of the program's reals are stored
//! ```
//!
//! The sweeps are built separately ([`crate::build()`]) and joined at the *turning point*, where the primal sweep ends.
//! Cells that no computed address reaches are SSA values from the start to the end, so the passes optimize both sweeps
//! together. *Working memory* holds the other cells that code changes. If a check fails, or the function leaves by an
//! exit other than its end, a machine must execute the call.

mod compiled_call;
mod finite;
mod join;
mod memory;
mod promote;
pub mod region;
mod series;
pub mod value_sources;
mod verify;

pub(crate) use compiled_call::renew;
pub use compiled_call::{CallMemory, CallReport, CompiledCall};
pub use join::{CallNeeds, LargestScan};
pub(crate) use series::SeriesCalls;

use std::collections::BTreeSet;
use std::ops::Range;

use reviver_isa::instruction::Class;
use reviver_vm::travel::Travel;
use reviver_vm::{CheckLevel, Program};

use self::join::{CallBuilder, Place};
use self::memory::MemoryCells;
use crate::compiled_run::RunPlan;
use crate::function::{
    FixedCells, LiveAtExits, OutOfLineCall, Specialization, SsaExit, SsaFunction, ZerosAtEntry,
};
use crate::lift::{LiftFacts, lifted, silence_tests};
use crate::op::{Input, SsaValue};
use crate::passes::{PASSES_KEEPING_BOUNDS, Pass, optimized};
use crate::rows::{AdjointRows, with_rows};

/// Upper bound on the steps that a reverse sweep may have in addition to the steps of the primal sweep. For example,
/// steps that report discarded adjoints exist only in the reverse sweep.
const SLACK: u32 = 1 << 16;

/// Goal of a call function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallGoal {
    /// The call computes the final values of the seeded cells: it runs the program to its end.
    Run,
    /// The call computes the gradients of sums of the seeded cells.
    Gradient,
}

/// The parameters of a call function.
#[derive(Clone, Copy, Debug)]
pub struct CallTask<'t> {
    /// The goal of the function.
    pub goal: CallGoal,
    /// The position at which the primal sweep ends; for a run, the end of the program.
    pub turn: u32,
    /// The check level. Only checked functions verify the reverse sweep.
    pub level: CheckLevel,
    /// The reals that may have a seed, each once. Their values at the turning point are the results, in this order.
    pub seeded: &'t [u32],
    /// The number of losses that are differentiated at once.
    pub rows: u32,
    /// The kind of numbers on which the function computes: plain reals or series.
    pub lift: Lift<'t>,
}

/// The kind of numbers on which a call function computes: plain reals, or truncated Taylor series.
#[derive(Clone, Copy, Debug)]
pub struct Lift<'t> {
    /// Number of coefficients of a series. 1 means plain reals. With 2, a run computes a Jacobian–vector product, and a
    /// gradient a Hessian–vector product.
    pub lanes: u32,
    /// True if a comparison of two reals fails when coefficient 0 is equal in both, but another coefficient differs.
    pub rejects_ties: bool,
    /// The reals of the start that may have higher coefficients other than 0: the independent variables that have a
    /// component of the direction.
    pub moved: &'t [Range<u32>],
}

impl Lift<'_> {
    /// Plain reals, one word each.
    pub const NONE: Lift<'static> = Lift { lanes: 1, rejects_ties: false, moved: &[] };

    /// Returns true if the function computes on series.
    pub fn is_some(self) -> bool {
        self.lanes > 1
    }

    /// Returns the passes for the sweeps, before they are joined and lifted. Some passes use laws of plain reals that
    /// don't hold for series, so sweeps that are lifted get no pass. Joining needs the bounds of indices, because cells
    /// that no index can reach become SSA values.
    pub fn passes_before(self) -> &'static [Pass] {
        if self.is_some() { &[] } else { PASSES_KEEPING_BOUNDS }
    }

    /// Returns the plans of the sweeps that will be lifted, given those for plain reals.
    pub fn plans<const N: usize>(self, plans: [RunPlan; N]) -> [RunPlan; N] {
        plans.map(|plan| RunPlan { is_lifted: self.is_some(), ..plan })
    }

    /// Returns the addresses of all coefficients of some cells.
    fn scaled(self, cells: Range<u32>) -> Range<u32> {
        cells.start.saturating_mul(self.lanes)..cells.end.saturating_mul(self.lanes)
    }

    /// Lifts a function on plain reals to this kind of numbers. Returns `None` if the function can't be lifted.
    fn lifted(self, function: SsaFunction, silence_tests: &BTreeSet<SsaValue>) -> Option<SsaFunction> {
        let facts = LiftFacts { moved: self.moved, rejects_ties: self.rejects_ties, silence_tests };
        if self.is_some() { lifted(function, self.lanes, facts) } else { Some(function) }
    }
}

/// The call function of a gradient, with the memory that its caller prepares.
#[derive(Debug)]
pub struct CallFunction {
    /// The SSA function of both sweeps. It starts and ends at the beginning of the program.
    pub function: SsaFunction,
    /// The number of the exit at the function's end.
    pub end: u32,
    /// Ranges of working memory. Before each call, the caller copies the cells of the start to these ranges, and zeroes
    /// the cells beyond the program's own.
    pub working: Vec<(Class, Range<u32>)>,
    /// Ranges of adjoints in memory. The caller zeroes them before each call.
    pub adjoints: Vec<Range<u32>>,
    /// The layout of the losses' adjoints.
    pub rows: AdjointRows,
    /// Out-of-line calls of the primal sweep and, for a gradient, of the reverse sweep.
    pub sweeps: Vec<SweepCalls>,
}

/// The out-of-line calls of one sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepCalls {
    /// Number of words of a call record; 0 if the sweep has no out-of-line calls.
    pub record: u32,
    /// The out-of-line calls. A record with the call number n refers to index n - 1.
    pub calls: Vec<OutOfLineCall>,
}

impl SweepCalls {
    /// Returns the calls of a sweep.
    pub fn of(function: &SsaFunction) -> SweepCalls {
        SweepCalls { record: function.demands.record, calls: function.calls.clone() }
    }
}

impl CallFunction {
    /// Builds the call function of a task. Returns `None` if a sweep needs a machine, or if the program names adjoints.
    pub(crate) fn build(program: &Program, task: CallTask) -> Option<CallFunction> {
        if task.goal == CallGoal::Run {
            return CallFunction::run(program, task);
        }
        let frame = program.flow().layout().main_frame(Class::Real);
        // The reverse sweep assumes that no real of main's frame has an adjoint at the turning point.
        if program.names_adjoints() || task.seeded.iter().any(|cell| frame.contains(cell)) {
            return None;
        }
        let [primal_plan, reverse_plan] = task.lift.plans(RunPlan::gradient(program, task.turn, task.level));
        let largest = if primal_plan.is_watched { LargestScan::Values } else { LargestScan::None };
        let needs = CallNeeds { largest, ..CallNeeds::default() };
        // Passes may use identities that hold for plain reals but not for series. So no pass is applied before a
        // function is lifted.
        let passes = task.lift.passes_before();
        CallFunction::join(
            program,
            task,
            [sweep(program, &primal_plan, passes)?, sweep(program, &reverse_plan, passes)?],
            needs,
        )
    }

    /// Joins the two sweeps of a task: the primal sweep from the program's start to the turning point, and the reverse
    /// sweep. Returns `None` if the losses can't share the reverse sweep.
    pub fn join(
        program: &Program,
        task: CallTask,
        [mut primal, reverse]: [SsaFunction; 2],
        needs: CallNeeds,
    ) -> Option<CallFunction> {
        let (first_steps, demands) = (primal.first_steps, primal.demands.max(reverse.demands));
        // Functions on series have one row, and are always checked.
        if task.lift.is_some() && (task.rows > 1 || !task.level.is_checked()) {
            return None;
        }
        // The distance between rows is a constant of the code, so the number of frames must be bounded.
        if task.rows > 1 && demands.record > 0 && needs.frames.is_none() {
            return None;
        }
        let reals = u32::try_from(program.flow().layout().static_cells().1).ok()?;
        let frame_reals = needs.frames.map_or(demands.frame_reals, |[_, reals]| reals);
        let rows = AdjointRows { count: task.rows, stride: reals.checked_add(frame_reals)? };
        let mut reverse = with_rows(reverse, rows)?;
        // Unchecked code needs a real in the reverse sweep only if a partial derivative uses it. Promotion makes all
        // other reals dead. Checked code isn't promoted: it needs all reals, and a processor has too few registers for
        // them.
        if !task.level.is_checked() && demands.record == 0 {
            let cells = memory::promotable(&[&primal, &reverse], program, (rows, needs.frames));
            promote::promote(&mut primal, &cells);
            promote::promote(&mut reverse, &cells);
        }
        let memory = MemoryCells::of(&[&primal, &reverse], program, (rows, needs.frames));
        let sweeps = vec![SweepCalls::of(&primal), SweepCalls::of(&reverse)];
        let slack = SLACK.saturating_add(reverse.first_steps);
        let specialization = specialization(&reverse.specialization);
        let mut exits = primal.exits.clone();
        exits.extend(reverse.exits.iter().cloned());
        let zeros = primal.specialization.zeros;
        let place = Place { program, zeros, memory: &memory, rows };
        let tests = if task.lift.is_some() { silence_tests(&reverse) } else { BTreeSet::new() };
        let mut builder = CallBuilder::new(primal, place, (task.seeded, needs.seeds));
        builder.keeps_discards = task.lift.is_some();
        builder.primal(task.turn);
        builder.turn(slack, needs.largest);
        let by = builder.reverse(reverse, program.begin());
        let tests = tests.into_iter().map(|test| SsaValue(test.0 + by)).collect();
        let is_verified = task.level.is_checked();
        let (block, cells) = builder.arrive();
        let last = if is_verified {
            verify::put(&mut builder, block, &cells)
        } else {
            finite::drop_inner_checks(&mut builder.function);
            finite::check_at_end(&mut builder, block)
        };
        builder.store_adjoints((last, !is_verified && !program.module().real.is_exact()), &cells);
        let (mut function, end) = builder.finish(last);
        (function.specialization, function.exits, function.demands, function.first_steps) =
            (specialization, exits, demands, first_steps);
        let function =
            CallFunction { function, end, working: Vec::new(), adjoints: Vec::new(), rows, sweeps };
        function.completed((program, program.begin()), &memory, (task.lift, &tests), needs.passes)
    }

    /// Builds the call function of a run forward to the end of the program. Returns `None` if the run needs a machine.
    fn run(program: &Program, task: CallTask) -> Option<CallFunction> {
        let [plan] = task.lift.plans([RunPlan::whole(program, Travel::Forward, task.level)]);
        let run = sweep(program, &plan, task.lift.passes_before())?;
        CallFunction::of_run(program, task, run, CallNeeds::default())
    }

    /// Completes the call function of a run from its only sweep, which goes forward to the end of the program. The
    /// results are the final values of the seeded cells. Returns `None` if the run can't be lifted.
    pub fn of_run(
        program: &Program,
        task: CallTask,
        run: SsaFunction,
        needs: CallNeeds,
    ) -> Option<CallFunction> {
        let rows = AdjointRows { count: 1, stride: 0 };
        let memory = MemoryCells::of(&[&run], program, (rows, needs.frames));
        let specialization = specialization(&run.specialization);
        let (exits, demands, first_steps) = (run.exits.clone(), run.demands, run.first_steps);
        let (zeros, sweeps) = (run.specialization.zeros, vec![SweepCalls::of(&run)]);
        let place = Place { program, zeros, memory: &memory, rows };
        let mut builder = CallBuilder::new(run, place, (task.seeded, needs.seeds));
        builder.keeps_discards = task.lift.is_some();
        builder.primal(program.end());
        let last = builder.end_run();
        let (mut function, end) = builder.finish(last);
        (function.specialization, function.exits, function.demands, function.first_steps) =
            (specialization, exits, demands, first_steps);
        let function =
            CallFunction { function, end, working: Vec::new(), adjoints: Vec::new(), rows, sweeps };
        function.completed((program, program.end()), &memory, (task.lift, &BTreeSet::new()), needs.passes)
    }

    /// Adds the exit at the position `to`, lifts and optimizes the function, and describes its memory.
    fn completed(
        mut self,
        (program, to): (&Program, u32),
        memory: &MemoryCells,
        (lift, tests): (Lift, &BTreeSet<SsaValue>),
        passes: &[Pass],
    ) -> Option<CallFunction> {
        let direction = self.function.specialization.direction;
        let at_end = SsaExit { position: to, direction, calls: Vec::new(), is_full: false };
        debug_assert_eq!(self.end as usize, self.function.exits.len(), "the end is after all other exits");
        self.function.exits.push(at_end);
        self.function.cells = FixedCells::of(program.flow(), self.function.demands);
        self.function = optimized(lift.lifted(self.function, tests)?, passes);
        self.working = memory
            .working()
            .map(|(class, cells)| (class, if class == Class::Real { lift.scaled(cells) } else { cells }))
            .collect();
        self.adjoints = memory.adjoints().map(|cells| lift.scaled(cells)).collect();
        Some(self)
    }
}

/// Builds one sweep of a gradient. Returns `None` if no compiled code reaches the end of the sweep, or if the function
/// has inputs other than the end of the space for call records.
fn sweep(program: &Program, plan: &RunPlan, passes: &[Pass]) -> Option<SsaFunction> {
    let function = plan.function(program, LiveAtExits::AllOnReturn, passes)?;
    // The caller of a call function can supply only one input: the end of the space for call records.
    let is_alone = function.inputs().all(|(_, input)| input == Input::RecordsEnd);
    is_alone.then_some(function)
}

/// Returns the specialization of a call function. It differs from the specialization of the reverse sweep in two
/// fields: the zeros at entry, and the liveness, because all memory is live at returns.
fn specialization(reverse: &Specialization) -> Specialization {
    let zeros = ZerosAtEntry { cells: false, adjoints: false, no_adjoint_is_negative: true };
    Specialization { zeros, live_at_exits: LiveAtExits::AllOnReturn, ..reverse.clone() }
}
