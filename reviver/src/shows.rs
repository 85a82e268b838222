//! Values that `show` passes to the caller of a workspace.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use reviver_isa::update::Update;
use reviver_vm::values::Value;
use reviver_vm::{NotShown, Program, ShowSink, ShownValue};

use super::workspace::Workspace;

/// Value passed to the caller by the instruction `show`.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Name of the cell in the program's text: `x`, `A[i]`, the adjoint `x'`.
    pub name: String,
    /// Number in the cell.
    pub value: ShownNumber,
}

/// Number in a shown cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShownNumber {
    /// An integer of the program's word.
    Int(i64),
    /// The nearest `f64` of a real.
    Real(f64),
}

/// Sink that passes shown values to the caller's function.
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
    /// Passes the values of `show` in later calls to a function. A run passes them in execution order. A derivative
    /// passes the values of the forward sweep, then the values of custom derivative rules in the reverse sweep. Calls
    /// of programs with `show` are slower: native code stops at each `show`, and each gradient allocates its memory
    /// anew.
    pub fn on_show(&mut self, receive: impl FnMut(Shown) + Send + 'static) {
        let shows = self.executable.program().module().code.iter().any(|i| i.update == Update::Show);
        self.shows = shows.then(|| Arc::new(CallerSink(Mutex::new(Box::new(receive)))) as Arc<dyn ShowSink>);
    }
}
