//! Settings for running programs: the engine and the limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reviver_assembler::limits::AssemblyLimits;
use reviver_vm::differentiate::{Gradient, Subject, Variable};
use reviver_vm::{Program, Runner};

use crate::assessment::Mismatch;

/// Function that prepares an engine for a program. The function returns `None` for the interpreter, and an error if the
/// engine isn't available.
pub type PrepareRunner<'a> = dyn Fn(&Arc<Program>) -> Result<Option<Arc<dyn Runner>>, String> + 'a;

/// Function that checks a gradient in addition to the usual checks. The function returns a mismatch if the gradient
/// fails.
pub type CheckGradient<'a> = dyn Fn(&Subject, &Variable, &Gradient) -> Option<Mismatch> + 'a;

/// Limits on the resources of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestLimits {
    /// The maximum number of steps in one direction.
    pub max_steps: u64,
    /// The maximum size of the state and the history together, in bytes.
    pub max_bytes: u64,
    /// The limits of assembling a text.
    pub assembly: AssemblyLimits,
}

impl Default for TestLimits {
    fn default() -> TestLimits {
        TestLimits { max_steps: 200_000_000, max_bytes: 1 << 30, assembly: AssemblyLimits::default() }
    }
}

/// The engine, the limits, and an additional check of gradients.
#[derive(Clone, Copy)]
pub struct TestSettings<'a> {
    /// The function that prepares the engine of each program.
    pub prepare: &'a PrepareRunner<'a>,
    /// The additional check of each gradient that a `grad` line computes.
    pub gradients: &'a CheckGradient<'a>,
    /// The limits on the steps and the memory of each run.
    pub limits: TestLimits,
    /// Flag that stops runs when it is set. Lines that aren't finished when the flag is set get no verdict.
    pub interrupt: Option<&'a Arc<AtomicBool>>,
}

impl TestSettings<'_> {
    /// Returns true if the flag is set.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl TestSettings<'static> {
    /// Returns settings with the interpreter, the default limits and no additional check of gradients.
    pub fn interpreted() -> TestSettings<'static> {
        TestSettings {
            prepare: &|_| Ok(None),
            gradients: &|_, _, _| None,
            limits: TestLimits::default(),
            interrupt: None,
        }
    }
}
