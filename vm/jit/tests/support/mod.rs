//! The backend that all tests of this crate compare native code with.

use reviver_compile::backend::{Backend, Code};
use reviver_compile::check::check;
use reviver_compile::evaluate::Evaluator;
use reviver_compile::function::SsaFunction;

/// Backend that checks that functions are well-formed, and evaluates them.
#[derive(Debug)]
pub struct Checked;

impl Backend for Checked {
    fn compile(&self, function: SsaFunction) -> Option<Box<dyn Code>> {
        check(&function).unwrap_or_else(|fault| panic!("{fault}\n{function}"));
        Evaluator.compile(function)
    }
}
