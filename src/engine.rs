//! The engine that `--engine` names, or why there is none, for the user. Knows no program.

use std::sync::Arc;

use reviver::EngineChoice;
use reviver::engine::{self, NoEngine};
use reviver_vm::{Program, Runner};

use crate::failure::{Failure, Fallible};

/// Who makes the steps instead of the machine's own interpreter, if anybody does.
pub fn runner(choice: EngineChoice, program: &Program) -> Fallible<Option<Arc<dyn Runner>>> {
    engine::runner(choice, program).map_err(|error| missing(&error))
}

/// Why an engine that was asked for isn't there.
fn missing(error: &NoEngine) -> Failure {
    match error {
        NoEngine::Machine(_) => {
            Failure::usage(error).help("`--engine interp` runs every program, and `auto` takes what there is")
        }
        NoEngine::Build => Failure::usage("this `reviver` was built without native code")
            .help("build it with the feature `jit`; `--engine interp` runs every program"),
    }
}
