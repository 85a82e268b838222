//! Builds the SSA function that lanes execute: a run from one end of the program to the other, or the call function of a gradient.
//! Independent of shader text and of cell values.

use reviver_compile::Outside;
use reviver_compile::bounded::{BoundedCalls, bounded};
use reviver_compile::build;
use reviver_compile::call::{CallNeeds, GradientFunction, GradientTask, LargestScan};
use reviver_compile::form::{FormExit, Observed, SsaEnd, SsaForm, Version};
use reviver_compile::passes::{FormPass, PASSES, improved};
use reviver_compile::route::RoutePlan;
use reviver_compile::rows::AdjointRows;
use reviver_compile::start::RouteStart;
use reviver_compile::written::TextPlan;
use reviver_flow::graph::Way;
use reviver_isa::update::Action;
use reviver_vm::differentiate::early_turn;
use reviver_vm::{CheckLevel, Program, Travel};

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
    check(program, &form, plan.to)?;
    Ok(LaneForm { form: improved(form, &passes()), calls, rows: None })
}

/// Returns the compiler's passes, except `indices`: it drops the known ranges of indices, and with them which arrays
/// they address.
fn passes() -> Vec<FormPass> {
    PASSES.into_iter().filter(|(name, _)| *name != "indices").collect()
}

/// Refuses an SSA function with an exit other than the end of the run.
fn check(program: &Program, form: &SsaForm, to: u32) -> Result<(), NoShader> {
    let main = program.module().procedures.first();
    let is_main = main.is_some_and(|main| (main.entry..=main.exit).contains(&to));
    let order = TextPlan::of(form).order;
    for block in order.iter().filter_map(|&block| form.blocks.get(block as usize)) {
        let SsaEnd::Exit { exit } = block.end else { continue };
        match form.exits.get(exit as usize) {
            Some(exit) if exit.position == to && exit.calls.is_empty() && is_main => {}
            Some(exit) => return Err(foreign(program, exit)),
            None => return Err(Outside::Code.into()),
        }
    }
    Ok(())
}

/// Describes the operation at an exit that devices can't execute.
fn foreign(program: &Program, exit: &FormExit) -> NoShader {
    let at = match exit.way {
        Way::Along => exit.position,
        Way::Against => exit.position.saturating_sub(1),
    };
    let module = program.module();
    let Some(instruction) = module.code.get(at as usize) else { return Outside::Code.into() };
    let cure = match instruction.update.action() {
        Action::Put(_) | Action::Take(_) => "keep the values in an array: lanes have no stacks and tapes",
        Action::Show => "take it out, and print what the lanes have come to",
        Action::Call(_) => {
            "write what is called in its place, by a macro: a rule, what passes a slice with a step, an adjoint or very many arguments, and a very large procedure aren't for devices"
        }
        Action::Tasks(_) => {
            "pass each task elements that the counter of `par for` names, or cells that are known: then nothing is to be compared here"
        }
        Action::Switch(_) => "take it out, and ask for gradients from outside",
        Action::Accumulate
        | Action::Replace
        | Action::Erase(_)
        | Action::Map
        | Action::Exchange
        | Action::Rotate
        | Action::Clear
        | Action::Test
        | Action::Jump
        | Action::Join
        | Action::Begin
        | Action::End => "run lanes on the processor",
    };
    let place = match (module.structure.line(at), module.structure.file(at)) {
        (Some(line), Some(file)) => format!("{file}, line {line}"),
        (Some(line), None) => format!("line {line}"),
        (None, _) => format!("instruction {at}"),
    };
    NoShader::Foreign { place, what: instruction.update.name().to_owned(), cure }
}
