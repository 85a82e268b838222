//! What an engine that compiles has to have: code of forms, and a way to run it. Knows no engine and no machine.

use std::fmt::Debug;

use reviver_vm::differentiate::group::{InGroup, SeenInGroup};
use reviver_vm::watch::Watcher;

use crate::form::SsaForm;
use crate::group::form::GroupForm;
use crate::run::{CodeOutcome, Job};

/// A version, as an engine runs it.
pub trait Code: Debug + Send + Sync {
    /// Runs it.
    fn run(&self, job: Job) -> CodeOutcome;
}

/// What a group is asked to do.
#[derive(Debug)]
pub struct GroupJob<'c, 'w> {
    pub ints: &'c mut [InGroup<i64>],
    pub reals: &'c mut [InGroup<u64>],
    /// Of each real as many as the form has rows.
    pub adjoints: &'c mut [InGroup<u64>],
    /// How many steps may be made: at least [`SsaForm::first_steps`].
    pub left: u64,
    /// Who watches the jumps, if the version is watched.
    pub watcher: Option<&'c mut Watcher<'w>>,
    /// What was seen so far of what is freed, as many errors as the form has rows.
    pub seen: &'c mut SeenInGroup,
}

/// What has become of a group. Unless it has arrived its cells hold anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOutcome {
    /// It has arrived, so many steps later.
    Arrived(u64),
    /// So many lanes, the first ones, take another way than the next one.
    Parted(usize),
    /// Something can't be made in some lane, or perhaps not.
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
