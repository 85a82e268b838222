//! SSA functions of a C text: one for each direction of a run, and the call function of a gradient.

use reviver_compile::build;
use reviver_compile::call::{CallFunction, CallGoal, CallNeeds, CallTask, LargestScan, Lift};
use reviver_compile::compiled_run::RunPlan;
use reviver_compile::foreign::check_exits;
use reviver_compile::function::{LiveAtExits, Specialization, SsaEnd, SsaFunction, TOP_WORD, ZerosAtEntry};
use reviver_compile::op::{OpKind, Space, SsaOp};
use reviver_compile::passes::{PASSES, Pass, optimized};
use reviver_vm::differentiate::early_turn;
use reviver_vm::travel::Travel;
use reviver_vm::{CheckLevel, Program};

use crate::error::NoText;

/// Builds the SSA function of a whole run in one direction.
pub(crate) fn run(program: &Program, travel: Travel, level: CheckLevel) -> Result<SsaFunction, NoText> {
    let mut function = sweep(program, &RunPlan::whole(program, travel, level), &PASSES)?;
    drop_dead_stores(&mut function);
    Ok(function)
}

/// Builds the call function of the gradient for some seeded cells. With dual numbers, `lift` has the addresses of the
/// reals for which the caller may pass a component of the direction.
pub(crate) fn gradient(
    program: &Program,
    (seeded, lift): (&[u32], Lift),
    level: CheckLevel,
) -> Result<CallFunction, NoText> {
    if lift.is_some() && !level.is_checked() {
        return Err(NoText::NoProduct {
            why: "the product is always checked, but `--unchecked` omits checks",
        });
    }
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
    let [primal, reverse] = lift.plans(RunPlan::gradient(program, turn, level));
    // The machine, which otherwise searches for the largest number after a call, doesn't exist in C. So the C function
    // searches for the largest number itself.
    let largest = if primal.is_watched { LargestScan::All } else { LargestScan::None };
    let needs = CallNeeds { largest, ..CallNeeds::default() };
    let passes = lift.passes_before();
    let sweeps = [sweep(program, &primal, passes)?, sweep(program, &reverse, passes)?];
    let task = CallTask { goal: CallGoal::Gradient, turn, level, seeded, rows: 1, lift };
    if lift.is_some() && sweeps.iter().any(|sweep| sweep.demands.record > 0) {
        return Err(NoText::NoProduct {
            why: "a procedure is recursive, or too large for its calls to be inlined",
        });
    }
    let function = CallFunction::join(program, task, sweeps, needs);
    let mut function = function.ok_or(match lift.is_some() {
        true => NoText::NoProduct { why: "a function has no derivative rule in C text" },
        false => NoText::Call,
    })?;
    drop_dead_stores(&mut function.function);
    Ok(function)
}

/// Builds the SSA function of a plan. Fails if an exit of the function isn't the plan's end.
fn sweep(program: &Program, plan: &RunPlan, passes: &[Pass]) -> Result<SsaFunction, NoText> {
    // Main's variables are 0 at either end of the program. At the turning point, only seeded cells have adjoints, and
    // main's variables aren't seeded.
    let gradient = plan.gradient;
    let zeros = ZerosAtEntry { cells: !gradient, adjoints: gradient, no_adjoint_is_negative: gradient };
    let specialization = plan.specialization(program);
    let specialization = Specialization { zeros, live_at_exits: LiveAtExits::AllOnReturn, ..specialization };
    let function = build(program.module(), program.flow(), specialization)?;
    check_exits(program, &function, plan.to)
        .map_err(|foreign| foreign.map_or(NoText::Call, NoText::foreign))?;
    Ok(optimized(function, passes))
}

/// Removes dead stores before each exit that is taken if the memory for calls is full. Execution ends at such an exit,
/// so only the word with the end of the call records is live.
fn drop_dead_stores(function: &mut SsaFunction) {
    let mut blocks = std::mem::take(&mut function.blocks);
    for block in &mut blocks {
        let SsaEnd::Exit { exit } = block.end else { continue };
        if function.exits.get(exit as usize).is_some_and(|exit| exit.is_full) {
            block.ops.retain(|&value| {
                function.op(value).is_none_or(|op| !is_store(op) || stores_records_end(function, op))
            });
        }
    }
    function.blocks = blocks;
}

fn is_store(op: &SsaOp) -> bool {
    matches!(op.kind, OpKind::Store(_))
}

/// Returns true if a store changes the word that holds the end of the call records.
fn stores_records_end(function: &SsaFunction, op: &SsaOp) -> bool {
    let address = op.operands.first().and_then(|&address| function.op(address));
    op.kind == OpKind::Store(Space::References)
        && address.is_some_and(|address| address.kind == OpKind::Int(TOP_WORD.into()))
}
