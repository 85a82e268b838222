//! Interfaces that a compiling engine implements: the engine itself, its compiled code, and the requests that run this
//! code. This module is independent of individual engines and of machines.

use std::fmt::Debug;

use reviver_vm::differentiate::group::{GroupEvidence, InGroup};

use crate::function::SsaFunction;
use crate::group::divergence::GroupFunction;
use crate::run::{CodeOutcome, Job};

/// Compiled code of one specialization.
pub trait Code: Debug + Send + Sync {
    /// Runs the code once.
    fn run(&self, job: Job) -> CodeOutcome;
}

/// Request to execute one gradient call for all lanes of a SIMD group.
#[derive(Debug)]
pub struct GroupJob<'c> {
    /// Integer cells of the working memory, which the code reads and writes.
    pub ints: &'c mut [InGroup<i64>],
    /// Real cells of the working memory, as bits of binary64.
    pub reals: &'c mut [InGroup<u64>],
    /// Adjoints of the working memory, row by row, as bits of binary64. Before the run, the caller stores the seeds in
    /// these cells.
    pub adjoints: &'c mut [InGroup<u64>],
    /// Integer cells of the lanes' start states.
    pub start_ints: &'c [InGroup<i64>],
    /// Real cells of the lanes' start states, as bits of binary64.
    pub start_reals: &'c [InGroup<u64>],
    /// Receives the values at the turning point, in the order of [`crate::call::CallTask::seeded`].
    pub results: &'c mut [InGroup<u64>],
    /// Step budget of the primal sweep. The caller must set it to at least [`SsaFunction::first_steps`].
    pub left: u64,
    /// Receives the evidence from which the caller verifies the reverse sweep.
    pub evidence: &'c mut GroupEvidence,
}

/// Outcome of a SIMD group's call. After any outcome except [`GroupOutcome::Finished`], the group's cells are
/// undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOutcome {
    /// All lanes reached the end of the function.
    Finished {
        /// False if branches are watched, and the reverse sweep took other branches or another number of steps than the
        /// primal sweep.
        has_same_path: bool,
    },
    /// Lanes diverged. Holds the index of the first lane that branched differently from lane 0.
    Diverged(usize),
    /// A check failed in some lane. The interpreter must repeat all lanes; these repeated runs may succeed.
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
    fn compile(&self, function: SsaFunction) -> Option<Box<dyn Code>>;

    /// Compiles a function for SIMD groups; returns `None` if the engine can't compile code for groups.
    fn compile_group(&self, function: &GroupFunction) -> Option<Box<dyn GroupCode>> {
        let _ = function;
        None
    }
}
