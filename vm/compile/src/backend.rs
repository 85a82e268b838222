//! What an engine that compiles has to have: code of forms, and a way to run it. Knows no engine and no machine.

use std::fmt::Debug;

use reviver_vm::differentiate::group::{GroupEvidence, InGroup};

use crate::form::SsaForm;
use crate::group::form::GroupForm;
use crate::run::{CodeOutcome, Job};

/// A version, as an engine runs it.
pub trait Code: Debug + Send + Sync {
    /// Runs it.
    fn run(&self, job: Job) -> CodeOutcome;
}

/// A gradient call of a group.
#[derive(Debug)]
pub struct GroupJob<'c> {
    pub ints: &'c mut [InGroup<i64>],
    pub reals: &'c mut [InGroup<u64>],
    pub adjoints: &'c mut [InGroup<u64>],
    /// The cells of the starts.
    pub start_ints: &'c [InGroup<i64>],
    pub start_reals: &'c [InGroup<u64>],
    pub results: &'c mut [InGroup<u64>],
    /// Steps that the primal sweep may make: at least [`SsaForm::first_steps`].
    pub left: u64,
    /// Receives the evidence for verification.
    pub evidence: &'c mut GroupEvidence,
}

/// How a group's call ends. Unless it has arrived its cells hold anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOutcome {
    /// At the end of the function. The reverse sweep was the primal sweep's way if it made as many steps and took the same branches, as far as
    /// these are watched.
    Arrived { is_same_way: bool },
    /// So many lanes, the first ones, take another branch than the next one.
    Parted(usize),
    /// A check fails in some lane, or may fail.
    Failed,
}

/// A form, as an engine has a group go through it.
pub trait GroupCode: Debug + Send + Sync {
    /// Runs it.
    fn run(&self, job: GroupJob) -> GroupOutcome;
}

/// What makes code of forms.
pub trait Backend: Debug + Send + Sync + 'static {
    /// The code of a form, unless that is something it can't be made of.
    fn compile(&self, form: SsaForm) -> Option<Box<dyn Code>>;

    /// Code by which a group goes through a form, where the engine has such.
    fn compile_group(&self, form: &GroupForm) -> Option<Box<dyn GroupCode>> {
        let _ = form;
        None
    }
}
