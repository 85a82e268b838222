//! Code cache of a tiered runtime. A specialization is compiled when it is first needed, on the run's thread or on a
//! compiler thread. The number of executed steps bounds the amount of compilation. This module is independent of
//! machines.

use std::collections::HashMap;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use reviver_vm::Program;
use reviver_vm::workers::detached;

use crate::backend::Backend;
use crate::build::build_within;
use crate::compiled::{Compiled, MOST_WORK};
use crate::function::{Specialization, SsaBlock, SsaEnd};
use crate::passes::{PASSES, Pass, optimized};

/// Choice of the thread that compiles code for a run, and of whether the run waits for this thread. The run's results
/// don't depend on this choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileTiming {
    /// The run's thread compiles the code.
    AtOnce,
    /// A compiler thread compiles the code. The run waits for the code, unless the run's machine is asked to stop.
    Awaited,
    /// A compiler thread compiles the code, while the interpreter continues the run.
    Meanwhile,
}

/// Availability of compiled code for a specialization.
#[derive(Clone, Debug)]
pub(crate) enum CodeStatus {
    Ready(Arc<Compiled>),
    /// There is no code, and there will be none.
    Never,
    /// There is no code yet: a thread is compiling it, or more steps must be executed before it is compiled.
    NotYet,
}

/// Number of operations that are compiled regardless of the number of steps.
const FREE_OPERATIONS: u64 = 1 << 17;
/// Number of executed steps after which one more operation may be compiled. Interpreting a step takes a few
/// nanoseconds; compiling an operation takes some microseconds.
const STEPS_PER_OPERATION: u64 = 512;
/// Upper bound on the specializations of a program.
const MOST_SPECIALIZATIONS: usize = 1 << 12;
/// Interval at which a waiting run checks for a stop request.
const LOOK: Duration = Duration::from_millis(5);
/// Stack size of the compiler thread, in bytes.
const STACK: usize = 16 << 20;

/// Parameters of the compilation of a specialization.
#[derive(Clone, Copy, Debug)]
struct CompileParameters {
    passes: &'static [Pass],
    /// Least number of steps for which loop-free code is compiled.
    least_steps: u32,
}

/// Code cache of one program.
#[derive(Debug)]
pub(crate) struct CodeCache<B> {
    common: Arc<Common<B>>,
    parameters: CompileParameters,
    timing: CompileTiming,
}

/// State shared by running threads and the compiler thread.
#[derive(Debug)]
struct Common<B> {
    program: Program,
    backend: B,
    known: RwLock<HashMap<Specialization, Option<Arc<Compiled>>>>,
    /// Counter that increases when a specialization gets code or is abandoned.
    changes: AtomicU64,
    /// Number of operations that were compiled.
    operations: AtomicU64,
    is_compiling: Mutex<bool>,
    /// Notified when `is_compiling` becomes false.
    has_compiled: Condvar,
}

impl<B: Backend> CodeCache<B> {
    pub fn new(program: &Program, backend: B) -> CodeCache<B> {
        let common = Common {
            program: program.clone(),
            backend,
            known: RwLock::default(),
            changes: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            is_compiling: Mutex::default(),
            has_compiled: Condvar::new(),
        };
        let parameters = CompileParameters { passes: &PASSES, least_steps: 1 };
        CodeCache { common: Arc::new(common), parameters, timing: CompileTiming::AtOnce }
    }

    /// Replaces the optimization passes; used in tests.
    pub fn improve(&mut self, passes: &'static [Pass]) {
        self.parameters.passes = passes;
    }

    /// Sets the least number of steps for which loop-free code is compiled.
    pub fn leave(&mut self, least_steps: u32) {
        self.parameters.least_steps = least_steps.max(1);
    }

    pub fn compile_at(&mut self, timing: CompileTiming) {
        self.timing = timing;
    }

    /// Returns true if runs never wait for code.
    pub fn never_waits(&self) -> bool {
        self.timing == CompileTiming::Meanwhile
    }

    /// Returns the engine that compiles.
    pub fn backend(&self) -> &B {
        &self.common.backend
    }

    pub fn program(&self) -> &Program {
        &self.common.program
    }

