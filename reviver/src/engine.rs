//! Choice of the execution engine, and availability of native code. This module depends on neither a particular program
//! nor a command line.

use std::fmt;
use std::sync::Arc;

use reviver_compile::CompileTiming;
use reviver_compile::tiered::TieredRuntime;
use reviver_vm::{CheckLevel, Program, Runner};
use thiserror::Error;

/// Execution engine. All engines give bit-identical results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The interpreter, without any native code.
    Interp,
    /// Native code; an error if there is none for this machine.
    Jit,
    /// Native code if available, otherwise the interpreter.
    #[default]
    Auto,
}

impl EngineChoice {
    /// All engines, in the order of the command's help.
    pub const ALL: [EngineChoice; 3] = [EngineChoice::Interp, EngineChoice::Jit, EngineChoice::Auto];

    /// Returns the name: `interp`, `jit` or `auto`.
    pub fn name(self) -> &'static str {
        match self {
            EngineChoice::Interp => "interp",
            EngineChoice::Jit => "jit",
            EngineChoice::Auto => "auto",
        }
    }

    /// Returns the engine of a name; the inverse of [`EngineChoice::name`].
    pub fn from_name(name: &str) -> Option<EngineChoice> {
        EngineChoice::ALL.into_iter().find(|choice| choice.name() == name)
    }
}

impl fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Options for compiling a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileOptions {
    /// Engine that executes calls.
    pub engine: EngineChoice,
    /// Check level of native code.
    pub level: CheckLevel,
}

/// Selects an engine with all checks.
impl From<EngineChoice> for CompileOptions {
    fn from(engine: EngineChoice) -> CompileOptions {
        CompileOptions { engine, level: CheckLevel::Checked }
    }
}

/// Reason why native code isn't available.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum NoEngine {
    #[error("{0}")]
    Machine(String),
    #[error("this build of Reviver has no native code: build it with the feature `jit`")]
    Build,
    #[error("the interpreter always checks everything: only native code can skip checks")]
    InterpreterChecks,
}

/// If native code needs a copy of the machine, code without loops is compiled only if it has at least this number of
/// steps. For shorter code, compiling doesn't pay off.
const SHORTEST_CODE: u32 = 32;
/// Number of steps of a single run before native code is compiled. Shorter runs would end before compilation pays
/// off.
const INTERPRETED_FIRST: u64 = 1 << 20;

/// The backend that generates native code.
#[cfg(feature = "jit")]
pub(super) type NativeBackend = reviver_jit::Jit;
/// Placeholder for the missing backend; never constructed.
#[cfg(not(feature = "jit"))]
pub(super) type NativeBackend = reviver_compile::evaluate::Evaluator;

/// Creates the native backend for this machine.
#[cfg(feature = "jit")]
fn native() -> Result<NativeBackend, NoEngine> {
    reviver_jit::Jit::new().map_err(|error| NoEngine::Machine(error.to_string()))
}

#[cfg(not(feature = "jit"))]
fn native() -> Result<NativeBackend, NoEngine> {
    Err(NoEngine::Build)
}

/// Checks that native code is available for this machine.
pub(super) fn native_code() -> Result<(), NoEngine> {
    native().map(|_| ())
}

/// Returns the backend for the requested engine. Returns `None` for the interpreter.
pub(super) fn backend(options: CompileOptions) -> Result<Option<NativeBackend>, NoEngine> {
    match options.engine {
        EngineChoice::Interp if !options.level.is_checked() => Err(NoEngine::InterpreterChecks),
        EngineChoice::Interp => Ok(None),
        EngineChoice::Jit => native().map(Some),
        EngineChoice::Auto => Ok(native().ok()),
    }
}

/// Returns a runner, which executes steps of a program by native code, from any state to any other state. Returns
/// `None` if the interpreter is to execute the program. With [`EngineChoice::Auto`], a run is interpreted for about a
/// million steps. Another thread then compiles the program, while the interpreter continues. With
/// [`EngineChoice::Jit`], a run waits until its code is compiled. Results are identical.
///
/// # Errors
/// Native code was requested and isn't available, or checks are to be skipped in the interpreter.
pub fn runner(options: CompileOptions, program: &Program) -> Result<Option<Arc<dyn Runner>>, NoEngine> {
    let Some(backend) = backend(options)? else { return Ok(None) };
    let runtime =
        TieredRuntime::new(program, backend).with_least_steps(SHORTEST_CODE).with_check_level(options.level);
    Ok(Some(match options.engine {
        EngineChoice::Auto => {
            Arc::new(runtime.with_interpreted_steps(INTERPRETED_FIRST).with_timing(CompileTiming::Meanwhile))
        }
        EngineChoice::Interp | EngineChoice::Jit => Arc::new(runtime.with_timing(CompileTiming::Awaited)),
    }))
}
