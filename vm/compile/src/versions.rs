//! Code cache of a tiered runtime. Specializations are compiled when first needed, on the run's thread or on a
//! compiler thread, as long as executed steps pay for the work. This module knows no machine.

use std::collections::HashMap;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use reviver_vm::Program;
use reviver_vm::workers::apart;

use crate::backend::Backend;
use crate::build::build_within;
use crate::compiled::{Compiled, MOST_WORK};
use crate::form::{SsaBlock, SsaEnd, Version};
use crate::passes::{FormPass, PASSES, improved};

/// Time of compilation of code that a run needs. It doesn't affect the results of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeTiming {
    /// The run's thread compiles the code.
    AtOnce,
    /// A compiler thread compiles the code while the run waits, unless its machine is asked to stop.
    Awaited,
    /// A compiler thread compiles the code while the interpreter continues.
    Meanwhile,
}

/// Availability of compiled code for a specialization.
#[derive(Clone, Debug)]
pub(crate) enum VersionCode {
    Ready(Arc<Compiled>),
    /// There is no code, and there will be none.
    Never,
    /// There is no code yet: a thread is compiling, or more steps must be executed first.
    NotYet,
}

/// Number of operations that are compiled regardless of the number of steps.
const FREE_OPERATIONS: u64 = 1 << 17;
/// Number of executed steps that pay for compiling one more operation. Interpreting a step takes a few nanoseconds,
/// compiling an operation some microseconds.
const STEPS_PER_OPERATION: u64 = 512;
/// Upper bound on the specializations of a program.
const MOST_VERSIONS: usize = 1 << 12;
/// Interval at which a waiting run checks for a stop request.
const LOOK: Duration = Duration::from_millis(5);
/// Stack size of the compiler thread, in bytes.
const STACK: usize = 16 << 20;

/// Parameters of the compilation of a specialization.
#[derive(Clone, Copy, Debug)]
struct Recipe {
    passes: &'static [FormPass],
    /// Least number of steps for which loop-free code is compiled.
    least_steps: u32,
}

/// Code cache of one program.
#[derive(Debug)]
pub(crate) struct Versions<B> {
    common: Arc<Common<B>>,
    recipe: Recipe,
    timing: CodeTiming,
}

/// State shared by running threads and the compiler thread.
#[derive(Debug)]
struct Common<B> {
    program: Program,
    backend: B,
    known: RwLock<HashMap<Version, Option<Arc<Compiled>>>>,
    /// Counter that increases when a specialization gets code or is given up.
    changes: AtomicU64,
    /// Number of operations that were compiled.
    operations: AtomicU64,
    is_compiling: Mutex<bool>,
    /// Notified when `is_compiling` becomes false.
    has_compiled: Condvar,
}

impl<B: Backend> Versions<B> {
    pub fn new(program: &Program, backend: B) -> Versions<B> {
        let common = Common {
            program: program.clone(),
            backend,
            known: RwLock::default(),
            changes: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            is_compiling: Mutex::default(),
            has_compiled: Condvar::new(),
        };
        let recipe = Recipe { passes: &PASSES, least_steps: 1 };
        Versions { common: Arc::new(common), recipe, timing: CodeTiming::AtOnce }
    }

    /// Replaces the optimization passes; used in tests.
    pub fn improve(&mut self, passes: &'static [FormPass]) {
        self.recipe.passes = passes;
    }

    /// Sets the least number of steps for which loop-free code is compiled.
    pub fn leave(&mut self, least_steps: u32) {
        self.recipe.least_steps = least_steps.max(1);
    }

    pub fn compile_at(&mut self, timing: CodeTiming) {
        self.timing = timing;
    }

    pub fn program(&self) -> &Program {
        &self.common.program
    }

