//! Interfaces that a compiling engine implements: the engine, its compiled code, and the requests that run the code.
//! This module depends on no particular engine and on no machine.

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

/// Request of a gradient call for a SIMD group.
#[derive(Debug)]
pub struct GroupJob<'c> {
    /// Integer cells of the working memory, which the code reads and writes.
    pub ints: &'c mut [InGroup<i64>],
    /// Real cells of the working memory, as bits of binary64.
    pub reals: &'c mut [InGroup<u64>],
    /// Adjoints of the working memory, row by row, as bits of binary64. The caller has already stored the seeds in
    /// them.
    pub adjoints: &'c mut [InGroup<u64>],
    /// Integer cells of the lanes' start states.
    pub start_ints: &'c [InGroup<i64>],
    /// Real cells of the lanes' start states, as bits of binary64.
    pub start_reals: &'c [InGroup<u64>],
    /// Receives the values at the turning point, in the order of [`crate::call::CallTask::seeded`].
    pub results: &'c mut [InGroup<u64>],
    /// Step budget of the primal sweep: at least [`SsaFunction::first_steps`].
    pub left: u64,
    /// Receives the evidence for verification.
    pub evidence: &'c mut GroupEvidence,
}

/// Outcome of a SIMD group's call. The cells of the group are defined only after [`GroupOutcome::Finished`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOutcome {
    /// All lanes reached the end of the function.
    Finished {
        /// False if branches are watched and the reverse sweep took other branches than the primal sweep, or another
        /// number of steps.
        has_same_path: bool,
    },
    /// Lanes diverged. Holds the number of lanes before the first one that branches differently from lane 0.
    Diverged(usize),
    /// A check failed in some lane. The interpreter has to repeat all lanes, and may find no fault in them.
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
