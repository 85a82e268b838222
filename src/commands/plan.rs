//! `--plan`: what a strategy would do, without running anything. Knows the program only so far as to tell whether its steps
//! lose anything.

use reviver_vm::room::OutOfMemory;
use reviver_vm::strategy::{Retention, Strategy, loses_nothing, state_bytes};
use reviver_vm::{State, Travel};

use crate::cli::{Start, StrategyOptions};
use crate::failure::{Exit, Failure, Fallible};
use crate::output::strategy::PlanPage;
use crate::{output, start, streams};

/// Where the way begins that is planned, and what its first state takes.
pub struct PlannedWay {
    pub travel: Travel,
    pub bytes: fn(&State) -> Result<usize, OutOfMemory>,
}

/// That of a run or of a gradient.
pub const FORWARD: PlannedWay = PlannedWay { travel: Travel::Forward, bytes: |state| Ok(state_bytes(state)) };

/// Prints the plan that is asked for; none if it isn't asked for.
pub fn printed(options: &StrategyOptions, start: &Start, way: &PlannedWay) -> Option<Fallible> {
    options.plan.map(|steps| print(options, start, way, steps))
}

fn print(options: &StrategyOptions, start: &Start, way: &PlannedWay, steps: u64) -> Fallible {
    let program = start::program(start)?;
    let asked = Strategy::Checkpoint { slots: None, leaf: None };
    let retention = options.retention().unwrap_or(Retention { strategy: asked, memory: None });
    let is_lossless = loses_nothing(program.module());
    // How memory is shared out depends on what a state takes; without a bound that doesn't matter, and nothing need be given.
    let state = match retention.memory {
        Some(_) => bytes(way, start::machine(&start.given, &program, way.travel)?.state())?,
        None => 0,
    };
    let page = PlanPage { retention, plan: retention.plan(steps, state), is_lossless };
    streams::print_with(|out| match start.json {
        true => output::object(page.members(), &Ok(()), out),
        false => page.text(out),
    })
}

fn bytes(way: &PlannedWay, state: &State) -> Fallible<u64> {
    let bytes = (way.bytes)(state).map_err(|error| {
        Failure::new(Exit::Trap, format_args!("{error} for the state that the plan is of"))
            .help("without `--memory` no state is needed")
    });
    Ok(bytes? as u64)
}
