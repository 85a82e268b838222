//! `--plan`: shows what a retention strategy would keep and recompute, without running the program. The program is
//! only checked for steps that lose information.

use reviver_vm::allocation::OutOfMemory;
use reviver_vm::strategy::{Retention, Strategy, loses_nothing, state_bytes};
use reviver_vm::{State, Travel};

use crate::cli::{Start, StrategyOptions};
use crate::failure::{Exit, Failure, Fallible};
use crate::output::strategy::PlanPage;
use crate::{output, start, streams};

/// Run for which a plan is made: its direction, and a function that returns the size of the first state in bytes.
pub struct PlannedRun {
    pub travel: Travel,
    pub bytes: fn(&State) -> Result<usize, OutOfMemory>,
}

/// Run to plan if the command is a forward run or a gradient.
pub const FORWARD: PlannedRun = PlannedRun { travel: Travel::Forward, bytes: |state| Ok(state_bytes(state)) };

/// Prints the plan of `--plan`, and returns the outcome. Returns `None` if the option wasn't given.
pub fn printed(options: &StrategyOptions, start: &Start, planned_run: &PlannedRun) -> Option<Fallible> {
    options.plan.map(|steps| print(options, start, planned_run, steps))
}

fn print(options: &StrategyOptions, start: &Start, planned_run: &PlannedRun, steps: u64) -> Fallible {
    let program = start::program(start)?;
    let asked = Strategy::Checkpoint { slots: None, leaf: None };
    let retention = options.retention().unwrap_or(Retention { strategy: asked, memory: None });
    let is_lossless = loses_nothing(program.module());
    // Only a plan with a memory limit depends on the state's size. Without a limit no inputs are needed.
    let state = match retention.memory {
        Some(_) => bytes(planned_run, start::machine(&start.given, &program, planned_run.travel)?.state())?,
        None => 0,
    };
    let page = PlanPage { retention, plan: retention.plan(steps, state), is_lossless };
    streams::print_with(|out| match start.json {
        true => output::object(page.members(), &Ok(()), out),
        false => page.text(out),
    })
}

fn bytes(planned_run: &PlannedRun, state: &State) -> Fallible<u64> {
    let bytes = (planned_run.bytes)(state).map_err(|error| {
        Failure::new(Exit::Trap, format_args!("{error} for the state at the start of the planned run"))
            .help("leave `--memory` out: a plan without a memory limit needs no state")
    });
    Ok(bytes? as u64)
}
