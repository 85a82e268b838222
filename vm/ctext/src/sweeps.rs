//! SSA functions of a C text: one for each direction of a run, and the call function of a gradient.

use reviver_compile::build;
use reviver_compile::call::{GradientFunction, GradientTask, LargestScan};
use reviver_compile::form::{FormExit, FrameZeros, Observed, SsaEnd, SsaForm, TOP_WORD, Version};
use reviver_compile::known::KnownCells;
use reviver_compile::op::{OpKind, Space, SsaOp};
use reviver_compile::passes::{PASSES, improved};
use reviver_compile::route::RoutePlan;
use reviver_compile::written::TextPlan;
use reviver_flow::graph::Way;
use reviver_isa::update::Action;
use reviver_vm::differentiate::early_turn;
use reviver_vm::travel::Travel;
use reviver_vm::{CheckLevel, Program};

use crate::error::NoText;
use crate::place::place;

/// Builds the SSA function of a whole run.
pub(crate) fn run(program: &Program, travel: Travel, level: CheckLevel) -> Result<SsaForm, NoText> {
    let mut form = sweep(program, &RoutePlan::whole(program, travel, level))?;
    forget_refused(&mut form);
    Ok(form)
}

/// Builds the call function of the gradient of seeded reals.
pub(crate) fn gradient(
    program: &Program,
    seeded: &[u32],
    level: CheckLevel,
) -> Result<GradientFunction, NoText> {
    if program.switches_mode() || program.reads_mode() {
        return Err(NoText::OwnMode);
    }
    if program.names_adjoints() {
        return Err(NoText::OwnAdjoints);
    }
    let cells: Vec<usize> = seeded.iter().map(|&cell| cell as usize).collect();
    let program = &program.for_losses(Some(&cells));
    let turn = early_turn(program, &cells).and_then(|stops| stops.only()).map(|node| node.position);
    let turn = turn.unwrap_or(program.end());
    let [primal, reverse] = RoutePlan::gradient(program, turn, level);
    // There is no machine that could find a larger number afterwards.
    let scan = if primal.is_watched { LargestScan::All } else { LargestScan::None };
    let sweeps = [sweep(program, &primal)?, sweep(program, &reverse)?];
    let task = GradientTask { turn, level, seeded, rows: 1 };
    let mut function = GradientFunction::join(program, task, sweeps, scan).ok_or(NoText::Call)?;
    forget_refused(&mut function.form);
    Ok(function)
}

/// Builds the SSA function of a plan, which must reach the plan's end.
fn sweep(program: &Program, plan: &RoutePlan) -> Result<SsaForm, NoText> {
    // Main's variables are 0 at either end of the program; at the turning point, only seeded cells have adjoints, and these are none
    // of them.
    let gradient = plan.gradient;
    let zeros = FrameZeros { cells: !gradient, adjoints: gradient, no_adjoint_is_negative: gradient };
    let version = plan.version(program, KnownCells::default());
    let version = Version { zeros, observed: Observed::Arrival, ..version };
    let form = build(program.module(), program.flow(), version)?;
    check_exits(program, &form, plan.to)?;
    Ok(improved(form, &PASSES))
}

/// Removes stores before exits for lack of call memory: execution ends there, so the cells are dead.
fn forget_refused(form: &mut SsaForm) {
    let mut blocks = std::mem::take(&mut form.blocks);
    for block in &mut blocks {
        let SsaEnd::Exit { exit } = block.end else { continue };
        if form.exits.get(exit as usize).is_some_and(|exit| exit.is_full) {
            block.ops.retain(|&value| form.op(value).is_none_or(|op| !is_store(op) || says_top(form, op)));
        }
    }
    form.blocks = blocks;
}

fn is_store(op: &SsaOp) -> bool {
    matches!(op.kind, OpKind::Store(_))
}

/// Returns true if a store writes the end of the records of open calls.
fn says_top(form: &SsaForm, op: &SsaOp) -> bool {
    let address = op.operands.first().and_then(|&address| form.op(address));
    op.kind == OpKind::Store(Space::References)
        && address.is_some_and(|address| address.kind == OpKind::Int(TOP_WORD.into()))
}

/// Refuses an SSA function with an exit other than the end of the run.
fn check_exits(program: &Program, form: &SsaForm, to: u32) -> Result<(), NoText> {
    let left = TextPlan::of(form).order;
    let exits = left.iter().filter_map(|&block| match form.blocks.get(block as usize)?.end {
        SsaEnd::Exit { exit } => form.exits.get(exit as usize),
        SsaEnd::Go(_) | SsaEnd::Branch { .. } | SsaEnd::Pause { .. } => None,
    });
    // A position in a called procedure would be reached with open calls.
    let main = program.module().procedures.first();
    let is_main = main.is_some_and(|main| (main.entry..=main.exit).contains(&to));
    let is_end = |exit: &FormExit| exit.is_full || exit.position == to && exit.calls.is_empty() && is_main;
    match exits.into_iter().find(|exit| !is_end(exit)) {
        Some(exit) => Err(foreign(program, exit)),
        None => Ok(()),
    }
}

/// Describes the operation at an exit that has no C text.
fn foreign(program: &Program, exit: &FormExit) -> NoText {
    let at = match exit.way {
        Way::Along => exit.position,
        Way::Against => exit.position.saturating_sub(1),
    };
    let module = program.module();
    let Some(instruction) = module.code.get(at as usize) else { return NoText::Call };
    let cure = match instruction.update.action() {
        Action::Put(_) | Action::Take(_) => "keep the values in an array: there are no stacks and tapes in C",
        Action::Show => "remove it, and print the results of the function",
        Action::Call(_) => {
            "write the procedure as a macro: C text has no calls of procedures that have a rule or are very large, and no calls with an adjoint, with a slice with a step, or with very many arguments"
        }
        Action::Tasks(_) => {
            "pass each task elements whose index is the counter of `par for`, or cells that are known before the run: then no comparison is needed here"
        }
        Action::Switch(_) => "remove it; `--of` differentiates the whole program",
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
        | Action::End => "`reviver run` runs it",
    };
    NoText::Foreign { place: place(module, at), what: instruction.update.name().to_owned(), cure }
}
