//! Interface of an engine that compiles: compiled code, and how it is run. This module knows neither an engine nor a
//! machine.

use std::fmt::Debug;

use reviver_vm::differentiate::group::{InGroup, SeenInGroup};
use reviver_vm::watch::Watcher;

use crate::form::SsaForm;
use crate::group::form::GroupForm;
use crate::run::{CodeOutcome, Job};

/// Compiled code of one specialization.
pub trait Code: Debug + Send + Sync {
    /// Runs the code once.
    fn run(&self, job: Job) -> CodeOutcome;
}

/// Request to run a SIMD group.
#[derive(Debug)]
pub struct GroupJob<'c, 'w> {
    pub ints: &'c mut [InGroup<i64>],
    pub reals: &'c mut [InGroup<u64>],
    /// Adjoints of each real, as many as the function has rows (losses).
    pub adjoints: &'c mut [InGroup<u64>],
    /// Step budget: at least [`SsaForm::first_steps`].
    pub left: u64,
    /// Watcher of jumps, if the specialization reports to one.
    pub watcher: Option<&'c mut Watcher<'w>>,
    /// Observations of freed cells so far, with as many errors as the function has rows.
    pub seen: &'c mut SeenInGroup,
}

/// Outcome of a run of a SIMD group. The contents of its cells are defined only after [`GroupOutcome::Arrived`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOutcome {
    /// All lanes arrived; the number of steps they executed.
    Arrived(u64),
    /// Lanes diverged: the number of leading lanes that take another branch than the next lane.
    Parted(usize),
    /// A check failed in some lane, perhaps without need.
    Failed,
}

/// Compiled code that runs a SIMD group.
pub trait GroupCode: Debug + Send + Sync {
    /// Runs the code once, for all lanes.
    fn run(&self, job: GroupJob) -> GroupOutcome;
}

/// Engine that compiles SSA functions.
pub trait Backend: Debug + Send + Sync + 'static {
    /// Compiles a function; returns `None` if the engine can't compile it.
    fn compile(&self, form: SsaForm) -> Option<Box<dyn Code>>;

    /// Compiles a function for SIMD groups; returns `None` if the engine has no such code.
    fn compile_group(&self, form: &GroupForm) -> Option<Box<dyn GroupCode>> {
        let _ = form;
        None
    }
}
