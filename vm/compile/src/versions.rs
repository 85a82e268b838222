//! The versions that a driver runs: compiled when they are first needed, on the run's thread or on one of their own, as long as the
//! work of compiling is small beside the steps that were made. Knows no machine.

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

/// When a run gets code that isn't there yet. What the run comes to doesn't depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeTiming {
    /// The run's thread compiles it.
    AtOnce,
    /// Another thread compiles it, and the run waits for it, unless its machine is asked to stop.
    Awaited,
    /// Another thread compiles it, and the interpreter makes steps meanwhile.
    Meanwhile,
}

/// What there is of a version.
#[derive(Clone, Debug)]
pub(crate) enum VersionCode {
    Ready(Arc<Compiled>),
    /// There is no code, and there won't be.
    Never,
    /// There is no code so far: a thread is compiling, or more steps have to be made first.
    NotYet,
}

/// Operations that are compiled whatever the number of steps.
const FREE_OPERATIONS: u64 = 1 << 17;
/// Steps that pay for compiling one further operation: the interpreter takes a few nanoseconds for a step, and compiling some
/// microseconds for an operation.
const STEPS_PER_OPERATION: u64 = 512;
/// Upper bound on the versions of a program.
const MOST_VERSIONS: usize = 1 << 12;
/// Time between two looks whether a machine that waits is asked to stop.
const LOOK: Duration = Duration::from_millis(5);
/// Bytes of the stack on which code is compiled.
const STACK: usize = 16 << 20;

/// How versions are compiled.
#[derive(Clone, Copy, Debug)]
struct Recipe {
    passes: &'static [FormPass],
    /// Code without a loop that makes fewer steps isn't compiled.
    least_steps: u32,
}

/// The versions of one program.
#[derive(Debug)]
pub(crate) struct Versions<B> {
    common: Arc<Common<B>>,
    recipe: Recipe,
    timing: CodeTiming,
}

/// What the threads that run and the one that compiles have in common.
#[derive(Debug)]
struct Common<B> {
    program: Program,
    backend: B,
    known: RwLock<HashMap<Version, Option<Arc<Compiled>>>>,
    /// Increases with each version that gets code, or is given up.
    changes: AtomicU64,
    /// Operations that were compiled.
    operations: AtomicU64,
    is_compiling: Mutex<bool>,
    /// Notified where `is_compiling` becomes false.
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

    /// Forms go through these passes only.
    pub fn improve(&mut self, passes: &'static [FormPass]) {
        self.recipe.passes = passes;
    }

    /// Code without a loop that makes fewer steps isn't compiled.
    pub fn leave(&mut self, least_steps: u32) {
        self.recipe.least_steps = least_steps.max(1);
    }

    pub fn compile_at(&mut self, timing: CodeTiming) {
        self.timing = timing;
    }

    pub fn program(&self) -> &Program {
        &self.common.program
    }

    /// The code of a version, which is compiled if `steps` steps pay for it: all that the program's runs have made so far.
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

    /// Has a thread compile a version, unless one is compiling already. Without a thread the version is compiled here; only then
    /// the answer is false.
    fn begin(&self, version: &Version) -> bool {
        if std::mem::replace(&mut *self.common.is_compiling(), true) {
            return true;
        }
        let (common, recipe, own) = (Arc::clone(&self.common), self.recipe, version.clone());
        apart("compiler", Some(STACK), move || common.compile_alone(&own, recipe))
    }

    /// A number that changes with what [`Versions::entries`] gives.
    pub fn changes(&self) -> u64 {
        self.common.changes.load(Ordering::Relaxed)
    }

    /// The versions that have code which isn't given up.
    pub fn entries<T>(&self, of: impl Fn(&Version) -> Option<T>) -> Vec<T> {
        let known = self.common.known();
        let with_code = known.iter().filter(|(_, code)| code.as_ref().is_some_and(|code| !code.is_slow()));
        with_code.filter_map(|(version, _)| of(version)).collect()
    }

    /// Notes that the code of some version is given up.
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

    /// Waits until no thread is compiling. False if the machine that waits is asked to stop before that.
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
    /// Compiles a version where no other thread compiles, and says so when it has.
    fn compile_alone(&self, version: &Version, recipe: Recipe) {
        // A panic is printed by the thread; the version is the interpreter's then.
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

    /// The code of a version; none where it makes no step, too few of them, or is too large.
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
        // Code that makes no step leads nowhere.
        if form.first_steps == 0 || !is_long {
            return None;
        }
        Compiled::of(improved(form, passes), &self.backend)
    }
}
