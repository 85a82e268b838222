//! Which engine makes the steps of a program, and where native code is to be had. Knows no program by name and no command line.

use std::fmt;
use std::sync::Arc;

use reviver_compile::CodeTiming;
use reviver_compile::driver::Driver;
use reviver_vm::{CheckLevel, Program, Runner};
use thiserror::Error;

/// Who makes the steps. What comes out is the same, bit for bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The interpreter.
    Interp,
    /// Native code; an error where there is none for this machine.
    Jit,
    /// Native code where there is some, else the interpreter.
    #[default]
    Auto,
}

impl EngineChoice {
    pub const ALL: [EngineChoice; 3] = [EngineChoice::Interp, EngineChoice::Jit, EngineChoice::Auto];

    /// `interp`, `jit`, `auto`.
    pub fn name(self) -> &'static str {
        match self {
            EngineChoice::Interp => "interp",
            EngineChoice::Jit => "jit",
            EngineChoice::Auto => "auto",
        }
    }

    /// The inverse of [`EngineChoice::name`].
    pub fn from_name(name: &str) -> Option<EngineChoice> {
        EngineChoice::ALL.into_iter().find(|choice| choice.name() == name)
    }
}

impl fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How a program is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileOptions {
    pub engine: EngineChoice,
    /// How much native code checks.
    pub level: CheckLevel,
}

/// Everything is checked.
impl From<EngineChoice> for CompileOptions {
    fn from(engine: EngineChoice) -> CompileOptions {
        CompileOptions { engine, level: CheckLevel::Checked }
    }
}

/// Why there is no native code.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoEngine {
    #[error("{0}")]
    Machine(String),
    #[error("this build of Reviver has no native code: the feature `jit` adds it")]
    Build,
    #[error("the interpreter always checks everything: only native code can leave checks out")]
    InterpreterChecks,
}

/// Code without a loop that makes fewer steps is left to the interpreter where a machine would have to be copied for it.
const SHORTEST_CODE: u32 = 32;
/// Single runs that are shorter are over before native code is made for them.
const INTERPRETED_FIRST: u64 = 1 << 20;

/// What makes native code.
#[cfg(feature = "jit")]
pub(super) type NativeBackend = reviver_jit::Jit;
/// Nothing does; what stands here is never made.
#[cfg(not(feature = "jit"))]
pub(super) type NativeBackend = reviver_compile::evaluate::Evaluator;

/// Native code for this machine.
#[cfg(feature = "jit")]
fn native() -> Result<NativeBackend, NoEngine> {
    reviver_jit::Jit::new().map_err(|error| NoEngine::Machine(error.to_string()))
}

#[cfg(not(feature = "jit"))]
fn native() -> Result<NativeBackend, NoEngine> {
    Err(NoEngine::Build)
}

/// Whether there is native code for this machine.
pub(super) fn native_code() -> Result<(), NoEngine> {
    native().map(|_| ())
}

/// What makes the code that is asked for; none where the interpreter makes the steps.
pub(super) fn backend(options: CompileOptions) -> Result<Option<NativeBackend>, NoEngine> {
    match options.engine {
        EngineChoice::Interp if !options.level.is_checked() => Err(NoEngine::InterpreterChecks),
        EngineChoice::Interp => Ok(None),
        EngineChoice::Jit => native().map(Some),
        EngineChoice::Auto => Ok(native().ok()),
    }
}

/// Who makes the steps of machines of a program, from anywhere to anywhere, instead of their own interpreter; none where
/// nobody does. With [`EngineChoice::Auto`] nothing is compiled before a million steps are made, and the interpreter makes steps
/// while another thread compiles; with [`EngineChoice::Jit`] a run waits for its code. The results are the same.
///
/// # Errors
/// There is no native code, and it was asked for; or the interpreter is to leave checks out.
pub fn runner(options: CompileOptions, program: &Program) -> Result<Option<Arc<dyn Runner>>, NoEngine> {
    let Some(backend) = backend(options)? else { return Ok(None) };
    let driver = Driver::new(program, backend).leaving(SHORTEST_CODE).checking(options.level);
    Ok(Some(match options.engine {
        EngineChoice::Auto => {
            Arc::new(driver.interpreting_first(INTERPRETED_FIRST).compiling(CodeTiming::Meanwhile))
        }
        EngineChoice::Interp | EngineChoice::Jit => Arc::new(driver.compiling(CodeTiming::Awaited)),
    }))
}
