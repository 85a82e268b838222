//! How programs are run: by whom, and within which limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reviver_assembler::limits::AssemblyLimits;
use reviver_vm::differentiate::{Gradient, Subject, Variable};
use reviver_vm::{Program, Runner};

use crate::assessment::Mismatch;

/// Who makes the steps of a program in the interpreter's place, if anybody does; or why that can't be had.
pub type PrepareRunner<'a> = dyn Fn(&Arc<Program>) -> Result<Option<Arc<dyn Runner>>, String> + 'a;

/// What else is asked of the gradient of a variable, besides what a line says; what is missed of that, if anything.
pub type JudgeGradient<'a> = dyn Fn(&Subject, &Variable, &Gradient) -> Option<Mismatch> + 'a;

/// What a program may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestLimits {
    /// Steps in one direction.
    pub max_steps: u64,
    /// Bytes of its state and what is kept to go back, together.
    pub max_bytes: u64,
    /// Limits on what a text becomes when it is assembled.
    pub assembly: AssemblyLimits,
}

impl Default for TestLimits {
    fn default() -> TestLimits {
        TestLimits { max_steps: 200_000_000, max_bytes: 1 << 30, assembly: AssemblyLimits::default() }
    }
}

/// Who makes the steps, how many, and what every gradient must be.
#[derive(Clone, Copy)]
pub struct TestSettings<'a> {
    pub prepare: &'a PrepareRunner<'a>,
    pub gradients: &'a JudgeGradient<'a>,
    pub limits: TestLimits,
    /// A flag that stops runs once it is set; lines that aren't done then aren't judged.
    pub interrupt: Option<&'a Arc<AtomicBool>>,
}

impl TestSettings<'_> {
    /// True if the flag is set.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl TestSettings<'static> {
    /// The interpreter makes the steps, within the usual limits; nothing else is asked of gradients.
    pub fn interpreted() -> TestSettings<'static> {
        TestSettings {
            prepare: &|_| Ok(None),
            gradients: &|_, _, _| None,
            limits: TestLimits::default(),
            interrupt: None,
        }
    }
}
