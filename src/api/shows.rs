//! The values that `show` shows in the calls of a workspace, for a caller that asks for them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use reviver_isa::update::Update;
use reviver_vm::values::Value;
use reviver_vm::{NotShown, Program, ShowSink, ShownValue};

use super::workspace::Workspace;

/// A value that `show` shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The cell, as the program's text names it: `x`, `A[i]`, the adjoint `x'`.
    pub name: String,
    pub value: ShownNumber,
}

/// The number that a shown cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShownNumber {
    Int(i64),
    /// The nearest `f64`.
    Real(f64),
}

/// The caller's function.
struct CallerSink(Mutex<Box<dyn FnMut(Shown) + Send>>);

impl fmt::Debug for CallerSink {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("CallerSink")
    }
}

impl ShowSink for CallerSink {
    fn show(&self, program: &Program, shown: ShownValue) -> Result<(), NotShown> {
        let value = match shown.value {
            Value::Int(value) => ShownNumber::Int(value),
            Value::Real(_) => ShownNumber::Real(program.approximate(shown.value)),
        };
        let mut receive = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        receive(Shown { name: shown.name(program), value });
        Ok(())
    }
}

impl Workspace {
    /// Passes what `show` shows in the following calls to a function: in a run in its order, in a derivative in the order of the forward
    /// sweep, and then what rules show in the reverse sweep. Such calls of a program with `show` are slower: native code stops at each `show`,
    /// and a gradient keeps no memory for the next call.
    pub fn on_show(&mut self, receive: impl FnMut(Shown) + Send + 'static) {
        let shows = self.executable.program().module().code.iter().any(|i| i.update == Update::Show);
        self.shows = shows.then(|| Arc::new(CallerSink(Mutex::new(Box::new(receive)))) as Arc<dyn ShowSink>);
    }
}