    /// Returns the status of a specialization's code. If there is no code yet, and the number of executed steps allows
    /// the compilation, compiles the specialization. `steps` is the number of steps that all runs of the program have
    /// executed so far.
    pub fn code(
        &self,
        specialization: &Specialization,
        steps: u64,
        is_asked_to_stop: impl Fn() -> bool,
    ) -> CodeStatus {
        loop {
            match self.common.known().get(specialization) {
                Some(Some(code)) => return CodeStatus::Ready(Arc::clone(code)),
                Some(None) => return CodeStatus::Never,
                None => {}
            }
            let paid = FREE_OPERATIONS.saturating_add(steps / STEPS_PER_OPERATION);
            if self.common.operations.load(Ordering::Relaxed) > paid {
                return CodeStatus::NotYet;
            }
            if self.common.known().len() >= MOST_SPECIALIZATIONS {
                return CodeStatus::Never;
            }
            match self.timing {
                CompileTiming::AtOnce => self.common.compile(specialization, self.parameters),
                CompileTiming::Awaited => {
                    self.begin(specialization);
                    if !self.common.await_code(&is_asked_to_stop) {
                        return CodeStatus::NotYet;
                    }
                }
                CompileTiming::Meanwhile if self.begin(specialization) => return CodeStatus::NotYet,
                CompileTiming::Meanwhile => {}
            }
        }
    }

    /// Lets the compiler thread compile a specialization, unless the compiler thread is busy. If no compiler thread can
    /// be started, compiles the specialization on the calling thread and returns false.
    fn begin(&self, specialization: &Specialization) -> bool {
        if std::mem::replace(&mut *self.common.is_compiling(), true) {
            return true;
        }
        let (common, parameters, own) = (Arc::clone(&self.common), self.parameters, specialization.clone());
        detached("compiler", Some(STACK), move || common.compile_alone(&own, parameters))
    }

    /// Returns a counter that increases whenever the result of [`CodeCache::entries`] may change.
    pub fn changes(&self) -> u64 {
        self.common.changes.load(Ordering::Relaxed)
    }

    /// Applies `of` to each compiled specialization whose code isn't slow, and collects the results other than `None`.
    pub fn entries<T>(&self, of: impl Fn(&Specialization) -> Option<T>) -> Vec<T> {
        let known = self.common.known();
        let with_code = known.iter().filter(|(_, code)| code.as_ref().is_some_and(|code| !code.is_slow()));
        with_code.filter_map(|(specialization, _)| of(specialization)).collect()
    }

    /// Increments the counter that [`CodeCache::changes`] returns. Called when the code of a specialization is
    /// abandoned.
    pub fn changed(&self) {
        self.common.changes.fetch_add(1, Ordering::Relaxed);
    }
}

impl<B> Common<B> {
    fn known(&self) -> std::sync::RwLockReadGuard<'_, HashMap<Specialization, Option<Arc<Compiled>>>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_compiling(&self) -> MutexGuard<'_, bool> {
        self.is_compiling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no thread compiles. Returns false if the waiting run's machine is asked to stop first.
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
    fn compile_alone(&self, specialization: &Specialization, parameters: CompileParameters) {
        // If compilation panics, the panic's message is printed, and the specialization is interpreted from then on.
        if catch_unwind(AssertUnwindSafe(|| self.compile(specialization, parameters))).is_err() {
            self.insert(specialization, None);
        }
        *self.is_compiling() = false;
        self.has_compiled.notify_all();
    }

    fn compile(&self, specialization: &Specialization, parameters: CompileParameters) {
        let code = self.compiled(specialization, parameters).map(Arc::new);
        self.insert(specialization, code);
    }

    fn insert(&self, specialization: &Specialization, code: Option<Arc<Compiled>>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(specialization.clone(), code);
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Compiles a specialization. Returns `None` if its code is too short or too large, or if the backend can't compile
    /// it.
    fn compiled(
        &self,
        specialization: &Specialization,
        CompileParameters { passes, least_steps }: CompileParameters,
    ) -> Option<Compiled> {
        let pay = |operations: usize| self.operations.fetch_add(operations as u64, Ordering::Relaxed);
        let function =
            build_within(self.program.module(), self.program.flow(), specialization.clone(), MOST_WORK);
        let Ok(function) = function else {
            pay(MOST_WORK);
            return None;
        };
        pay(function.length());
        let is_loop = |block: &SsaBlock| matches!(block.end, SsaEnd::Safepoint { .. });
        let is_long = function.first_steps >= least_steps || function.blocks.iter().any(is_loop);
        // Code without a step would make no progress.
        if function.first_steps == 0 || !is_long {
            return None;
        }
        Compiled::of(optimized(function, passes), &self.backend)
    }
}
