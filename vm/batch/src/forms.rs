//! Builds the SSA function that lanes execute: a run from one end of the program to the other, or the call function of a gradient.
//! Independent of shader text and of cell values.

use reviver_compile::Outside;
use reviver_compile::bounded::{BoundedCalls, bounded};
use reviver_compile::build;
use reviver_compile::call::{CallNeeds, GradientFunction, GradientTask, LargestScan};
use reviver_compile::foreign::check_exits;
use reviver_compile::form::{Observed, SsaForm, Version};
use reviver_compile::passes::{FormPass, PASSES, improved};
use reviver_compile::route::RoutePlan;
use reviver_compile::rows::AdjointRows;
use reviver_compile::start::RouteStart;
use reviver_vm::differentiate::early_turn;
use reviver_vm::{CheckLevel, Travel};

use crate::no_shader::NoShader;

/// Words of a lane's memory for calls that are open at once and are not inlined, such as those of a recursion. At this
/// size, a hundred thousand lanes fill the memory that devices have.
const WORDS_OF_CALLS: u32 = 1 << 12;
/// Lower bound on the number of such open calls, however many words they take.
const LEAST_CALLS: u32 = 16;

/// An SSA function, with the memory bound of the calls that it opens.
#[derive(Debug)]
pub(crate) struct LaneForm {
    pub form: SsaForm,
    pub calls: BoundedCalls,
    /// The layout of the adjoints of a gradient.
    pub rows: Option<AdjointRows>,
}

/// Builds the SSA function from one end of a program to the other.
///
/// # Errors
/// Fails if the program does something that devices can't.
pub(crate) fn whole(start: &RouteStart, travel: Travel, level: CheckLevel) -> Result<LaneForm, NoShader> {
    let run = sweep(start, RoutePlan::whole(start.program(), travel, level), false)?;
    if !start.suits(&run.form.version) {
        return Err(NoShader::Start);
    }
    Ok(run)
}

/// Builds the call function of a gradient. `losses` are addresses of reals, one for each row; [`results`] has the order of their
/// values.
///
/// # Errors
/// Fails if the program does something that devices can't, or if the losses can't share a reverse sweep.
pub(crate) fn gradient(start: &RouteStart, losses: &[u32], level: CheckLevel) -> Result<LaneForm, NoShader> {
    let program = start.program();
    if program.switches_mode() || program.reads_mode() || program.names_adjoints() {
        return Err(NoShader::OwnMode);
    }
    let cells: Vec<usize> = losses.iter().map(|&loss| loss as usize).collect();
    let turn = early_turn(program, &cells).and_then(|stops| stops.only());
    let turn = turn.map_or(program.end(), |node| node.position);
    let [primal, reverse] = RoutePlan::gradient(program, turn, level);
    let [primal, reverse] = [sweep(start, primal, true)?, sweep(start, reverse, true)?];
    let has_adjoints = start.state().adjoints.as_ref().is_some_and(|all| all.all().any(|&bits| bits != 0));
    if !start.suits(&primal.form.version) || has_adjoints {
        return Err(NoShader::Start);
    }
    let calls = primal.calls.max(reverse.calls);
    let largest = if primal.form.version.is_watched { LargestScan::All } else { LargestScan::None };
    let needs = CallNeeds {
        largest,
        unit_seeds: Some(losses),
        frames: Some([calls.ints, calls.reals]),
        passes: &passes(),
    };
    let rows = u32::try_from(losses.len()).map_err(|_| NoShader::Limits)?;
    let task = GradientTask { turn, level, seeded: &results(losses), rows };
    let function = GradientFunction::join(program, task, [primal.form, reverse.form], needs);
    let GradientFunction { form, rows, .. } = function.ok_or(NoShader::RowsPart)?;
    Ok(LaneForm { form, calls, rows: Some(rows) })
}

/// Returns the losses without repetitions, in the order of the results of a gradient.
pub(crate) fn results(losses: &[u32]) -> Vec<u32> {
    let mut found = losses.to_vec();
    found.sort_unstable();
    found.dedup();
    found
}

/// Builds the SSA function of a run, or of one sweep of a gradient. `has_adjoints` is true for both sweeps, so that the same number
/// of calls may be open in both.
fn sweep(start: &RouteStart, plan: RoutePlan, has_adjoints: bool) -> Result<LaneForm, NoShader> {
    let program = start.program();
    let version = plan.version(program);
    // A caller that sees a lane that hasn't arrived runs it again.
    let version = Version { observed: Observed::Arrival, ..version };
    let form = build(program.module(), program.flow(), version)?;
    let room = (WORDS_OF_CALLS, LEAST_CALLS);
    let calls = BoundedCalls::of(program, start.state(), form.demands, room, has_adjoints);
    let calls = calls.ok_or(NoShader::Limits)?;
    let form = bounded(form, calls);
    check_exits(program, &form, plan.to)
        .map_err(|foreign| foreign.map_or(Outside::Code.into(), NoShader::foreign))?;
    Ok(LaneForm { form: improved(form, &passes()), calls, rows: None })
}

/// Returns the compiler's passes, except `indices`: it drops the known ranges of indices, and with them which arrays
/// they address.
fn passes() -> Vec<FormPass> {
    PASSES.into_iter().filter(|(name, _)| *name != "indices").collect()
}
