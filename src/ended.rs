//! What a command fails with whose run came to no end, where nothing can be gone on with. Knows no command.

use std::path::Path;

use reviver_vm::strategy::Strategy;

use crate::failure::{Exit, Failure, Fallible, counted};
use crate::journey::Ending;
use crate::{output, read};

/// How a run has ended; `way` says which part of it, if it has several.
pub fn verdict(file: &Path, way: &str, ending: &Ending) -> Fallible {
    Err(match ending {
        Ending::Arrived => return Ok(()),
        Ending::Limited => Failure::new(Exit::StepLimit, format_args!("stopped by the step limit{way}"))
            .help("raise `--max-steps`"),
        Ending::Interrupted(signal) => {
            Failure::new(signal.exit(), format_args!("stopped by {}{way}", signal.name()))
        }
        Ending::Full { strategy, bytes } => full(strategy, *bytes),
        Ending::Trapped(explanation) => output::trap(Exit::Trap, way, &read::name(file), explanation),
    })
}

/// What was to be kept for the way back takes too much.
pub fn full(strategy: &str, bytes: u64) -> Failure {
    let bytes = counted(usize::try_from(bytes).unwrap_or(usize::MAX), "byte");
    Failure::new(Exit::Trap, format_args!("the strategy `{strategy}` takes more than {bytes} here"))
        .help(less_memory(strategy))
}

/// What can be done where a strategy takes too much.
pub fn less_memory(strategy: &str) -> &'static str {
    match Strategy::parse(strategy) {
        Ok(Strategy::Reverse | Strategy::Tape) => {
            "`--memory` allows more; of all strategies `checkpoint` takes the least"
        }
        _ => "`--memory` allows more: one state must fit, and what a few steps lose",
    }
}
