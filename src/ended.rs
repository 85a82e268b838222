//! Failures for runs that ended early and can't be continued, for all commands.

use std::path::Path;

use reviver_vm::strategy::Strategy;

use crate::failure::{Exit, Failure, Fallible, counted};
use crate::run_to_end::Ending;
use crate::{output, read};

/// Returns the verdict on a run that ended with `ending`: a failure unless the run reached its end. `direction` names
/// the part of the run if there are several, for example " while running backward".
pub fn verdict(file: &Path, direction: &str, ending: &Ending) -> Fallible {
    Err(match ending {
        Ending::Arrived => return Ok(()),
        Ending::Limited => {
            Failure::new(Exit::StepLimit, format_args!("stopped by the step limit{direction}"))
                .help("raise `--max-steps`")
        }
        Ending::Interrupted(signal) => {
            Failure::new(signal.exit(), format_args!("stopped by {}{direction}", signal.name()))
        }
        Ending::Full { strategy, bytes } => full(strategy, *bytes),
        Ending::Trapped(explanation) => output::trap(Exit::Trap, direction, &read::name(file), explanation),
    })
}

/// Failure for a retention strategy that exceeds its memory limit.
pub fn full(strategy: &str, bytes: u64) -> Failure {
    let bytes = counted(usize::try_from(bytes).unwrap_or(usize::MAX), "byte");
    Failure::new(Exit::Trap, format_args!("the strategy `{strategy}` takes more than {bytes}"))
        .help(less_memory(strategy))
}

/// Returns advice for a strategy that exceeds its memory limit.
pub fn less_memory(strategy: &str) -> &'static str {
    match Strategy::parse(strategy) {
        Ok(Strategy::Reverse | Strategy::Tape) => {
            "raise `--memory`, or use `--strategy checkpoint`, which takes the least memory"
        }
        _ => "raise `--memory`: one state must fit into it, and also the bits that a few steps lose",
    }
}
