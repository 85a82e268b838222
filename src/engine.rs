//! Which engine makes the steps of a program. Knows no program.

use std::sync::Arc;

use reviver_vm::{Program, Runner};

use crate::cli::EngineChoice;
use crate::failure::Fallible;

/// Who makes the steps instead of the machine's own interpreter, if anybody does.
pub fn runner(choice: EngineChoice, program: &Program) -> Fallible<Option<Arc<dyn Runner>>> {
    match choice {
        EngineChoice::Interp => Ok(None),
        EngineChoice::Jit => native(program, 0).map(Some),
        EngineChoice::Auto => native(program, INTERPRETED_FIRST).map(Some).or(Ok(None)),
    }
}

/// Shorter runs are over before native code is made.
const INTERPRETED_FIRST: u64 = 1 << 20;

/// Code without a loop that makes fewer steps is left to the interpreter.
#[cfg(feature = "jit")]
const SHORTEST_CODE: u32 = 32;

#[cfg(feature = "jit")]
fn native(program: &Program, interpreted_first: u64) -> Fallible<Arc<dyn Runner>> {
    use crate::failure::Failure;
    use reviver_compile::driver::Driver;
    use reviver_jit::Jit;

    let jit = Jit::new().map_err(|error| {
        Failure::usage(error).help("`--engine interp` runs every program, and `auto` takes what there is")
    })?;
    Ok(Arc::new(Driver::new(program, jit).leaving(SHORTEST_CODE).interpreting_first(interpreted_first)))
}

#[cfg(not(feature = "jit"))]
fn native(_: &Program, _: u64) -> Fallible<Arc<dyn Runner>> {
    use crate::failure::Failure;

    Err(Failure::usage("this `reviver` was built without native code")
        .help("build it with the feature `jit`; `--engine interp` runs every program"))
}
