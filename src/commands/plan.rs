//! `--plan`: what a strategy would do, without running anything. Knows the program only so far as to tell whether its steps
//! lose anything.

use reviver_vm::strategy::{Retention, Strategy, loses_nothing};

use crate::cli::{Start, StrategyOptions};
use crate::failure::Fallible;
use crate::output::strategy::PlanPage;
use crate::{output, start, streams};

/// Prints the plan that is asked for; none if it isn't asked for.
pub fn printed(options: &StrategyOptions, start: &Start) -> Option<Fallible> {
    options.plan.map(|steps| print(options, start, steps))
}

fn print(options: &StrategyOptions, start: &Start, steps: u64) -> Fallible {
    let program = start::program(start)?;
    let asked = Strategy::Checkpoint { slots: None, leaf: None };
    let retention = options.retention().unwrap_or(Retention { strategy: asked, memory: None });
    let is_lossless = loses_nothing(program.module());
    let page = PlanPage { retention, plan: retention.plan(steps), is_lossless };
    streams::print_with(|out| match start.json {
        true => output::object(page.members(), &Ok(()), out),
        false => page.text(out),
    })
}
