//! Selects the engine that `--engine` names, and words the errors if that engine isn't available.

use std::sync::Arc;

use reviver::EngineChoice;
use reviver::engine::{self, NoEngine};
use reviver_debugger::timeline::LongRuns;
use reviver_vm::{Program, Runner};

use crate::cli::Start;
use crate::failure::{Failure, Fallible};

/// Returns the compiled engine that runs the machine's steps instead of the interpreter; `None` if the interpreter
/// was chosen.
pub fn runner(options: &Start, program: &Program) -> Fallible<Option<Arc<dyn Runner>>> {
    if options.exact && options.checking.unchecked {
        let failure = Failure::usage(
            "`--exact` needs the interpreter for its history, and the interpreter always checks everything",
        );
        return Err(failure.help("leave out `--unchecked` or `--exact`"));
    }
    engine::runner(options.compiled(), program).map_err(|error| missing(&error))
}

/// Returns the compiled engine for long runs in the debugger; `None` if the interpreter was chosen.
pub fn long_runs(choice: EngineChoice, program: &Program) -> Fallible<Option<LongRuns>> {
    let runner = engine::runner(choice.into(), program).map_err(|error| missing(&error))?;
    Ok(runner.map(|runner| match choice {
        EngineChoice::Jit => LongRuns::eager(runner),
        EngineChoice::Interp | EngineChoice::Auto => LongRuns::new(runner),
    }))
}

/// Failure for a requested engine that isn't available.
pub fn missing(error: &NoEngine) -> Failure {
    match error {
        NoEngine::Machine(_) => Failure::usage(error)
            .help("use `--engine interp`, or `--engine auto`, which uses native code only if available"),
        NoEngine::InterpreterChecks => Failure::usage(error)
            .help("leave out `--unchecked`, or let native code run the program: `--engine jit`, or `auto`"),
        NoEngine::Build => Failure::usage("this `reviver` was built without native code")
            .help("use `--engine interp`, or build `reviver` with the feature `jit`"),
    }
}
