//! Machines that native code moves. Knows no program by name, and no clock.

use std::sync::Arc;

use reviver_compile::driver::Driver;
use reviver_jit::Jit;
use reviver_vm::{CheckLevel, Machine};

/// The same machine, moved by native code that checks as much as a level asks for.
pub fn by_native_code(machine: &Machine, level: CheckLevel) -> Machine {
    let mut driven = machine.try_clone().expect("memory for a small program");
    let jit = Jit::new().expect("native code for this machine");
    driven.run_by(Arc::new(Driver::new(machine.program(), jit).leaving(32).checking(level)));
    driven
}
