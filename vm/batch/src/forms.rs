//! Builds the SSA functions that lanes execute: one from an end of the program to the other, or the two of a gradient.
//! Independent of shader text and of cell values.

use reviver_compile::Outside;
use reviver_compile::bounded::{BoundedCalls, bounded};
use reviver_compile::build;
use reviver_compile::form::{FormExit, Observed, SsaEnd, SsaForm, Version};
use reviver_compile::known::KnownCells;
use reviver_compile::left::left_by;
use reviver_compile::passes::{FormPass, PASSES, improved};
use reviver_compile::route::RoutePlan;
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
}

/// Builds the SSA function from one end of a program to the other.
///
/// # Errors
/// Fails if the program does something that devices can't.
pub(crate) fn whole(start: &RouteStart, travel: Travel, level: CheckLevel) -> Result<LaneForm, NoShader> {
    let program = start.program();
    form(start, RoutePlan::whole(program, travel, level), KnownCells::default(), false)
}

/// Builds the SSA functions of a gradient: forward to the turning point of the losses, and back from there. `losses`
/// are addresses of reals.
///
/// # Errors
/// Fails if the program does something that devices can't.
pub(crate) fn gradient(
    start: &RouteStart,
    losses: &[usize],
    level: CheckLevel,
) -> Result<[LaneForm; 2], NoShader> {
    let program = start.program();
    if program.switches_mode() || program.reads_mode() || program.names_adjoints() {
        return Err(NoShader::OwnMode);
    }
    let turn = early_turn(program, losses).and_then(|stops| stops.only());
    let turn = turn.map_or(program.end(), |node| node.position);
    let [there, back] = RoutePlan::gradient(program, turn, level);
    let there = form(start, there, KnownCells::default(), true)?;
    let known = left_by(&there.form, turn);
    Ok([there, form(start, back, known, true)?])
}

/// Builds the SSA function of a run. `has_adjoints` is true for both sweeps of a gradient, so that the same number of
/// calls may be open in both.
fn form(
    start: &RouteStart,
    plan: RoutePlan,
    known: KnownCells,
    has_adjoints: bool,
) -> Result<LaneForm, NoShader> {
    let program = start.program();
    let version = plan.version(program, known);
    let observed = match version.observed {
        // A caller that sees a lane that hasn't arrived runs it again.
        Observed::Anywhere | Observed::Arrival => Observed::Arrival,
        Observed::Adjoints => Observed::Adjoints,
    };
    let form = build(program.module(), program.flow(), Version { observed, ..version })?;
    let room = (WORDS_OF_CALLS, LEAST_CALLS);
    let calls = BoundedCalls::of(program, start.state(), form.demands, room, has_adjoints);
    let calls = calls.ok_or(NoShader::Limits)?;
    let form = bounded(form, calls);
    check(program, &form, plan.to)?;
    Ok(LaneForm { form: improved(form, &passes()), calls })
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
        Action::Show => "remove it, and print the results of the lanes",
        Action::Call(_) => {
            "write the procedure as a macro: devices have no calls of procedures that have a rule or are very large, and no calls with an adjoint, with a slice with a step, or with very many arguments"
        }
        Action::Tasks(_) => {
            "pass each task elements whose index is the counter of `par for`, or cells that are known before the run: then no comparison is needed here"
        }
        Action::Switch(_) => "remove it, and request gradients by an option",
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
