//! Machines that native code executes. This module depends on neither particular programs nor clocks.

use std::sync::Arc;

use reviver_compile::tiered::TieredRuntime;
use reviver_jit::Jit;
use reviver_vm::{CheckLevel, Machine};

/// Returns a clone of the machine that runs by native code of a check level.
pub fn by_native_code(machine: &Machine, level: CheckLevel) -> Machine {
    let mut driven = machine.try_clone().expect("memory for a small program");
    let jit = Jit::new().expect("native code for this machine");
    driven.run_by(Arc::new(
        TieredRuntime::new(machine.program(), jit).with_least_steps(32).with_check_level(level),
    ));
    driven
}
