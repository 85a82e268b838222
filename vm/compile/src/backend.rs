//! What an engine that compiles has to have: code of forms, and a way to run it. Knows no engine and no machine.

use std::fmt::Debug;

use crate::form::SsaForm;
use crate::run::{CodeOutcome, Job};

/// A version, as an engine runs it.
pub trait Code: Debug + Send + Sync {
    /// Runs it.
    fn run(&self, job: Job) -> CodeOutcome;
}

/// What makes code of forms.
pub trait Backend: Debug + Send + Sync {
    /// The code of a form, unless that is something it can't be made of.
    fn compile(&self, form: SsaForm) -> Option<Box<dyn Code>>;
}
