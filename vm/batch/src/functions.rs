//! Builds the SSA function that lanes execute: a run from one end of the program to the other, or a call function. This
//! module is independent of shader text and of cell values.

use reviver_compile::BuildError;
use reviver_compile::bounded::{BoundedCalls, bounded};
use reviver_compile::build;
use reviver_compile::call::{CallFunction, CallGoal, CallNeeds, CallTask, LargestScan, Lift};
use reviver_compile::compiled_run::RunPlan;
use reviver_compile::foreign::check_exits;
use reviver_compile::function::{LiveAtExits, Specialization, SsaFunction};
use reviver_compile::passes::{PASSES_KEEPING_BOUNDS, Pass, optimized};
use reviver_compile::rows::{AdjointRows, RowSeeds};
use reviver_compile::start::RunStart;
use reviver_vm::differentiate::early_turn;
use reviver_vm::{CheckLevel, Program, Travel};

use crate::no_shader::NoShader;

/// Maximum number of words in a lane's memory for open calls that aren't inlined, such as the calls of a recursion.
/// With this number, the memory of common devices suffices for a hundred thousand lanes.
const WORDS_OF_CALLS: u32 = 1 << 12;
/// Minimum number of calls that aren't inlined for which there is memory, even if these calls need more than
/// [`WORDS_OF_CALLS`] words.
const LEAST_CALLS: u32 = 16;

/// An SSA function, with the bound on the memory of its calls.
#[derive(Debug)]
pub(crate) struct LaneFunction {
    pub function: SsaFunction,
    pub calls: BoundedCalls,
    /// The layout of the adjoints of a gradient.
    pub rows: Option<AdjointRows>,
    /// The number of coefficients of each real: 1 for plain reals, more for series.
    pub lanes: u32,
}

/// Builds the SSA function of a run from one end of a program to the other.
///
/// # Errors
/// Fails if devices can't execute the program.
pub(crate) fn whole(start: &RunStart, travel: Travel, level: CheckLevel) -> Result<LaneFunction, NoShader> {
    let plan = RunPlan::whole(start.program(), travel, level);
    let run = sweep(start, plan, 1, PASSES_KEEPING_BOUNDS)?;
    if !start.suits(&run.function.specialization) {
        return Err(NoShader::Start);
    }
    Ok(run)
}

/// Builds the call function of a run forward on series. The final values of the seeded cells are in the order of
/// [`results`].
///
/// # Errors
/// Fails if devices can't execute the program, or if it has an operation without a recurrence for series.
pub(crate) fn run_on_series(
    start: &RunStart,
    losses: &[RowSeeds],
    lift: Lift,
) -> Result<LaneFunction, NoShader> {
    let program = start.program();
    check_mode(program)?;
    // A run forward would ignore rules, which replace derivatives.
    if program.module().procedures.iter().any(|procedure| procedure.rule.is_some()) {
        return Err(NoShader::Rule);
    }
    let level = CheckLevel::Checked;
    let [plan] = lift.plans([RunPlan::whole(program, Travel::Forward, level)]);
    let LaneFunction { function, calls, .. } = sweep(start, plan, lift.lanes, lift.passes_before())?;
    if !start.suits(&function.specialization) {
        return Err(NoShader::Start);
    }
    let needs = needs(losses, calls, LargestScan::None);
    let (goal, turn, seeded) = (CallGoal::Run, program.end(), results(losses));
    let task = CallTask { goal, turn, level, seeded: &seeded, rows: 1, lift };
    let function = CallFunction::of_run(program, task, function, needs).ok_or(NoShader::Series)?;
    Ok(LaneFunction { function: function.function, calls, rows: None, lanes: lift.lanes })
}

/// Fails if the program switches or reads gradient mode, or names adjoints.
fn check_mode(program: &Program) -> Result<(), NoShader> {
    match program.switches_mode() || program.reads_mode() || program.names_adjoints() {
        true => Err(NoShader::OwnMode),
        false => Ok(()),
    }
}