    /// Returns the code of a specialization, after compiling it if `steps` pay for it. `steps` is the total of all
    /// runs of the program so far.
    pub fn code(&self, version: &Version, steps: u64, is_asked_to_stop: impl Fn() -> bool) -> VersionCode {
        loop {
            match self.common.known().get(version) {
                Some(Some(code)) => return VersionCode::Ready(Arc::clone(code)),
                Some(None) => return VersionCode::Never,
                None => {}
            }
            let paid = FREE_OPERATIONS.saturating_add(steps / STEPS_PER_OPERATION);
            if self.common.operations.load(Ordering::Relaxed) > paid {
                return VersionCode::NotYet;
            }
            if self.common.known().len() >= MOST_VERSIONS {
                return VersionCode::Never;
            }
            match self.timing {
                CodeTiming::AtOnce => self.common.compile(version, self.recipe),
                CodeTiming::Awaited => {
                    self.begin(version);
                    if !self.common.await_code(&is_asked_to_stop) {
                        return VersionCode::NotYet;
                    }
                }
                CodeTiming::Meanwhile if self.begin(version) => return VersionCode::NotYet,
                CodeTiming::Meanwhile => {}
            }
        }
    }

    /// Lets the compiler thread compile a specialization, unless it is busy. If no thread can be started, compiles it
    /// on this thread and returns false.
    fn begin(&self, version: &Version) -> bool {
        if std::mem::replace(&mut *self.common.is_compiling(), true) {
            return true;
        }
        let (common, recipe, own) = (Arc::clone(&self.common), self.recipe, version.clone());
        apart("compiler", Some(STACK), move || common.compile_alone(&own, recipe))
    }

    /// Returns a counter that changes whenever the result of [`Versions::entries`] may change.
    pub fn changes(&self) -> u64 {
        self.common.changes.load(Ordering::Relaxed)
    }

    /// Collects from the specializations with code that isn't slow.
    pub fn entries<T>(&self, of: impl Fn(&Version) -> Option<T>) -> Vec<T> {
        let known = self.common.known();
        let with_code = known.iter().filter(|(_, code)| code.as_ref().is_some_and(|code| !code.is_slow()));
        with_code.filter_map(|(version, _)| of(version)).collect()
    }

    /// Counts a change, after the code of a specialization was given up.
    pub fn changed(&self) {
        self.common.changes.fetch_add(1, Ordering::Relaxed);
    }
}

impl<B> Common<B> {
    fn known(&self) -> std::sync::RwLockReadGuard<'_, HashMap<Version, Option<Arc<Compiled>>>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_compiling(&self) -> MutexGuard<'_, bool> {
        self.is_compiling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no thread compiles. Returns false if the waiting machine is asked to stop before that.
    fn await_code(&self, is_asked_to_stop: impl Fn() -> bool) -> bool {
        let mut is_compiling = self.is_compiling();
        while *is_compiling {
            if is_asked_to_stop() {
                return false;
            }
            let waited = self.has_compiled.wait_timeout(is_compiling, LOOK);
            is_compiling = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl<B: Backend> Common<B> {
    /// Compiles a specialization on the compiler thread, and notifies waiting threads.
    fn compile_alone(&self, version: &Version, recipe: Recipe) {
        // The thread prints a panic. The specialization is then interpreted.
        if catch_unwind(AssertUnwindSafe(|| self.compile(version, recipe))).is_err() {
            self.insert(version, None);
        }
        *self.is_compiling() = false;
        self.has_compiled.notify_all();
    }

    fn compile(&self, version: &Version, recipe: Recipe) {
        let code = self.compiled(version, recipe).map(Arc::new);
        self.insert(version, code);
    }

    fn insert(&self, version: &Version, code: Option<Arc<Compiled>>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(version.clone(), code);
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Compiles a specialization. Returns `None` if it has no steps, too few of them, or is too large.
    fn compiled(&self, version: &Version, Recipe { passes, least_steps }: Recipe) -> Option<Compiled> {
        let pay = |operations: usize| self.operations.fetch_add(operations as u64, Ordering::Relaxed);
        let form = build_within(self.program.module(), self.program.flow(), version.clone(), MOST_WORK);
        let Ok(form) = form else {
            pay(MOST_WORK);
            return None;
        };
        pay(form.length());
        let is_loop = |block: &SsaBlock| matches!(block.end, SsaEnd::Pause { .. });
        let is_long = form.first_steps >= least_steps || form.blocks.iter().any(is_loop);
        // Code without a step would make no progress.
        if form.first_steps == 0 || !is_long {
            return None;
        }
        Compiled::of(improved(form, passes), &self.backend)
    }
}