/// Returns the options of a call function that lanes execute.
fn needs(losses: &[RowSeeds], calls: BoundedCalls, largest: LargestScan) -> CallNeeds<'_> {
    CallNeeds {
        largest,
        seeds: Some(losses),
        frames: Some([calls.ints, calls.reals]),
        passes: PASSES_KEEPING_BOUNDS,
    }
}

/// Builds the call function of a gradient. `losses` has the seeds of each row: addresses of reals, with the bits of the
/// seeds. The values at the turning point are in the order of [`results`].
///
/// # Errors
/// Fails if devices can't execute the program, if the losses can't share a reverse sweep, or if the gradient can't be
/// lifted.
pub(crate) fn gradient(
    start: &RunStart,
    losses: &[RowSeeds],
    level: CheckLevel,
    lift: Lift,
) -> Result<LaneFunction, NoShader> {
    let program = start.program();
    check_mode(program)?;
    let level = if lift.is_some() { CheckLevel::Checked } else { level };
    let seeded = results(losses);
    let cells: Vec<usize> = seeded.iter().map(|&cell| cell as usize).collect();
    let turn = early_turn(program, &cells).and_then(|stops| stops.only());
    let turn = turn.map_or(program.end(), |node| node.position);
    let [primal, reverse] = lift.plans(RunPlan::gradient(program, turn, level));
    let passes = lift.passes_before();
    // Each coefficient of a real has an adjoint.
    let words = 2 * lift.lanes;
    let [primal, reverse] = [sweep(start, primal, words, passes)?, sweep(start, reverse, words, passes)?];
    let has_adjoints = start.state().adjoints.as_ref().is_some_and(|all| all.all().any(|&bits| bits != 0));
    if !start.suits(&primal.function.specialization) || has_adjoints {
        return Err(NoShader::Start);
    }
    let calls = primal.calls.max(reverse.calls);
    let largest =
        if primal.function.specialization.is_watched { LargestScan::All } else { LargestScan::None };
    let needs = needs(losses, calls, largest);
    let rows = u32::try_from(losses.len()).map_err(|_| NoShader::Limits)?;
    let task = CallTask { goal: CallGoal::Gradient, turn, level, seeded: &seeded, rows, lift };
    let function = CallFunction::join(program, task, [primal.function, reverse.function], needs);
    let reason = if lift.is_some() { NoShader::Series } else { NoShader::RowsPart };
    let CallFunction { function, rows, .. } = function.ok_or(reason)?;
    Ok(LaneFunction { function, calls, rows: Some(rows), lanes: lift.lanes })
}

/// Returns the seeded cells of all rows without repetitions, in the order of the results of a gradient.
pub(crate) fn results(losses: &[RowSeeds]) -> Vec<u32> {
    let mut found: Vec<u32> = losses.iter().flatten().map(|&(cell, _)| cell).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Builds the SSA function of a run, or of one sweep of a call function. A frame holds `words` words for each real: its
/// coefficients and their adjoints.
fn sweep(start: &RunStart, plan: RunPlan, words: u32, passes: &[Pass]) -> Result<LaneFunction, NoShader> {
    let program = start.program();
    let specialization = plan.specialization(program);
    // If a lane hasn't finished, the caller executes the lane again. So a lane's memory is read only after a return.
    let specialization = Specialization { live_at_exits: LiveAtExits::AllOnReturn, ..specialization };
    let function = build(program.module(), program.flow(), specialization)?;
    let limits = (WORDS_OF_CALLS, LEAST_CALLS);
    let calls = BoundedCalls::of(program, start.state(), function.demands, limits, words);
    let calls = calls.ok_or(NoShader::Limits)?;
    let function = bounded(function, calls);
    check_exits(program, &function, plan.to)
        .map_err(|foreign| foreign.map_or(BuildError::Code.into(), NoShader::foreign))?;
    Ok(LaneFunction { function: optimized(function, passes), calls, rows: None, lanes: 1 })
}
